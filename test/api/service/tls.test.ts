import { execFile, execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { request } from 'node:https';
import { connect as connectPlainly } from 'node:net';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, describe, expect, test } from '@jest/globals';
import { ConfigError, readConfig } from '../../../cmd/vestibule/options/config.js';
import {
  lifetimeMs,
  makeCertificate as makeOwn,
} from '../../../cmd/vestibule/serve/tls/self-signed-certificate.js';
import { makeCertificates } from '../../storage/cases/certificates.js';
import { makeCertificate } from '../../support/cluster/issue-certificate.js';
import { expectFor } from '../../support/expect-for.js';
import { until } from '../../support/patience.js';
import { startTest, stopAll, type TestService, temporary } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

interface Answer {
  readonly code: number;
  readonly body: string;
  readonly serial: string;
  readonly protocol: string | null;
}

/** One request on a connection of its own, as someone who trusts these certificates alone. */
function get(
  service: TestService,
  ca: string,
  path = '/livez',
  options: object = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request(`${service.secureURL}${path}`, { ca, agent: false, ...options }, (res) => {
      const socket = res.socket as TLSSocket;
      const [serial, protocol] = [socket.getPeerCertificate().serialNumber, socket.getProtocol()];
      let body = '';
      res
        .on('data', (chunk: Buffer) => {
          body += chunk.toString();
        })
        .on('end', () => resolve({ code: res.statusCode!, body, serial, protocol }));
    })
      .on('error', reject)
      .end();
  });
}

const serial = (cert: string): string => new X509Certificate(cert).serialNumber;
const started = (directory: string, ...flags: string[]): Promise<TestService> =>
  startTest({ directory, flags: ['--secure-port', '0', ...flags] });
const names = ['localhost', '127.0.0.1', '::1'];

/** A pair in a folder, as a Secret is mounted: the files are links through one that is swapped. */
function mounted(): {
  cert: string;
  key: string;
  swap(pair: { cert: string; key: string }, mode?: number): void;
} {
  const folder = temporary();
  let turn = 0;
  return {
    cert: join(folder, 'tls.crt'),
    key: join(folder, 'tls.key'),
    swap({ cert, key }, mode = 0o640) {
      const next = `..${(turn += 1)}`;
      mkdirSync(join(folder, next));
      writeFileSync(join(folder, next, 'tls.crt'), cert);
      writeFileSync(join(folder, next, 'tls.key'), key, { mode });
      chmodSync(join(folder, next, 'tls.key'), mode);
      symlinkSync(next, join(folder, '..new'));
      renameSync(join(folder, '..new'), join(folder, '..data'));
      if (turn === 1) {
        for (const name of ['tls.crt', 'tls.key']) {
          symlinkSync(`..data/${name}`, join(folder, name));
        }
      }
    },
  };
}

/** The flags of a certificate with an RSA key. */
function rsaCertificate(): string[] {
  const [cert, key] = ['a.crt', 'a.key'].map((name) => join(temporary(), name)) as [string, string];
  const about = '-nodes -days 2 -subj /CN=localhost'.split(' ');
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', ...about, '-keyout', key, '-out', cert],
    { stdio: 'ignore' },
  );
  chmodSync(key, 0o600);
  return ['--tls-cert-file', cert, '--tls-private-key-file', key];
}

