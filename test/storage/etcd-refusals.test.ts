import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { etcdErrorOf, toUnavailableError } from '../../storage/etcd/errors.js';
import { openEtcd } from '../../storage/etcd/etcd.js';
import { makeCertificates, type Certificates } from './certificates.js';
import { freePorts, startEtcd, type EtcdServer } from './etcd-server.js';

test.each([
  '3 INVALID_ARGUMENT: etcdserver: user name is empty',
  '3 INVALID_ARGUMENT: etcdserver: authentication failed, invalid user ID or password',
  '9 FAILED_PRECONDITION: etcdserver: user name not found',
  '9 FAILED_PRECONDITION: etcdserver: authentication is not enabled',
  '9 FAILED_PRECONDITION: etcdserver: role name not found',
  '7 PERMISSION_DENIED: etcdserver: permission denied',
  '16 UNAUTHENTICATED: etcdserver: invalid auth token',
])('%s is a refusal, not silence', (message) => {
  const error = etcdErrorOf(new Error(message));
  expect(error.kind).toBe('unsent');
  expect(error.refusal).toBe(/etcdserver: ([a-z ]+)/.exec(message)![1]!.replace(/,.*/, ''));
  expect(toUnavailableError(error).message).toMatch(
    /^etcd refused this client \(.*--etcd-certfile/,
  );
});

test.each(['14 UNAVAILABLE: No connection established', '4 DEADLINE_EXCEEDED'])(
  '%s is no refusal',
  (message) => {
    expect(toUnavailableError(etcdErrorOf(new Error(message))).message).toBe('etcd did not answer');
  },
);

const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

(hasOpenssl ? describe : describe.skip)('a start names what is wrong with a URL of etcd', () => {
  let certificates: Certificates;
  let withTls: EtcdServer;
  let without: EtcdServer;
  beforeAll(async () => {
    certificates = makeCertificates();
    const { cert, key } = certificates.files;
    [without, withTls] = await Promise.all([
      startEtcd(),
      startEtcd([`--cert-file=${cert}`, `--key-file=${key}`], 'https'),
    ]);
  });
  afterAll(async () => {
    await Promise.all([withTls.stop(), without.stop()]);
    certificates.remove();
  });

  const messageOf = async (server: string, ca?: Buffer): Promise<string> => {
    const options = { servers: [server], prefix: '/v/', openTimeoutMs: 300, ...(ca && { ca }) };
    const opened = await openEtcd(options).catch((error: Error) => error);
    if (opened instanceof Error) return `${opened.name}: ${opened.message}`;
    await opened.close();
    return 'opened';
  };

  test.each([
    [
      'https, of one without TLS',
      () => messageOf(without.endpoint.replace('http:', 'https:'), certificates.pem.ca),
      /^UnavailableError: etcd at https:\S+ did not answer in TLS: .* write http:\/\/ in --etcd-servers/,
    ],
    [
      'http, of one with TLS',
      () => messageOf(withTls.endpoint.replace('https:', 'http:')),
      /^UnavailableError: etcd at http:\S+ has TLS: write https:\/\/ in --etcd-servers/,
    ],
    [
      'https, with a certificate of an unknown authority',
      () => messageOf(withTls.endpoint),
      /^UnavailableError: the certificate of etcd at https:\S+ is not accepted \([A-Z_]+\): check --etcd-cafile/,
    ],
    [
      'http, where nothing listens',
      async () => messageOf(`http://127.0.0.1:${(await freePorts(1))[0]}`),
      /^UnavailableError: etcd did not answer$/,
    ],
    [
      'https, where nothing listens',
      async () => messageOf(`https://127.0.0.1:${(await freePorts(1))[0]}`),
      /^UnavailableError: etcd did not answer$/,
    ],
  ])('%s', async (_, message, expected) => {
    expect(await message()).toMatch(expected);
  });
});
