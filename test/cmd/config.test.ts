import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { settingKey, settings } from '../../cmd/vestibule/options/flags.js';
import { limitSettings } from '../../kinds/limits/limit-settings.js';
import { makeCertificate } from '../support/cluster/issue-certificate.js';
import { Following, type Ran, stopFollowing, vestibule } from '../support/command.js';
import { expectFor } from '../support/expect-for.js';
import { exchange } from '../support/people/tab.js';
import { stopAll, temporary } from '../support/service.js';

/** Each command is a process of its own, on a machine that may be busy. */
jest.setTimeout(120_000);

afterAll(async () => {
  await stopFollowing();
  await stopAll();
});

let folder: string;
beforeAll(() => {
  folder = temporary();
});

/** Writes a file into the folder; its path. */
function put(name: string, text: string, mode = 0o600): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

const check = (args: readonly string[], environment: NodeJS.ProcessEnv = {}): Promise<Ran> =>
  vestibule(['config', 'check', ...args], environment);
/** What is wrong, a line each without our name. */
async function wrong(args: readonly string[], environment?: NodeJS.ProcessEnv): Promise<string[]> {
  const { code, out, error } = await check(args, environment);
  expect([code, out]).toEqual([2, '']);
  return error
    .trimEnd()
    .split('\n')
    .map((line) => {
      expect(line).toMatch(/^vestibule: /);
      return line.replace('vestibule: ', '');
    });
}

test('check prints every setting with its source, and leaves nothing behind', async () => {
  const data = join(folder, 'never');
  const held = put(
    'vestibule.yaml',
    `dataDir: ${data}\noperators: [ada@example.org]\ntrustedProxies: [10.0.0.0/8]\nsmtpUrl: smtps://me:hush@mail.example.org\nauditLogPath: "-"\n`,
  );
  const { code, out, error } = await check(
    ['--config', held, '--port=9000', '--email-from', 'a@example.org'],
    { VESTIBULE_LOG_LEVEL: 'warn' },
  );
  expect([code, error]).toEqual([0, '']);
  const lines = out.trimEnd().split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'port: 9000 # flag',
      'logLevel: warn # VESTIBULE_LOG_LEVEL',
      'limitFactor: 1 # default',
      `dataDir: ${data} # file`,
      'operators: "***" # file',
      'smtpUrl: "***" # file',
      'trustedProxies: ["10.0.0.0/8"] # file',
      'auditLogPath: "-" # file',
      'etcdCompactionInterval: 300 # default',
    ]),
  );
  expect(out).not.toMatch(/hush|ada@/);
  const again = parse(out);
  const expected = [
    ...settings
      .filter(({ limit }) => limit === undefined)
      .map(({ flag }) => settingKey(flag))
      .filter((key) => Object.hasOwn(again, key)),
    'limits',
  ];
  const limits = Object.keys(limitSettings);
  expect([Object.keys(again), Object.keys(again.limits), lines.length]).toEqual([
    expected,
    limits,
    expected.length + limits.length,
  ]);
  const json = await check(
    ['-o', 'json', '--config', held, '--port=9000', '--email-from', 'a@example.org'],
    { VESTIBULE_LOG_LEVEL: 'warn' },
  );
  expect(JSON.parse(json.out)).toEqual({
    settings: lines
      .filter((line) => line !== 'limits:')
      .map((line) => {
        const [, within, name, source] = /^( *)(\w+): .* # (\w+)$/.exec(line)!;
        return within
          ? { name: `limits.${name}`, value: again.limits[name!], source }
          : { name, value: again[name!], source };
      }),
  });
  expect(existsSync(data)).toBe(false);
});

test('what check prints, except for secrets, is a file of the same settings', async () => {
  const first = await check([
    '--data-dir',
    join(folder, 'd'),
    '--mock-mail',
    '--trusted-proxies',
    '::1,10.0.0.0/8',
    '--shutdown-delay-duration',
    '200ms',
    '--secure-port',
    '0',
    '--etcd-prefix',
    '# "a": b\n',
    '--etcd-compaction-interval',
    '10m',
  ]);
  const given = first.out.split('\n').filter((line) => line.endsWith(' # flag'));
  expect(given.length).toBe(7);
  const { code, out, error } = await check(['--config', put('again.yaml', given.join('\n'))]);
  expect([code, error, parse(out)]).toEqual([0, '', parse(first.out)]);
  expect(out.split('\n').filter((line) => line.endsWith(' # file'))).toEqual(
    given.map((line) => line.replace(/flag$/, 'file')),
  );
});