describe('a certificate of our own', () => {
  test('proves itself, for the names it has and nothing else', async () => {
    const now = Date.UTC(2030, 0, 1);
    const { cert, key } = await makeOwn(
      [...names, 'id.example.test', 'fd00::1:0:2', '10.1.2.3'],
      now,
    );
    const certificate = new X509Certificate(cert);
    expect(certificate.verify(certificate.publicKey)).toBe(true);
    expect([certificate.ca, certificate.subject, certificate.issuer]).toEqual([
      false,
      'CN=vestibule',
      'CN=vestibule',
    ]);
    expect([Date.parse(certificate.validFrom), Date.parse(certificate.validTo)]).toEqual([
      now - 86_400_000,
      now + lifetimeMs,
    ]);
    expect(certificate.subjectAltName).toBe(
      'DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, DNS:id.example.test, IP Address:FD00:0:0:0:0:1:0:2, IP Address:10.1.2.3',
    );
    expect(certificate.checkHost('elsewhere.example.test')).toBeUndefined();
    expect(key).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    expect(
      Date.parse(new X509Certificate((await makeOwn(names, Date.UTC(2049, 6, 1))).cert).validTo),
    ).toBe(Date.UTC(2050, 6, 1));
  });

  test('is made at the first start, for its owner alone, and kept', async () => {
    const directory = temporary();
    let service = await started(directory);
    const file = join(directory, 'tls.crt');
    const cert = readFileSync(file, 'utf8');
    expect(statSync(join(directory, 'tls.key')).mode & 0o777).toBe(0o600);
    expect(await get(service, cert)).toEqual({
      code: 200,
      body: 'ok',
      serial: serial(cert),
      protocol: 'TLSv1.3',
    });
    expect((await get(service, cert, '/apis/id.vestibule.org/v1beta1')).code).toBe(200);
    expect(
      (await get(service, cert, '/livez', { servername: 'localhost', maxVersion: 'TLSv1.2' }))
        .protocol,
    ).toBe('TLSv1.2');
    await expect(get(service, makeCertificate(names, Date.now()).cert)).rejects.toThrow(
      /self-signed certificate|unable to verify/,
    );
    await expect(
      get(service, cert, '/livez', { maxVersion: 'TLSv1.1', minVersion: 'TLSv1.1' }),
    ).rejects.toThrow();
    await service.stop();
    service = await started(directory, '--tls-min-version', 'VersionTLS13');
    expect((await get(service, cert)).serial).toBe(serial(cert));
    await expect(get(service, cert, '/livez', { maxVersion: 'TLSv1.2' })).rejects.toThrow(
      /protocol version/,
    );
    await service.stop();
    service = await started(
      directory,
      '--base-url',
      'https://id.example.test',
      '--allow-mock-mail',
    );
    const other = readFileSync(file, 'utf8');
    expect(new X509Certificate(other).checkHost('id.example.test')).toBe('id.example.test');
    expect((await get(service, other)).serial).toBe(serial(other));
  });

  test.each(['ECDSA', 'RSA'])(
    'the suites offered are those of RFC 9325 4.2 and TLS 1.3, with a key of %s',
    async (type) => {
      const service = await started(temporary(), ...(type === 'RSA' ? rsaCertificate() : []));
      const { hostname, port } = new URL(service.secureURL!);
      const openssl = (...options: string[]): Promise<string> =>
        new Promise((resolve) => {
          execFile('openssl', options, (_error, stdout) => resolve(stdout)).stdin!.end();
        });
      const at = `${hostname.replace(/^\[|\]$/g, '')}:${port}`;
      const meets = async (...options: string[]): Promise<boolean> =>
        /Cipher is (?!\(NONE\))/.test(await openssl('s_client', '-connect', at, ...options));
      const known = (await openssl('ciphers', '-tls1_2', 'ALL:@SECLEVEL=0'))
        .trim()
        .split(':')
        .filter((suite) => !suite.startsWith('TLS_'));
      const expected = ['AES128-GCM-SHA256', 'AES256-GCM-SHA384'].map(
        (rest) => `ECDHE-${type}-${rest}`,
      );
      const others = known.filter((suite) => !expected.includes(suite));
      expect(others.length).toBeGreaterThan(50);
      const offers = (suites: readonly string[]): Promise<boolean> =>
        meets('-tls1_2', '-cipher', `${suites.join(':')}:@SECLEVEL=0`);
      for (const suite of expected) expectFor(suite, await offers([suite])).toEqual(true);
      expect(await offers(others)).toBe(false);
      for (const suite of [
        'TLS_AES_128_GCM_SHA256',
        'TLS_AES_256_GCM_SHA384',
        'TLS_CHACHA20_POLY1305_SHA256',
      ]) {
        expectFor(suite, await meets('-tls1_3', '-ciphersuites', suite)).toEqual(true);
      }
    },
  );

  test('is made again by a start that finds little of its lifetime left', async () => {
    const directory = temporary();
    const old = makeCertificate(names, Date.now() - lifetimeMs + 29 * 86_400_000);
    writeFileSync(join(directory, 'tls.crt'), old.cert);
    writeFileSync(join(directory, 'tls.key'), old.key, { mode: 0o600 });
    const service = await started(directory);
    const cert = readFileSync(join(directory, 'tls.crt'), 'utf8');
    expect([cert === old.cert, (await get(service, cert)).serial]).toEqual([false, serial(cert)]);
  });

  test('does not replace a certificate that the service did not make', async () => {
    const directory = temporary();
    const others = makeCertificates();
    for (const [name, from] of [
      ['tls.crt', others.pem.cert],
      ['tls.key', others.pem.key],
    ] as const) {
      writeFileSync(join(directory, name), from, { mode: 0o600 });
    }
    others.remove();
    await expect(started(directory)).rejects.toThrow(
      /tls\.crt was not generated by this service; set it with --tls-cert-file/,
    );
    expect(readFileSync(join(directory, 'tls.crt'))).toEqual(others.pem.cert);
    const service = await started(
      directory,
      '--tls-cert-file',
      join(directory, 'tls.crt'),
      '--tls-private-key-file',
      join(directory, 'tls.key'),
    );
    expect((await get(service, others.pem.ca.toString())).code).toBe(200);
  });
});

