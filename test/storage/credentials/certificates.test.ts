import { spawnSync } from 'node:child_process';
import { afterAll, expect, test } from '@jest/globals';
import { makeCertificates } from '../cases/certificates.js';
import { bytes } from '../drive.js';
import { startEtcd } from '../etcd-server.js';

const closing: (() => Promise<void> | void)[] = [];

afterAll(async () => {
  for (const close of closing.reverse()) await close();
});

const run = spawnSync('openssl', ['version']).status === 0 ? test : test.skip;

run(
  'a client certificate is shown without an authority of etcd of its own: servers are judged by those that the machine trusts',
  async () => {
    const certificates = makeCertificates();
    closing.push(() => certificates.remove());
    const { ca, cert, key } = certificates.files;
    process.env.GRPC_DEFAULT_SSL_ROOTS_FILE_PATH = ca; // what this machine trusts; read as the client is loaded
    const { openEtcd } = await import('../../../storage/etcd/etcd.js');
    const server = await startEtcd(
      [`--trusted-ca-file=${ca}`, `--cert-file=${cert}`, `--key-file=${key}`, '--client-cert-auth'],
      'https',
    );
    closing.push(() => server.stop());
    const options = { servers: [server.endpoint.replace('127.0.0.1', 'localhost')], prefix: '/v/' };
    const storage = await openEtcd({
      ...options,
      cert: certificates.pem.cert,
      key: certificates.pem.key,
    });
    closing.push(() => storage.close());
    expect((await storage.commit([], [{ put: 'a', value: bytes('1') }])).committed).toBe(true);
    await expect(openEtcd(options)).rejects.toMatchObject({ name: 'UnavailableError' });
  },
);
