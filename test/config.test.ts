import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse, stringify } from 'yaml';
import { type Config, type ConfigError, loadConfig } from '../cmd/vestibule/options/config.js';
import {
  type Setting,
  settingKey,
  settings,
  variableName,
} from '../cmd/vestibule/options/flags.js';
import { configSchema } from '../cmd/vestibule/options/json-schema.js';
import {
  defaultLimits,
  limitContradictions,
  limitSettings,
} from '../kinds/limits/limit-settings.js';
import { limitFlag } from '../registry/limits/limit-flag.js';
import {
  type LimitName,
  type LimitSetting,
  limitFault,
  parseLimit,
} from '../registry/limits/limit-settings.js';
import { expectFor } from './support/expect-for.js';
import { stopAll, temporary } from './support/service.js';

afterAll(stopAll);

const all = settings.filter(({ limit }) => limit === undefined);
const limits = settings.filter(({ limit }) => limit !== undefined);
const started = ['--data-dir', 'x', '--mock-mail'];

/** A file of settings that its owner alone may read. */
function file(text: string | Record<string, unknown>, mode = 0o600): string {
  const path = join(temporary(), 'vestibule.yaml');
  writeFileSync(path, typeof text === 'string' ? text : stringify(text));
  chmodSync(path, mode);
  return path;
}

const load = (
  text: string | Record<string, unknown>,
  flags: readonly string[] = started,
  environment: Record<string, string> = {},
): Promise<Config> => loadConfig(['--config', file(text), ...flags], environment);

/** What is wrong, with FILE for the file of settings. */
async function problems(
  text: string | Record<string, unknown>,
  {
    flags = started,
    environment = {},
    mode,
  }: { flags?: readonly string[]; environment?: Record<string, string>; mode?: number } = {},
): Promise<string[]> {
  const path = file(text, mode);
  try {
    await loadConfig(['--config', path, ...flags], environment);
    return [];
  } catch (error) {
    return (error as ConfigError).problems.map((problem) => problem.replaceAll(path, 'FILE'));
  }
}

