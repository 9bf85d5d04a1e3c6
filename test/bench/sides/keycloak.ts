import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { client } from '../flow.js';
import { builtPeer } from '../peers.js';
import type { SignInServer } from '../sign-in-server.js';
import { startProgram } from './peer.js';

const users = 100;

/** A realm with the bench's client and its users, whose passwords are hashed when it is imported. */
const realmOf = (passwordPolicy: string): object => ({
  realm: 'bench',
  enabled: true,
  sslRequired: 'none',
  passwordPolicy,
  clients: [
    {
      clientId: client.name,
      name: 'The bench',
      enabled: true,
      publicClient: true,
      consentRequired: true,
      standardFlowEnabled: true,
      redirectUris: [client.redirectURI],
    },
  ],
  users: Array.from({ length: users }, (_, i) => ({
    username: `person-${i}@bench.test`,
    email: `person-${i}@bench.test`,
    emailVerified: true,
    firstName: 'Some',
    lastName: 'Body',
    enabled: true,
    credentials: [{ type: 'password', value: 'password' }],
  })),
});

const databaseIn = (folder: string): string =>
  `jdbc:h2:file:${join(folder, 'keycloak')};NON_KEYWORDS=VALUE;DB_CLOSE_ON_EXIT=FALSE`;

const keycloak = (name: string, passwordPolicy: string): SignInServer => ({
  name,
  configuration: '/realms/bench/.well-known/openid-configuration',
  prepare(bench, folder) {
    const program = builtPeer(bench, 'keycloak');
    const realm = join(folder, 'realm.json');
    writeFileSync(realm, JSON.stringify(realmOf(passwordPolicy)));
    execFileSync(program, ['import', '--optimized', '--file', realm], {
      env: { ...process.env, KC_DB_URL: databaseIn(folder) },
      stdio: 'ignore',
    });
  },
  start: (bench, folder, address) =>
    startProgram(
      bench,
      address,
      [
        builtPeer(bench, 'keycloak'),
        'start',
        '--optimized',
        '--http-enabled=true',
        '--http-host=127.0.0.1',
        `--http-port=${address.port}`,
        `--hostname=http://localhost:${address.port}`,
      ],
      { KC_DB_URL: databaseIn(folder) },
    ),
  load: 'keycloak',
  journeys: ['asked', 'remembered'],
  accounts: users,
});

/** Keycloak with its own hash of passwords, on H2. */
export const keycloakServer = keycloak('keycloak', '');

/** The same with one round of its cheapest hash. */
export const keycloakUnhashed = keycloak(
  'keycloak without hash',
  'hashAlgorithm(pbkdf2-sha256) and hashIterations(1)',
);