test('check says what a start would say of files, all of it at once, and exits with 2', async () => {
  const [one, other] = [
    makeCertificate(['localhost'], Date.now()),
    makeCertificate(['localhost'], Date.now()),
  ];
  const [cert, key, open] = [
    put('tls.crt', one.cert),
    put('tls.key', other.key),
    put('open.key', one.key, 0o644),
  ];
  const manifests = join(folder, 'manifests');
  mkdirSync(manifests);
  const kind = (name: string, spec: string): string =>
    `apiVersion: id.vestibule.org/v1beta1\nkind: ${name}\n${name === 'Policy' ? '' : 'metadata: { name: x }\n'}spec: ${spec}\n`;
  const [first, second, third] = ['a', 'b', 'c'].map((name) => join(manifests, `${name}.yaml`));
  writeFileSync(first!, kind('Client', '{ displayName: "", redirectURIs: [] }'));
  writeFileSync(second!, kind('Group', '{ displayName: Staff, membrs: [] }'));
  writeFileSync(third!, kind('Policy', '{ cedar: 5 }'));
  const etcd = [
    '--etcd-servers',
    'https://etcd.example.org:2379',
    '--mock-mail',
    '--allow-mock-mail',
    '--secure-port',
    '0',
  ];
  const keys = put('keys.json', '{}');
  expect(
    await wrong([
      ...etcd,
      '--keys-file',
      keys,
      '--tls-cert-file',
      cert,
      '--tls-private-key-file',
      key,
      '--requestheader-client-ca-file',
      key,
      '--etcd-cafile',
      key,
      '--etcd-certfile',
      cert,
      '--etcd-keyfile',
      key,
      '--manifests',
      manifests,
    ]),
  ).toEqual([
    `--keys-file: ${keys} is not a keys file; make one with "vestibule keys new FILE"`,
    `--tls-private-key-file: ${key} is not the key of the certificate in ${cert}`,
    expect.stringMatching(/^--requestheader-client-ca-file: .*tls\.key cannot be used: /),
    `--etcd-cafile: ${key} is not a certificate in PEM`,
    `--etcd-keyfile: ${key} is not the key of the certificate in ${cert}`,
    expect.stringMatching(/^--manifests: .*a\.yaml: .*spec\.displayName/),
    expect.stringMatching(/^--manifests: .*b\.yaml: .*spec\.membrs/),
    expect.stringMatching(/^--manifests: .*c\.yaml: spec\.cedar: Invalid value: must be text/),
  ]);
  writeFileSync(first!, 'a: [');
  expect(
    await wrong([
      '--data-dir',
      cert,
      '--mock-mail',
      '--secure-port',
      '0',
      '--tls-cert-file',
      cert,
      '--tls-private-key-file',
      open,
      '--manifests',
      manifests,
    ]),
  ).toEqual([
    `--data-dir: ${cert} is not a folder`,
    `--tls-private-key-file: ${open} can be read by anyone on this machine; restrict it with: chmod o= ${open}`,
    expect.stringMatching(/^--manifests: .*a\.yaml: /),
    expect.stringMatching(/^--manifests: .*b\.yaml: /),
    expect.stringMatching(/^--manifests: .*c\.yaml: /),
  ]);
  const [openKeys, wide] = [
    put('open.json', '{}', 0o644),
    (file: string): string =>
      `${file} can be read by anyone on this machine; restrict it with: chmod o= ${file}`,
  ];
  expect(
    await wrong([
      ...etcd,
      '--tls-cert-file',
      cert,
      '--tls-private-key-file',
      open,
      '--keys-file',
      openKeys,
      '--etcd-certfile',
      cert,
      '--etcd-keyfile',
      open,
    ]),
  ).toEqual([
    `--keys-file: ${wide(openKeys)}`,
    `--tls-private-key-file: ${wide(open)}`,
    `--etcd-keyfile: ${wide(open)}`,
  ]);
});

test('check says what is wrong with settings as a start does', async () => {
  const held = put('wrong.yaml', 'portt: 1\nlogLevel: loud\n');
  const lines = await wrong(['--config', held, '--mock-mail']);
  expect(lines).toEqual([
    `--config ${held}: line 1, column 1: portt: is not a setting; did you mean port?`,
    `--config ${held}: line 2, column 11: logLevel: must be debug, info, warn, error or silent`,
    expect.stringMatching(/^--data-dir is missing/),
  ]);
  const started = await vestibule(['serve', '--config', held, '--mock-mail'], {});
  expect([started.code, started.out, started.error]).toEqual([
    2,
    '',
    lines.map((line) => `vestibule: ${line}\n`).join(''),
  ]);
});