describe('a file of settings', () => {
  test('is read as flags are, each type as YAML writes it', async () => {
    const read = await load(
      'baseUrl: https://id.example.org\nport: 0\nallowMockMail: true\ntrustedProxies: [10.0.0.0/8, "::1"]\noperators: a@example.org, B@example.org\nshutdownDelayDuration: 1500ms\netcdCompactionInterval: 90\nlimitFactor: 2.5\nloggingFormat: text\n',
    );
    expect(read).toMatchObject({
      baseURL: 'https://id.example.org',
      port: 0,
      trustedProxies: ['10.0.0.0/8', '::1'],
      operators: ['a@example.org', 'b@example.org'],
      shutdownDelaySeconds: 1.5,
      compactionSeconds: 90,
      limitFactor: 2.5,
      loggingFormat: 'text',
    });
    expect(
      (
        await load(
          'requestheaderAllowedNames: ["Proxy, Inc."]\nrequestheaderClientCaFile: ca.crt\nsecurePort: 0\n',
        )
      ).frontProxy,
    ).toMatchObject({ caFile: 'ca.crt', headers: { allowedNames: ['Proxy, Inc.'] } });
  });

  test('gives way to variables, and those to flags; each value says where it comes from', async () => {
    const { port, logLevel, limitFactor, sources, displayed } = await load(
      'port: 1\nlogLevel: warn\nlimitFactor: 3\noperators: [a@example.org]\n',
      [...started, '--port', '3'],
      { VESTIBULE_PORT: '2', VESTIBULE_LOG_LEVEL: 'error' },
    );
    expect({ port, logLevel, limitFactor }).toEqual({ port: 3, logLevel: 'error', limitFactor: 3 });
    expect(sources).toMatchObject({
      port: 'flag',
      'log-level': 'VESTIBULE_LOG_LEVEL',
      'limit-factor': 'file',
      'bind-address': 'default',
      'mock-mail': 'flag',
    });
    expect(Object.keys(sources)).toEqual(Object.keys(displayed));
    expect(displayed).toMatchObject({ operators: '***', port: 3 });
  });

  test('is named by a flag before VESTIBULE_CONFIG', async () => {
    const [one, other] = [file('port: 1\n'), file('port: 2\n')];
    expect((await loadConfig(started, { VESTIBULE_CONFIG: one })).port).toBe(1);
    expect(
      (await loadConfig(['--config', other, ...started], { VESTIBULE_CONFIG: one })).port,
    ).toBe(2);
  });

  test.each(['', '# nothing yet\n', '---\n'])('may say nothing: %j', async (text) => {
    expect((await load(text)).port).toBe(8080);
  });

  test.each([
    [
      'unknown keys, with what was meant',
      'baseURL: http://localhost\ntrusted-proxies: []\nVESTIBULE_PORT: 1\nloglevle: info\nnonsense: 1\nconfig: other.yaml\n',
      [
        'line 1, column 1: baseURL: is not a setting; did you mean baseUrl?',
        'line 2, column 1: trusted-proxies: is not a setting; did you mean trustedProxies?',
        'line 3, column 1: VESTIBULE_PORT: is not a setting; did you mean port?',
        'line 4, column 1: loglevle: is not a setting; did you mean logLevel?',
        'line 5, column 1: nonsense: is not a setting',
        'line 6, column 1: config: is not a setting',
      ],
    ],
    [
      'wrong types',
      'port: "80"\nallowMockMail: yes\nbindAddress: 127\noperators: [1]\nshutdownDelayDuration: [1]\nmanifests: { a: b }\nauditLogPath:\nlimitFactor: .inf\n',
      [
        'line 1, column 7: port: must be a number',
        'line 2, column 16: allowMockMail: must be true or false',
        'line 3, column 14: bindAddress: must be text, in quotes',
        'line 4, column 12: operators: must be a list of texts, or one comma-separated text',
        'line 5, column 24: shutdownDelayDuration: must be a duration such as 30s or 5m',
        'line 6, column 12: manifests: must be text',
        'line 7, column 14: auditLogPath: has no value: set one, or remove the key',
        'line 8, column 14: limitFactor: must be a number',
      ],
    ],
    [
      'values out of bounds',
      'port: 70000\nlogLevel: loud\nlimitFactor: 0\netcdCompactionInterval: 0s\noperators:\n  - a@example.org\n  - junk\nshutdownDelayDuration: soon\nmetricsPort: -1\n',
      [
        'line 1, column 7: port: must be a whole number from 0 to 65535; got 70000',
        'line 4, column 25: etcdCompactionInterval: must be more than 0',
        'line 8, column 24: shutdownDelayDuration: must be a duration such as 30s or 5m',
        'line 3, column 14: limitFactor: must be more than 0',
        'line 9, column 14: metricsPort: must be 0 or more',
        'line 2, column 11: logLevel: must be debug, info, warn, error or silent',
        'line 6, column 3: operators: junk is not an email address',
      ],
    ],
    [
      'a key given twice',
      'port: 1\nlogLevel: info\nport: 2\n',
      ['line 3, column 1: port: is given twice'],
    ],
    [
      'several documents',
      'port: 1\n---\nport: 2\n',
      ['line 2, column 1: must be the only YAML document of the file'],
    ],
    [
      'what is no mapping',
      '- port\n',
      ['line 1, column 1: is not a mapping; write settings as key: value, one a line'],
    ],
    [
      'an alias',
      'bindAddress: &a "::1"\nemailFrom: *a\n',
      ['line 2, column 12: emailFrom: must not be a YAML alias; write the value itself'],
    ],
    ['a key that is no text', '1: a\n', ['line 1, column 1: a key is not text']],
    [
      'a tag of no meaning',
      'bindAddress: !secret a\n',
      ['line 1, column 14: is not YAML: tag resolve failed'],
    ],
    [
      'what is no YAML',
      'port: 1\n\tlogLevel: info\n',
      ['line 2, column 1: is not YAML: tab as indent'],
    ],
    [
      'the file of sign-ins',
      '{"current":"a","contexts":{"a":{"server":"https://id.example.org","refreshToken":"hush"}}}',
      ['line 1, column 1: is the file of sign-ins, which belongs in VESTIBULE_CONTEXTS'],
    ],
  ] as [string, string, string[]][])('reports %s by line and column', async (_, text, lines) => {
    expect(await problems(text)).toEqual(lines.map((line) => `--config FILE: ${line}`));
  });

  test.each([
    ['VESTIBULE_NAME_FALLBACK', 'Nope', ' must be LocalPart, Email or Absent'],
    ['VESTIBULE_NAME_FALLBACK', '', ' must be LocalPart, Email or Absent'],
    ['VESTIBULE_PORT', 'many', ' must be a number'],
    ['VESTIBULE_TRUSTED_PROXIES', 'x', ': x '],
    ['VESTIBULE_LIMITS_INTERACTION_LIFETIME', '2 days', ' must be '],
  ])('the wrong value of %s, %j, is named by its variable', async (variable, value, expected) => {
    const lines = await problems('dataDir: x\nmockMail: true\n', {
      environment: { [variable]: value },
    });
    expect(lines).toEqual([expect.stringMatching(`^${variable}${expected}`)]);
  });

  test('every problem is reported at once, a wrong value not as missing too', async () => {
    const lines = await problems('dataDir: 5\nmockMail: yes\nportt: 1\nlogLevel: loud\n', {
      flags: ['--bogus', 'y', '--port', 'many', 'more', '-v'],
      environment: { VESTIBULE_NOTHING: '1' },
    });
    expect(lines).toEqual([
      '--config FILE: line 1, column 10: dataDir: must be text, in quotes',
      '--config FILE: line 2, column 11: mockMail: must be true or false',
      '--config FILE: line 3, column 1: portt: is not a setting; did you mean port?',
      'VESTIBULE_NOTHING is not a setting',
      '--bogus is not a setting',
      '"more" is not a setting',
      '-v is not a setting',
      '--port must be a number',
      '--config FILE: line 4, column 11: logLevel: must be debug, info, warn, error or silent',
    ]);
    expect(
      await problems(
        'port: 1\nmockMail: true\nsmtpUrl: smtp://mail.example.org\nemailFrom: a@example.org\n',
        { flags: ['--data-dir', 'x'] },
      ),
    ).toEqual([
      '--config FILE: line 2, column 11: mockMail: --mock-mail and --smtp-url are both set; set only one',
    ]);
    expect(await problems('port: 1\n', { flags: [] })).toEqual([
      expect.stringMatching(/^--data-dir is missing/),
      expect.stringMatching(/^--smtp-url is missing/),
    ]);
  });

  test('is reported when it cannot be read', async () => {
    const folder = temporary();
    for (const [path, code] of [
      [join(folder, 'none.yaml'), 'ENOENT'],
      [folder, 'EISDIR'],
    ]) {
      await expect(loadConfig(['--config', path!], {})).rejects.toMatchObject({
        problems: [`--config ${path}: cannot be read (${code})`],
      });
    }
  });

  test('a flag without a value is reported, and does not take another flag as its value', async () => {
    await expect(loadConfig(['--data-dir', '--mock-mail'], {})).rejects.toMatchObject({
      problems: ['--data-dir has no value; write a value that begins with a dash as --data-dir=-…'],
    });
    await expect(
      loadConfig(['--data-dir', 'x', '--mock-mail', '--port', '-('], {}),
    ).rejects.toMatchObject({
      problems: ['--port has no value; write a value that begins with a dash as --port=-…'],
    });
    expect(
      (await loadConfig(['--data-dir=-x', '--mock-mail=true', '--audit-log-path=-'], {})).store,
    ).toEqual({ type: 'embedded', directory: '-x' });
    expect(
      (await loadConfig(['--data-dir', 'x', '--mock-mail', '--audit-log-path', '-'], {}))
        .auditLogPath,
    ).toBe('-');
  });
});

