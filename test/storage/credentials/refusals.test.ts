import { spawnSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { etcdErrorOf, toUnavailableError } from '../../../storage/etcd/errors.js';
import { openEtcd } from '../../../storage/etcd/etcd.js';
import { scaled } from '../../support/patience.js';
import { type Certificates, makeCertificates } from '../cases/certificates.js';
import { type EtcdServer, freePorts, requireUsers, startEtcd } from '../etcd-server.js';

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
    /^etcd refused this client \(.*--etcd-username.*--etcd-certfile/,
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
  let withClients: EtcdServer;
  let withUsers: EtcdServer;
  beforeAll(async () => {
    certificates = makeCertificates();
    const { ca, cert, key } = certificates.files;
    const tls = [`--cert-file=${cert}`, `--key-file=${key}`];
    [without, withTls, withUsers, withClients] = await Promise.all([
      startEtcd(),
      startEtcd(tls, 'https'),
      startEtcd(),
      startEtcd([...tls, '--client-cert-auth', `--trusted-ca-file=${ca}`], 'https'),
    ]);
    await requireUsers(withUsers.endpoint);
  });
  afterAll(async () => {
    await Promise.all([withTls, without, withUsers, withClients].map((etcd) => etcd?.stop()));
    certificates.remove();
  });

  /** Returns what an opening says while it waits, and its error. */
  const messagesOf = async (server: string, ca?: Buffer): Promise<[string | undefined, string]> => {
    let waiting: string | undefined;
    const opened = await openEtcd({
      servers: [server],
      prefix: '/v/',
      openTimeoutMs: scaled(500),
      openProgressMs: 100,
      onWarning: (message) => {
        if (message.includes('; trying')) waiting = message;
      },
      ...(ca && { ca }),
    }).catch((error: Error) => error);
    if (opened instanceof Error) return [waiting, `${opened.name}: ${opened.message}`];
    await opened.close();
    return [waiting, 'opened'];
  };

  test.each([
    [
      'https, of one without TLS',
      () => messagesOf(without.endpoint.replace('http:', 'https:'), certificates.pem.ca),
      /^etcd at https:\S+ did not answer in TLS: .* write http:\/\/ in --etcd-servers/,
    ],
    [
      'http, of one with TLS',
      () => messagesOf(withTls.endpoint.replace('https:', 'http:')),
      /^etcd at http:\S+ has TLS: write https:\/\/ in --etcd-servers/,
    ],
    [
      'https, with a certificate of an unknown authority',
      () => messagesOf(withTls.endpoint),
      /^the certificate of etcd at https:\S+ is not accepted \([A-Z_]+\): check --etcd-cafile/,
    ],
    [
      'https, without the certificate that etcd asks for',
      () => messagesOf(withClients.endpoint, certificates.pem.ca),
      /^etcd refused this client \(alert [a-z ]+\): check --etcd-username/,
    ],
    [
      'http, of one that asks for a user',
      () => messagesOf(withUsers.endpoint),
      /^etcd refused this client \(user name is empty\): check --etcd-username/,
    ],
    [
      'http, where nothing listens',
      async () => messagesOf(`http://127.0.0.1:${(await freePorts(1))[0]}`),
      /^etcd( at http:\S+ does| did) not answer/,
    ],
    [
      'https, where nothing listens',
      async () => messagesOf(`https://127.0.0.1:${(await freePorts(1))[0]}`),
      /^etcd( at https:\S+ does| did) not answer/,
    ],
  ])('%s, while it waits and at its end', async (_, messages, expected) => {
    const [waiting, end] = await messages();
    expect(waiting).toMatch(expected);
    expect(waiting).toMatch(/; trying for another \d+ s$/);
    expect(end).toMatch(/^UnavailableError: /);
    expect(end.slice('UnavailableError: '.length)).toMatch(expected);
  });
});