test('schema prints the schema, which takes what check takes', async () => {
  const { code, out, error } = await vestibule(['config', 'schema'], {});
  expect([code, error]).toEqual([0, '']);
  const schema = JSON.parse(out);
  expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
  const valid = new Ajv2020({ strictTypes: false }).compile(schema);
  const checked = await check(['--data-dir', join(folder, 'd'), '--mock-mail']);
  expect([valid(parse(checked.out)), valid.errors, valid({ portt: 1 })]).toEqual([
    true,
    null,
    false,
  ]);
});

test('the two words say how they are used, and are completed', async () => {
  for (const args of [[], ['chek'], ['schema', 'more']]) {
    expect(await vestibule(['config', ...args], {})).toEqual({
      code: 2,
      out: '',
      error: 'vestibule: usage: vestibule config check|schema [settings]\n',
    });
  }
  expect(await vestibule(['config', 'check', '-o', 'table', '--mock-mail'], {})).toEqual({
    code: 2,
    out: '',
    error: 'vestibule: -o must be yaml or json\n',
  });
  const help = await vestibule(['help', 'config'], {});
  expect(help.out).toContain('vestibule config check|schema [settings]');
  for (const args of [['--help'], ['check', '--help'], ['schema', '-h']]) {
    expect(await vestibule(['config', ...args], {})).toEqual(help);
  }
  const complete = async (...args: string[]): Promise<string[]> =>
    (await vestibule(['__complete', ...args], {})).out
      .split('\n')
      .map((line) => line.split('\t')[0]!)
      .filter(Boolean);
  expect(await complete('config', '')).toEqual(['check', 'schema', ':4']);
  expect(await complete('config', 'check', '--c')).toEqual(['--config', ':4']);
  for (const word of ['serve', 'config']) {
    expect(await complete(word, '--config', '')).toEqual([':0']);
  }
  expect(await complete('keys', 'dr')).toEqual(['drop', 'drop-sealing', ':4']);
});

test('a file of settings that VESTIBULE_CONTEXTS names stays as it is', async () => {
  for (const text of ['{"port": 1}', 'port: 1\n', 'null']) {
    const held = put('named.yaml', text);
    for (const word of ['whoami', 'logout']) {
      const { code, error } = await vestibule([word], { VESTIBULE_CONTEXTS: held });
      expect([code, error]).toEqual([
        1,
        `vestibule: ${held} is not a file of sign-ins; remove it and sign in again, or point VESTIBULE_CONTEXTS to another file\n`,
      ]);
    }
    expect(readFileSync(held, 'utf8')).toBe(text);
  }
});

const page = readFileSync(join(import.meta.dirname, '../../docs/how-to/configuration.md'), 'utf8');
const [beginning, secrets] = [...page.matchAll(/^```yaml(?: file=\S+)?\n([\s\S]*?)^```$/gm)].map(
  ([, text]) => text!,
);

test('the files that the page shows are ones that the schema takes', async () => {
  const valid = new Ajv2020({ strictTypes: false }).compile(
    JSON.parse((await vestibule(['config', 'schema'], {})).out),
  );
  for (const text of [beginning!, secrets!]) {
    expect([valid(parse(text)), valid.errors]).toEqual([true, null]);
  }
});

test('a service runs by the file that the page begins with', async () => {
  const held = put(
    'served.yaml',
    beginning!
      .replace('dataDir: data', `dataDir: ${join(folder, 'data')}`)
      .replace('baseUrl: http://localhost:8080', 'port: 0'),
  );
  for (const [args, environment] of [
    [['serve'], { VESTIBULE_CONFIG: held }],
    [['serve', '--config', held], {}],
  ] as const) {
    const service = new Following(args, environment);
    await service.until((text) => /^(ready|vestibule:) /m.test(text), 60_000);
    const [, base, url] = /^ready (\S+) (\S+)$/m.exec(service.text)!;
    expect(base).toMatch(/^http:\/\/localhost:\d+$/);
    for (const path of ['/readyz', '/mailbox']) {
      expectFor(
        path,
        (await exchange(url!, 'GET', path, { host: new URL(base!).host })).code,
      ).toEqual(200);
    }
    expect(existsSync(join(folder, 'data', 'keys.json'))).toBe(true);
    await service.interrupt();
  }
});
