import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { builtPeer } from '../peers.js';
import type { SignInServer } from '../sign-in-server.js';
import { freePort } from './etcd.js';
import { peerCommand, startProgram } from './peer.js';

/**
 * Ory Hydra on SQLite, and the application that it leaves login and consent to. Sign-ins at the same time
 * end in its "database is locked", so it is given one after the other.
 */
export const hydraServer: SignInServer = {
  name: 'hydra',
  configuration: '/.well-known/openid-configuration',
  async prepare(bench, folder, port) {
    const hydra = builtPeer(bench, 'hydra');
    const [open, admin] = [await freePort(), await freePort()];
    const app = `http://localhost:${port}`;
    const environment = {
      DSN: `sqlite://${join(folder, 'hydra.sqlite')}?_fk=true&mode=rwc&_journal_mode=WAL`,
      SECRETS_SYSTEM: 'a secret of the bench that is long enough',
      URLS_SELF_ISSUER: `http://localhost:${open}`,
      URLS_LOGIN: `${app}/login`,
      URLS_CONSENT: `${app}/consent`,
      SERVE_PUBLIC_HOST: '127.0.0.1',
      SERVE_PUBLIC_PORT: String(open),
      SERVE_ADMIN_HOST: '127.0.0.1',
      SERVE_ADMIN_PORT: String(admin),
      SQA_OPT_OUT: 'true',
    };
    writeFileSync(join(folder, 'hydra.json'), JSON.stringify({ hydra, open, admin, environment }));
    execFileSync(hydra, ['migrate', 'sql', 'up', '--read-from-env', '--yes'], {
      env: { ...process.env, ...environment },
      stdio: 'ignore',
    });
  },
  start: (bench, folder, address) =>
    startProgram(bench, address, peerCommand(bench, 'hydra'), {
      FOLDER: folder,
      PORT: String(address.port),
    }),
  load: 'hydra',
  journeys: ['asked', 'remembered'],
  inFlight: 1,
};