describe('a client certificate for etcd', () => {
  const etcd = [
    '--etcd-servers',
    'https://etcd.example.org:2379',
    '--keys-file',
    'keys.json',
    '--mock-mail',
    '--allow-mock-mail',
    '--base-url',
    'https://id.example.org',
  ];
  const wrong = (flags: readonly string[]): Promise<readonly string[]> =>
    loadConfig([...etcd, ...flags], {}).then(
      () => [],
      (error: ConfigError) => error.problems,
    );
  const [cert, key] = [
    ['--etcd-certfile', 'a.crt'],
    ['--etcd-keyfile', 'a.key'],
  ];

  test('goes with its key, with or without an authority', async () => {
    expect([await wrong([]), await wrong([...cert!, ...key!])]).toEqual([[], []]);
    const whole = 'set both, or neither';
    for (const authority of [[], ['--etcd-cafile', 'ca.crt']]) {
      expect(await wrong([...authority, ...cert!])).toEqual([
        `--etcd-certfile is set without --etcd-keyfile; ${whole}`,
      ]);
      expect(await wrong([...authority, ...key!])).toEqual([
        `--etcd-keyfile is set without --etcd-certfile; ${whole}`,
      ]);
    }
  });

  test('may have a user with a password, which belong together', async () => {
    const [user, password] = ['--etcd-username=vestibule', '--etcd-password=secret'];
    const { store, displayed } = await loadConfig([...etcd, user!, password!], {});
    expect(store).toMatchObject({ username: 'vestibule', password: 'secret' });
    expect(displayed).toMatchObject({ 'etcd-username': 'vestibule', 'etcd-password': '***' });
    expect([await wrong([user!]), await wrong([password!])]).toEqual([
      ['--etcd-username is set without --etcd-password; set both, or neither'],
      ['--etcd-password is set without --etcd-username; set both, or neither'],
    ]);
  });
});