describe.each(stores)('on %s', (store) => {
  test('a given certificate is served, then the next; a wrong one leaves the former', async () => {
    const files = mounted();
    const [first, second] = [
      makeCertificate(names, Date.now()),
      makeCertificate(names, Date.now()),
    ];
    files.swap(first);
    const service = await startTest({
      store,
      flags: [
        '--secure-port',
        '0',
        '--tls-cert-file',
        files.cert,
        '--tls-private-key-file',
        files.key,
      ],
    });
    expect((await get(service, first.cert)).serial).toBe(serial(first.cert));
    const kept = connect({
      port: Number(new URL(service.secureURL!).port),
      ca: first.cert,
      servername: 'localhost',
      ALPNProtocols: ['h2', 'http/1.1'],
    });
    await new Promise<void>((resolve, reject) => {
      kept.once('secureConnect', resolve).once('error', reject);
    });
    expect(kept.alpnProtocol).toBe('http/1.1');
    for (const [wrong, mode] of [
      [{ ...first, key: second.key }, 0o640],
      [second, 0o644],
      [{ ...first, cert: 'no certificate' }, 0o640],
    ] as const) {
      const before = service.logs.length;
      files.swap(wrong, mode);
      await until(() =>
        service.logs.slice(before).some((line) => line.includes('the former stays in use')),
      );
      expect((await get(service, first.cert)).serial).toBe(serial(first.cert));
    }
    files.swap(second);
    await until(() =>
      service.logs.some((line) => line.includes('reloaded the serving certificate')),
    );
    expect((await get(service, second.cert)).serial).toBe(serial(second.cert));
    kept.write('GET /livez HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    let said = '';
    for await (const chunk of kept) said += String(chunk);
    expect(said).toMatch(/^HTTP\/1\.1 200 [^]*ok$/);
    expect(service.logs.join('')).not.toContain('PRIVATE KEY');
    await service.stop();
  });

  test('a watch over TLS is cut cleanly by a stop', async () => {
    const directory = temporary();
    const service = await startTest({ store, directory, flags: ['--secure-port', '0'] });
    const cert = readFileSync(join(directory, 'tls.crt'), 'utf8');
    const plain = connectPlainly(Number(new URL(service.secureURL!).port), '127.0.0.1').on(
      'error',
      () => {},
    );
    plain.end('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n');
    let said = '';
    plain.on('data', (chunk: Buffer) => {
      said += chunk.toString();
    });
    await new Promise((resolve) => {
      plain.once('close', resolve);
    });
    expect(said).not.toContain('HTTP/1.1');
    let body = '';
    let begun = (): void => {};
    const beginning = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const ended = new Promise<void>((resolve, reject) => {
      request(
        `${service.secureURL}/apis/id.vestibule.org/v1beta1/policies?watch=true&allowWatchBookmarks=true`,
        { ca: cert, agent: false },
        (res) => {
          res
            .on('data', (chunk: Buffer) => {
              body += chunk.toString();
              begun();
            })
            .on('end', resolve)
            .on('error', reject);
        },
      )
        .on('error', reject)
        .end();
    });
    await beginning;
    await Promise.all([ended, service.stop()]);
    expect(
      body
        .trim()
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line).type),
    ).toEqual(['ADDED', 'BOOKMARK']);
    await expect(get(service, cert)).rejects.toThrow('ECONNREFUSED');
  });
});

