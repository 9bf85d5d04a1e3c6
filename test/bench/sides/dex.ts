import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { client } from '../flow.js';
import { builtPeer } from '../peers.js';
import type { SignInServer } from '../sign-in-server.js';
import { startProgram } from './peer.js';

/** The bcrypt hash of "password" at the cost that is Dex's least, 10. */
const hash = '$2a$10$2b2cU8CPhOTaGrs1HRQuAueS7JTT5ZHsHSzYiFPm1leZck7Mc8T4W';
const users = 100;

const local = `enablePasswordDB: true
staticPasswords:
${Array.from(
  { length: users },
  (_, i) => `- { email: person-${i}@bench.test, hash: "${hash}", username: u${i}, userID: u${i} }`,
).join('\n')}
`;
const unhashed = `connectors:
- { type: mockPassword, id: mock, name: Mock, config: { username: person-0@bench.test, password: password } }
`;

const dex = (name: string, people: string, accounts: number): SignInServer => ({
  name,
  configuration: '/.well-known/openid-configuration',
  prepare(bench, folder, port) {
    builtPeer(bench, 'dex');
    writeFileSync(
      join(folder, 'dex.yaml'),
      `issuer: http://localhost:${port}
storage: { type: sqlite3, config: { file: ${join(folder, 'dex.db')} } }
web: { http: 127.0.0.1:${port} }
oauth2: { skipApprovalScreen: true }
staticClients:
- { id: ${client.name}, name: The bench, public: true, redirectURIs: ["${client.redirectURI}"] }
${people}`,
    );
  },
  start: (bench, folder, address) =>
    startProgram(bench, address, [builtPeer(bench, 'dex'), 'serve', join(folder, 'dex.yaml')]),
  load: 'dex',
  journeys: ['asked', 'remembered'],
  accounts,
});

/** Dex with its password database, on SQLite. */
export const dexServer = dex('dex', local, users);

/** The same with its connector for tests, which knows one person and compares the password as it is. */
export const dexUnhashed = dex('dex without hash', unhashed, 1);