test.each([
  ['https://id.example.org:8443', 'sign-in@id.example.org'],
  ['http://localhost:8080', 'sign-in@localhost.test'],
  ['https://[2001:db8::1]', 'sign-in@localhost.test'],
  ['https://192.0.2.1', 'sign-in@localhost.test'],
])('without a sender, mails of %s are from %s', async (baseURL, sender) => {
  const flags = ['--data-dir', 'x', '--base-url', baseURL, '--smtp-url', 'smtp://mail.example.org'];
  const { emailFrom, displayed, sources } = await load({}, flags);
  expect([emailFrom, displayed['email-from'], sources['email-from']]).toEqual([
    sender,
    sender,
    'default',
  ]);
});

describe('a secret', () => {
  const flags = ['--data-dir', 'x', '--email-from', 'a@example.org'];
  const hush = 'smtps://me:hush@mail.example.org';

  test('may stand in a file that not everybody may read', async () => {
    const read = await load({ smtpUrl: hush }, flags);
    expect([
      read.smtpURL,
      read.smtpURLFile,
      read.displayed['smtp-url'],
      read.sources['smtp-url'],
    ]).toEqual([hush, undefined, '***', 'file']);
    expect(await problems({ smtpUrl: hush }, { flags, mode: 0o644 })).toEqual([
      '--config FILE: line 1, column 1: smtpUrl: is a secret, but FILE can be read by anyone on this machine; restrict it (chmod o= FILE), or set smtpUrlFile',
    ]);
    expect(await problems({ smtpUrl: hush }, { flags, mode: 0o640 })).toEqual([]);
  });

  test('is read from the file that its key with File names, which is followed', async () => {
    const held = join(temporary(), 'smtp-url');
    writeFileSync(held, `${hush}\n`, { mode: 0o600 });
    const path = file({ smtpUrlFile: held }, 0o644);
    const read = (more: string[] = [], environment = {}): Promise<Config> =>
      loadConfig(['--config', path, ...flags, ...more], environment);
    expect(await read()).toMatchObject({
      smtpURL: hush,
      smtpURLFile: held,
      sources: { 'smtp-url': 'file' },
    });
    expect(await read([], { VESTIBULE_SMTP_URL: 'smtp://other' })).toMatchObject({
      smtpURL: 'smtp://other',
      smtpURLFile: undefined,
      sources: { 'smtp-url': 'VESTIBULE_SMTP_URL' },
    });
    expect(await read([], { VESTIBULE_SMTP_URL_FILE: held })).toMatchObject({
      smtpURL: hush,
      smtpURLFile: held,
      sources: { 'smtp-url': 'VESTIBULE_SMTP_URL_FILE' },
    });
    expect(await read(['--smtp-url', 'smtp://flag'])).toMatchObject({
      smtpURL: 'smtp://flag',
      smtpURLFile: undefined,
    });
    expect(await problems({ smtpUrl: hush, smtpUrlFile: held }, { flags })).toEqual([
      '--config FILE: line 2, column 1: smtpUrlFile: smtpUrl is set too; set only one',
    ]);
    expect(await problems({ smtpUrlFile: '/nowhere' }, { flags })).toEqual([
      '--config FILE: line 1, column 14: smtpUrlFile: there is no file /nowhere',
    ]);
    expect(
      await problems('', { flags, environment: { VESTIBULE_SMTP_URL_FILE: temporary() } }),
    ).toEqual([expect.stringMatching(/^VESTIBULE_SMTP_URL_FILE: .* cannot be read \(EISDIR\)$/)]);
  });

  test('is not read from a file that everybody may read', async () => {
    const held = join(temporary(), 'smtp-url');
    writeFileSync(held, `${hush}\n`);
    for (const mode of [0o644, 0o604, 0o602]) {
      chmodSync(held, mode);
      const wrong = `${held} can be read by anyone on this machine; restrict it with: chmod o= ${held}`;
      expect(await problems({ smtpUrlFile: held }, { flags })).toEqual([
        `--config FILE: line 1, column 14: smtpUrlFile: ${wrong}`,
      ]);
      expect(await problems('', { flags, environment: { VESTIBULE_SMTP_URL_FILE: held } })).toEqual(
        [`VESTIBULE_SMTP_URL_FILE: ${wrong}`],
      );
    }
    for (const mode of [0o440, 0o400, 0o640, 0o600]) {
      chmodSync(held, mode);
      expect((await loadConfig(flags, { VESTIBULE_SMTP_URL_FILE: held })).smtpURL).toBe(hush);
    }
  });

  test('is never part of a reported problem', async () => {
    for (const text of [
      'smtpUrl: hush\n',
      'smtpUrl: [hush]\n',
      'smtpUrl: "hush\n',
      'smtpUrl: hush\nsmtpUrl: hush\n',
      'smtpUrl: "\\qhush"\n',
      'smtpUrl: hush "hush"\n',
      '- hush\n',
      'hush\n',
      'smtpUrl: !hush hush\n',
      'smtpUrl: *hush\n',
      'smtpUrl: hush: hush\n',
      '"hush" "hush"\n',
      '%hush\n---\nsmtpUrl: x\n',
    ]) {
      const reported = await problems(text, { flags });
      expectFor(text, [reported.length > 0, reported.join('\n').includes('hush')]).toEqual([
        true,
        false,
      ]);
    }
  });
});

