import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe } from '@jest/globals';
import { openEtcd } from '../../../storage/etcd/etcd.js';
import { conformance } from '../conformance.js';
import { type EtcdServer, requireUsers, startEtcd } from '../etcd-server.js';

const folder = mkdtempSync(join(tmpdir(), 'vestibule-users-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const user = { name: 'vestibule', password: 'a password: of @ll signs/?#' };
/** Signs tokens that are valid for a second. */
function shortTokens(): string[] {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const [pub, priv] = [join(folder, 'token.pub'), join(folder, 'token.key')];
  writeFileSync(pub, publicKey.export({ type: 'spki', format: 'pem' }));
  writeFileSync(priv, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  return [`--auth-token=jwt,pub-key=${pub},priv-key=${priv},sign-method=RS256,ttl=1s`];
}

describe('a user of etcd with a password and tokens of one second', () => {
  let server: EtcdServer;
  let stores = 0;
  beforeAll(async () => {
    server = await startEtcd(shortTokens());
    await requireUsers(server.endpoint, [
      ['user/add', user],
      ['user/grant', { user: user.name, role: 'root' }],
    ]);
  });
  afterAll(() => server?.stop());

  conformance('the driver', async ({ sweeping } = {}) => {
    const storage = await openEtcd({
      servers: [server.endpoint],
      prefix: `/test${stores++}/`,
      user,
      dividedRangeKeys: 3,
      ...(sweeping && { leaseGraceMs: 0, leaseBucketMs: 500 }),
    });
    return { storage, disturb: () => server.restart(), close: () => storage.close() };
  });
});