test('settings that cannot be served with stop the start, each with its sentence', async () => {
  const problems = (...flags: string[]): readonly string[] => {
    try {
      readConfig(['--mock-mail', ...flags], {});
      return [];
    } catch (error) {
      return (error as ConfigError).problems;
    }
  };
  const embedded = ['--data-dir', 'x'];
  expect(problems(...embedded, '--secure-port', '8443')).toEqual([]);
  expect(
    problems(
      ...embedded,
      '--secure-port',
      '0',
      '--tls-cert-file',
      'c',
      '--tls-private-key-file',
      'k',
      '--tls-min-version',
      'VersionTLS13',
    ),
  ).toEqual([]);
  expect(problems(...embedded, '--secure-port', '0', '--tls-cert-file', 'c')).toEqual([
    '--tls-cert-file is set alone; set both --tls-cert-file and --tls-private-key-file',
  ]);
  expect(problems(...embedded, '--tls-cert-file', 'c', '--tls-private-key-file', 'k')).toEqual([
    '--tls-cert-file is set without --secure-port and would be unused',
  ]);
  expect(problems(...embedded, '--secure-port', '65536')).toEqual([
    '--secure-port must be a whole number from 0 to 65535; got 65536',
  ]);
  expect(problems(...embedded, '--secure-port', '8080')).toEqual([
    '--secure-port and --port must differ',
  ]);
  expect(problems(...embedded, '--tls-min-version', 'VersionTLS10')).toEqual([
    '--tls-min-version must be VersionTLS12 or VersionTLS13',
  ]);
  expect(
    problems(
      '--etcd-servers',
      'http://127.0.0.1:2379',
      '--keys-file',
      'k',
      '--allow-mock-mail',
      '--secure-port',
      '0',
    ),
  ).toEqual([
    expect.stringMatching(
      /^--tls-cert-file is missing: with --etcd-servers there is no data folder/,
    ),
  ]);

  const [pair, folder] = [makeCertificate(names, Date.now()), temporary()];
  const [cert, key] = [join(folder, 'a.crt'), join(folder, 'a.key')];
  const refused = async (text: { cert?: string; key?: string }, mode = 0o600): Promise<string> => {
    writeFileSync(cert, text.cert ?? pair.cert);
    rmSync(key, { force: true });
    if (text.key !== undefined) {
      writeFileSync(key, text.key);
      chmodSync(key, mode);
    }
    return started(temporary(), '--tls-cert-file', cert, '--tls-private-key-file', key).then(
      () => 'it starts',
      (error) => (error instanceof ConfigError ? error.message : `not as a setting: ${error}`),
    );
  };
  expect(await refused({})).toBe(`--tls-private-key-file: ${key} cannot be read (ENOENT)`);
  expect(await refused({ key: pair.key }, 0o644)).toBe(
    `--tls-private-key-file: ${key} can be read by anyone on this machine; restrict it with: chmod o= ${key}`,
  );
  expect(await refused({ key: 'nothing' })).toBe(
    `--tls-private-key-file: ${key} is not a private key in PEM without a pass phrase`,
  );
  expect(await refused({ cert: 'nothing', key: pair.key })).toBe(
    `--tls-cert-file: ${cert} is not a certificate in PEM`,
  );
  expect(await refused({ key: makeCertificate(names, Date.now()).key })).toBe(
    `--tls-private-key-file: ${key} is not the key of the certificate in ${cert}`,
  );
  expect(await refused({ key: pair.key })).toBe('it starts');
});