describe('the schema of a file of settings', () => {
  const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true });
  const schema = configSchema() as { properties: Record<string, any> };
  const valid = ajv.compile(schema);
  /**
   * Whether the reader takes the type and bounds of a value: what settings mean together is none of
   * a schema's.
   */
  const reads = async (text: string, key: string): Promise<boolean> =>
    !(await problems(text)).some((problem) =>
      new RegExp(`: ${key}: (must|has|is|.* is set too)`).test(problem),
    );

  /** Values of each type that are good, and bad. */
  const samples: Record<string, { good: unknown[]; bad: unknown[] }> = {
    text: { good: ['a'], bad: [1, true, null, ['a'], { a: 'b' }] },
    number: { good: [1], bad: ['1', true, null, -1, [1]] },
    boolean: { good: [true, false], bad: ['true', 'yes', 0, null] },
    seconds: {
      good: ['30s', '1.5h', '200ms', '7', 7, 0.5],
      bad: ['soon', '1d', '-1s', -1, true, null, ['1s'], ''],
    },
    list: { good: [['a', 'b'], [], 'a,b'], bad: [1, true, null, [1], [''], [['a']], { a: 'b' }] },
  };
  /** Values that are good for one setting alone. */
  const own: Record<string, () => unknown[]> = {
    'base-url': () => ['http://localhost'],
    'email-from': () => ['a@example.org'],
    manifests: () => [temporary()],
    'smtp-url': () => ['smtp://mail'],
  };
  const goodFor = ({ value, oneOf, flag }: Setting): unknown[] =>
    oneOf?.slice() ?? own[flag]?.() ?? samples[value]!.good;
  const badFor = ({ value, oneOf, maxInteger, isPositive }: Setting): unknown[] => [
    ...samples[value]!.bad,
    ...(oneOf ? ['other', ''] : []),
    ...(maxInteger ? [maxInteger + 1, 0.5] : []),
    ...(isPositive ? [0, ...(value === 'seconds' ? ['0s', '0.0', '00m'] : [])] : []),
  ];

  test('is one of 2020-12, knows every setting and nothing else', () => {
    expect([ajv.validateSchema(schema), ajv.errors]).toEqual([true, null]);
    expect(Object.keys(schema.properties).sort()).toEqual(
      [
        ...all.map(({ flag }) => settingKey(flag)),
        ...all.filter(({ secret }) => secret).map(({ flag }) => `${settingKey(flag)}File`),
        'limits',
      ].sort(),
    );
    for (const setting of all) {
      const {
        description,
        default: fallback,
        writeOnly,
      } = schema.properties[settingKey(setting.flag)];
      expectFor(setting.flag, [description, fallback, writeOnly]).toEqual([
        setting.describe,
        setting.default,
        setting.secret,
      ]);
      for (const one of setting.oneOf ?? []) {
        expectFor(one, setting.describe.includes(one)).toEqual(true);
      }
    }
    expect([valid({ prot: 1 }), valid([]), valid({})]).toEqual([false, false, true]);
    expect([valid({ smtpUrl: 'smtp://a', smtpUrlFile: 'a' }), valid({ smtpUrlFile: 'a' })]).toEqual(
      [false, true],
    );
  });

  test('takes every default', () => {
    expect([
      valid(
        Object.fromEntries(
          all
            .filter(({ default: fallback }) => fallback !== undefined)
            .map(({ flag, default: fallback }) => [settingKey(flag), fallback]),
        ),
      ),
      valid.errors,
    ]).toEqual([true, null]);
  });

  test.each(all.map((setting) => [settingKey(setting.flag), setting] as const))(
    '%s: agrees with the reader on good values and bad ones',
    async (key, setting) => {
      for (const [values, taken] of [
        [goodFor(setting), true],
        [badFor(setting), false],
      ] as const) {
        for (const value of values) {
          const text = stringify({ [key]: value });
          expect(parse(text)).toEqual({ [key]: value });
          expectFor(text, ['schema', valid({ [key]: value })]).toEqual(['schema', taken]);
          expectFor(text, ['reader', await reads(text, key)]).toEqual(['reader', taken]);
        }
      }
    },
  );
});

test('a setting has one name in each place, and no two share one', () => {
  expect([settingKey('base-url'), variableName('base-url'), settingKey('tls-min-version')]).toEqual(
    ['baseUrl', 'VESTIBULE_BASE_URL', 'tlsMinVersion'],
  );
  for (const nameOf of [settingKey, variableName]) {
    expect(new Set(settings.map(({ flag }) => nameOf(flag))).size).toBe(settings.length);
  }
  expect([settingKey('limits-email-code-tries'), limitFlag('emailCodeTries')]).toEqual([
    'limits.emailCodeTries',
    'limits-email-code-tries',
  ]);
});

describe('the section of the limits', () => {
  const samples: Record<LimitSetting['value'], { good: unknown[]; bad: unknown[] }> = {
    duration: {
      good: ['90s', '2h', '1500ms'],
      bad: [90, '90', 'soon', '1.5h', '1d', '', true, null, ['1h']],
    },
    size: { good: [4096, '4096', '4Ki', '1Mi'], bad: ['4K', '4kb', -1, 1.5, '', true, null] },
    count: { good: [7], bad: [1.5, -1, 'many', '', true, null] },
    percent: { good: ['20%'], bad: [20, '20', '2.5%', '', true, null] },
  };
  const ajv = new Ajv2020({ strict: true, strictTypes: false, allErrors: true });

  test('is read with units, from the file, variables and flags', async () => {
    const text =
      'limits:\n  accessTokenLifetime: 30m\n  requestHeaderSize: 32Ki\n  emailCodeTries: 3\n  interactionLifetime: 2h\n';
    const {
      limits: read,
      sources,
      displayed,
    } = await load(text, [...started, '--limits-email-code-tries=4'], {
      VESTIBULE_LIMITS_INTERACTION_LIFETIME: '90m',
    });
    expect(read).toEqual({
      ...defaultLimits,
      accessTokenLifetime: 1_800_000,
      requestHeaderSize: 32_768,
      emailCodeTries: 4,
      interactionLifetime: 5_400_000,
    });
    expect([
      displayed['limits-access-token-lifetime'],
      displayed['limits-email-code-tries'],
    ]).toEqual(['30m', 4]);
    expect(sources).toMatchObject({
      'limits-access-token-lifetime': 'file',
      'limits-email-code-tries': 'flag',
      'limits-interaction-lifetime': 'VESTIBULE_LIMITS_INTERACTION_LIFETIME',
      'limits-watch-timeout': 'default',
    });
    expect((await load('')).limits).toEqual(defaultLimits);
  });

  test.each([
    [
      'no mapping',
      'limits: 5\n',
      ['line 1, column 9: limits: must be a mapping; write limits as key: value, one a line'],
    ],
    [
      'a section given twice',
      'limits: {}\nlimits: {}\n',
      ['line 2, column 1: limits: is given twice'],
    ],
    [
      'unknown limits',
      'limits:\n  emailCodeTry: 3\n',
      [
        'line 2, column 3: limits.emailCodeTry: is not a setting; did you mean limits.emailCodeTries?',
      ],
    ],
    [
      'what has no unit',
      'limits:\n  accessTokenLifetime: 600\n  idTokenLifetime: "600"\n',
      [
        'line 2, column 24: limits.accessTokenLifetime: must be a duration such as 30s, 10m or 48h',
        'line 3, column 20: limits.idTokenLifetime: must be a duration such as 30s, 10m or 48h; got "600"',
      ],
    ],
    [
      'absurd values, with the reason',
      'limits:\n  accessTokenLifetime: 8760h\n  emailCodeTries: 0\n',
      [
        'line 3, column 19: limits.emailCodeTries: must be from 1 to 10: each try is a guess; got 0',
        'line 2, column 24: limits.accessTokenLifetime: must be from 1m to 24h: less breaks Clients, and what is stolen counts for as long; got 8760h',
      ],
    ],
    [
      'limits that contradict each other',
      'limits:\n  emailCodeLifetime: 30m\n  interactionLifetime: 20m\n',
      [
        'line 2, column 22: limits.emailCodeLifetime: must be at most limits.interactionLifetime: a code would outlive the sign-in it is for',
      ],
    ],
  ] as [string, string, string[]][])('reports %s', async (_, text, lines) => {
    expect(await problems(text)).toEqual(lines.map((line) => `--config FILE: ${line}`));
  });

  test('every default stands within its bounds and contradicts no other', () => {
    expect(
      Object.values(limitSettings).filter(
        (setting) => limitFault(setting, setting.default) !== undefined,
      ),
    ).toEqual([]);
    expect(limitContradictions(defaultLimits)).toEqual([]);
    for (const setting of Object.values(limitSettings)) {
      for (const bound of [setting.min, setting.max]) {
        expectFor(setting, limitFault(setting, bound)).toEqual(undefined);
      }
    }
  });

  test.each(limits.map((setting) => [setting.limit!, setting] as const))(
    '%s: the schema agrees with the reader on the sort of value',
    async (name: LimitName, { value }) => {
      const valid = ajv.compile(
        (configSchema() as { properties: { limits: object } }).properties.limits,
      );
      const setting: LimitSetting = limitSettings[name];
      expect(valid({ [name]: setting.default })).toBe(true);
      for (const one of samples[setting.value].good) {
        expectFor(one, Number.isNaN(parseLimit(setting, one))).toEqual(false);
      }
      for (const one of samples[value as LimitSetting['value']].bad) {
        expectFor(one, valid({ [name]: one })).toEqual(false);
        expectFor(one, (await problems({ limits: { [name]: one } })).length).toEqual(1);
      }
    },
  );
});
