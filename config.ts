import { existsSync, statSync } from 'node:fs';
import { isIP } from 'node:net';
import { dirname } from 'node:path';
import { wrongHeader, type ProxySettings } from './apiserver/frontproxy/trust.js';
import { readSources, type Found, type Given } from './configsources.js';
import { isLoopback } from './registry/loopback.js';
import {
  limitContradictions,
  limitFault,
  limitSettings,
  parseLimit,
  type LimitName,
  type Limits,
} from './registry/limit-settings.js';
import { duration, flagOfLimit, settings, type Flag, type Setting } from './settings.js';

/** The settings of one process, checked. */
export interface Config {
  baseURL: string | undefined;
  bindAddress: string;
  port: number;
  secure: SecureConfig | undefined;
  store:
    | { type: 'embedded'; directory: string }
    | {
        type: 'etcd';
        servers: string[];
        prefix: string;
        caFile?: string;
        certFile?: string;
        keyFile?: string;
      };
  compactionSeconds: number;
  manifests: string | undefined;
  smtpURL: string | undefined;
  /** The file it was read from, where it was. */
  smtpURLFile: string | undefined;
  mockMail: boolean;
  deviceAuthorization: boolean;
  emailFrom: string;
  keysFile: string | undefined;
  operators: string[];
  allowPrivateNetwork: string[];
  trustedProxies: string[];
  /** Whose word about callers counts; nobody's where it is not set. */
  frontProxy: FrontProxyConfig | undefined;
  inflight: { reads: number; changes: number };
  shutdownDelay: number;
  limitFactor: number;
  /** Every limit in the unit of code (registry/limit-settings.ts). */
  limits: Limits;
  metricsPort: number | undefined;
  auditLogPath: string | undefined;
  loggingFormat: 'json' | 'text';
  logLevel: string;
  /** Every setting as given or by default, secrets and addresses of people as `***`. */
  shown: Readonly<Record<string, unknown>>;
  /**
   * Where each of them comes from, by flag: `flag`, the name of a variable, `file` or `default`.
   */
  sources: Readonly<Record<string, string>>;
}

/**
 * The secure port: TLS with the certificate of these files, else with one made in the data folder.
 */
export interface SecureConfig {
  port: number;
  certFile?: string;
  keyFile?: string;
  minVersion: 'TLSv1.2' | 'TLSv1.3';
}

/**
 * Front proxies as the settings have them, or as the cluster says that this process is in a pod of.
 */
export type FrontProxyConfig =
  | { from: 'files'; caFile: string; headers: Omit<ProxySettings, 'authorities'> }
  | { from: 'cluster'; server: string };

/** What is wrong with the settings, a line each; the start stops with exit 2. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

type Values = Partial<Record<Flag, string | number | boolean | string[]>>;

/**
 * Reads flags, then environment, then the file of settings where one is named, then defaults; every
 * problem at once.
 */
export async function loadConfig(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<Config> {
  const { file, ...found } = readSources(args, environment);
  if (file === undefined) return configOf(found, environment);
  const read = (await import('./configfile.js')).readConfigFile(file);
  return configOf(
    {
      given: { ...read.given, ...found.given },
      problems: [...read.problems, ...found.problems],
      spoiled: new Set([...read.spoiled, ...found.spoiled]),
    },
    environment,
  );
}

/** The same where no file of settings is named, at once. */
export function readConfig(args: readonly string[], environment: NodeJS.ProcessEnv): Config {
  const { file, ...found } = readSources(args, environment);
  if (file !== undefined) throw new Error('a file of settings is read by loadConfig');
  return configOf(found, environment);
}

function configOf(found: Found, environment: NodeJS.ProcessEnv): Config {
  const { given, problems: before, spoiled } = found;
  const problems: string[] = [];
  const values: Values = {};
  for (const setting of settings) {
    if (setting.limit !== undefined) continue;
    const value = given[setting.flag]?.value ?? setting.default;
    if (value !== undefined) values[setting.flag as Flag] = parse(setting, value, problems);
  }
  const { limits, shown: shownLimits } = limitsOf(given, problems);
  const assembled = assemble(values, problems);
  const shown = { ...assembled.shown, ...shownLimits };
  const sources = Object.fromEntries(
    Object.keys(shown).map((flag) => [flag, given[flag]?.source ?? 'default']),
  );
  const config = {
    ...assembled,
    limits,
    shown,
    smtpURLFile: given['smtp-url']?.file,
    frontProxy: frontProxyOf(values, Object.keys(given), environment, problems),
    sources,
  };
  const mentions = (problem: string): boolean =>
    [...spoiled].some(
      (flag) => given[flag] === undefined && new RegExp(`--${flag}(?![a-z-])`).test(problem),
    );
  const all = [
    ...before,
    ...problems
      .filter((one) => !(one.includes(' is missing: ') && mentions(one)))
      .map((one) => placed(one, given)),
  ];
  if (all.length > 0) throw new ConfigError(all);
  return config;
}

/** Every limit in the unit of code, and as it was written. */
function limitsOf(
  given: Readonly<Record<string, Given>>,
  problems: string[],
): { limits: Limits; shown: Record<string, unknown> } {
  const limits: Partial<Record<LimitName, number>> = {};
  const shown: Record<string, unknown> = {};
  for (const [name, setting] of Object.entries(limitSettings) as [
    LimitName,
    (typeof limitSettings)[LimitName],
  ][]) {
    const flag = flagOfLimit(name);
    const value = given[flag]?.value ?? setting.default;
    const fault = limitFault(setting, value);
    if (fault !== undefined) problems.push(`--${flag} must be ${fault}`);
    limits[name] = parseLimit(setting, fault === undefined ? value : setting.default);
    shown[flag] = setting.value === 'count' && fault === undefined ? Number(value) : value;
  }
  for (const [name, fault] of limitContradictions(limits as Limits))
    problems.push(`--${flagOfLimit(name)} must be ${fault}`);
  return { limits: limits as Limits, shown };
}

/** Names a setting that stands in the file by its place there, where a problem names its flag. */
function placed(problem: string, given: Readonly<Record<string, Given>>): string {
  const [named = '', flag = ''] = /^--([a-z-]+)/.exec(problem) ?? [];
  const rest = problem.slice(named.length);
  const at = given[flag]?.at;
  if (at === undefined) return problem;
  return `${at}: ${/^(: | must )/.test(rest) ? rest.replace(/^:? /, '') : problem}`;
}

const units: Record<string, number> = { ms: 0.001, s: 1, m: 60, h: 3600 };
const either = (all: readonly string[]): string =>
  `${all.slice(0, -1).join(', ')} or ${all.at(-1)}`;

/** A value of the type that the setting has, and within its bounds. */
function parse(
  { flag, value, oneOf, wholeTo, positive }: Setting,
  given: Given['value'],
  problems: string[],
): string | number | boolean | string[] {
  const wrong = (what: string): void => {
    problems.push(`--${flag} must be ${what}`);
  };
  if (value === 'boolean') {
    if (!['true', 'false'].includes(String(given))) wrong('true or false');
    return String(given) === 'true';
  }
  if (value === 'list')
    return typeof given === 'object'
      ? given
      : String(given)
          .split(',')
          .map((one) => one.trim())
          .filter(Boolean);
  if (value === 'text') {
    if (oneOf && !oneOf.includes(String(given))) wrong(either(oneOf));
    return String(given);
  }
  const number = typeof given === 'number' ? given : numberOf(String(given), value === 'seconds');
  if (!Number.isFinite(number) || number < 0) {
    wrong(
      value === 'seconds' ? 'a duration such as 30s or 5m' : number < 0 ? '0 or more' : 'a number',
    );
    return 0;
  }
  if (wholeTo !== undefined && (!Number.isInteger(number) || number > wholeTo))
    wrong(`a whole number from 0 to ${wholeTo}; got ${number}`);
  if (positive && number === 0) wrong('more than 0');
  return number;
}

function numberOf(text: string, isDuration: boolean): number {
  const [, digits, unit] = duration.exec(text) ?? [];
  return digits === undefined || (unit !== undefined && !isDuration)
    ? NaN
    : Number(digits) * units[unit ?? 's']!;
}

/** Whether the host of an address is this machine. */
const isLocal = (url: string): boolean => URL.canParse(url) && isLoopback(new URL(url).hostname);

function assemble(
  values: Values,
  problems: string[],
): Omit<Config, 'frontProxy' | 'smtpURLFile' | 'sources' | 'limits'> {
  const text = (flag: Flag): string | undefined => values[flag] as string | undefined;
  const list = (flag: Flag): string[] => (values[flag] as string[] | undefined) ?? [];
  const baseURL = checkBaseURL(text('base-url'), problems);
  const etcd = list('etcd-servers');
  if (etcd.length > 0 && text('data-dir'))
    problems.push('--data-dir and --etcd-servers are both given: one store at a time');
  if (etcd.length > 0 && !text('keys-file'))
    problems.push(
      '--keys-file is missing: with --etcd-servers every replica needs the same keys; make one with "vestibule keys new FILE"',
    );
  for (const server of etcd)
    if (!/^https?:\/\//.test(server) || (server.startsWith('http:') && !isLocal(server)))
      problems.push(`--etcd-servers: ${server} must be https, or http on loopback`);
  if (etcd.length === 0 && !text('data-dir'))
    problems.push('--data-dir is missing: give a folder for the embedded store, or --etcd-servers');
  if (baseURL === undefined && Number(values.port) !== 0 && !isLoopback(text('bind-address')!))
    problems.push('--base-url is missing: it is needed where the service listens beyond loopback');
  checkMail(values, baseURL, etcd.length > 0, problems);
  checkTLS(values, etcd.length > 0, problems);
  const alone = lonePart(text('etcd-certfile'), text('etcd-keyfile'));
  if (alone !== undefined) problems.push(alone);
  checkValues(values, problems);
  return {
    baseURL,
    bindAddress: text('bind-address')!,
    port: values.port as number,
    secure:
      values['secure-port'] === undefined
        ? undefined
        : {
            port: values['secure-port'] as number,
            minVersion: versions[text('tls-min-version')!]!,
            ...optional({ certFile: text('tls-cert-file'), keyFile: text('tls-private-key-file') }),
          },
    store:
      etcd.length > 0
        ? {
            type: 'etcd',
            servers: etcd,
            prefix: text('etcd-prefix')!,
            ...optional({
              caFile: text('etcd-cafile'),
              certFile: text('etcd-certfile'),
              keyFile: text('etcd-keyfile'),
            }),
          }
        : { type: 'embedded', directory: text('data-dir') ?? '' },
    compactionSeconds: values['etcd-compaction-interval'] as number,
    manifests: text('manifests'),
    smtpURL: text('smtp-url'),
    mockMail: values['mock-mail'] as boolean,
    deviceAuthorization: values['device-authorization'] as boolean,
    emailFrom: text('email-from') ?? 'sign-in@localhost.test',
    keysFile: text('keys-file'),
    operators: list('operators').map((one) => one.toLowerCase()),
    allowPrivateNetwork: list('allow-private-network'),
    trustedProxies: list('trusted-proxies'),
    inflight: {
      reads: values['max-requests-inflight'] as number,
      changes: values['max-mutating-requests-inflight'] as number,
    },
    shutdownDelay: values['shutdown-delay-duration'] as number,
    limitFactor: values['limit-factor'] as number,
    logLevel: text('log-level')!,
    metricsPort: values['metrics-port'] as number | undefined,
    auditLogPath: text('audit-log-path'),
    loggingFormat: text('logging-format') as 'json' | 'text',
    shown: shownOf(values),
  };
}

const shownOf = (values: Values): Record<string, unknown> =>
  Object.fromEntries(
    settings
      .filter(({ flag }) => values[flag as Flag] !== undefined)
      .map(({ flag, secret, private: hidden }) => [
        flag,
        secret || hidden ? '***' : values[flag as Flag],
      ]),
  );

const address = /^(?!-)(?!.*=\?)[^\s@<>,"%!]{1,64}@[A-Za-z0-9.-]{1,255}$/;
const isNetwork = (text: string): boolean => {
  const [ip = '', bits] = text.split('/');
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(ip)]!;
  return most > 0 && (bits === undefined || (/^\d+$/.test(bits) && Number(bits) <= most));
};

const isFolder = (path: string): boolean => {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
};

/** What a value may be, beyond what its setting says. */
function checkValues(values: Values, problems: string[]): void {
  const list = (flag: Flag): string[] => (values[flag] as string[] | undefined) ?? [];
  const metrics = values['metrics-port'];
  if (metrics !== undefined && metrics !== 0)
    for (const flag of ['port', 'secure-port'] as const)
      if (values[flag] === metrics)
        problems.push(`--metrics-port and --${flag} are the same: give two`);
  const audit = values['audit-log-path'];
  if (audit !== undefined && audit !== '-' && (audit === '' || !existsSync(dirname(String(audit)))))
    problems.push(`--audit-log-path: there is no folder for ${JSON.stringify(audit)}`);
  for (const flag of ['trusted-proxies', 'allow-private-network'] as const)
    for (const one of list(flag))
      if (!isNetwork(one))
        problems.push(`--${flag}: ${one} is not an address or a network such as 10.0.0.0/8`);
  for (const one of list('operators'))
    if (!address.test(one)) problems.push(`--operators: ${one} is not an email address`);
  if (values['email-from'] !== undefined && !address.test(String(values['email-from'])))
    problems.push('--email-from must be an email address');
  if (values.manifests !== undefined && !isFolder(String(values.manifests)))
    problems.push(`--manifests: there is no folder ${String(values.manifests)}`);
}

function checkBaseURL(text: string | undefined, problems: string[]): string | undefined {
  if (text === undefined) return undefined;
  if (!URL.canParse(text) || new URL(text).origin !== text) {
    problems.push(
      `--base-url must be an origin without a path, such as https://id.example.org; got ${text}`,
    );
    return undefined;
  }
  if (!text.startsWith('https:') && !isLocal(text))
    problems.push('--base-url must be https, or http on loopback');
  return text;
}

function checkMail(
  values: Values,
  baseURL: string | undefined,
  etcd: boolean,
  problems: string[],
): void {
  const mock = values['mock-mail'] === true;
  const smtp = values['smtp-url'] as string | undefined;
  if (mock === (smtp !== undefined))
    problems.push(
      mock
        ? '--mock-mail and --smtp-url are both given: mail is either kept or sent'
        : '--smtp-url is missing: give a mail server, or --mock-mail to keep mails in the mock mailbox',
    );
  const wrong = smtp === undefined ? undefined : wrongMailServer(smtp);
  if (wrong !== undefined) problems.push(wrong);
  if (smtp !== undefined && !values['email-from'])
    problems.push('--email-from is missing: the sender of all mail');
  if (
    mock &&
    values['allow-mock-mail'] !== true &&
    (etcd || (baseURL !== undefined && !isLocal(baseURL)))
  )
    problems.push(
      '--mock-mail is refused with --etcd-servers or a public base URL: anyone could read every code; give --allow-mock-mail if that is meant',
    );
}

/** What is wrong with a mail server's address, which is never repeated: it holds a password. */
export const wrongMailServer = (url: string): string | undefined =>
  URL.canParse(url) && /^smtps?:$/.test(new URL(url).protocol)
    ? undefined
    : '--smtp-url must look like smtp://host:port or smtps://user:password@host:port';

/**
 * What is wrong where a client certificate for etcd is given without its key, or the key without
 * its certificate.
 */
export function lonePart(
  certFile: string | undefined,
  keyFile: string | undefined,
): string | undefined {
  if ((certFile === undefined) === (keyFile === undefined)) return undefined;
  const [given, missing] =
    certFile === undefined ? ['etcd-keyfile', 'etcd-certfile'] : ['etcd-certfile', 'etcd-keyfile'];
  return `--${given} is given without --${missing}: etcd is shown a certificate and proof of its key; give both, or neither`;
}

/** kube-apiserver's names for the lowest version of TLS. */
const versions: Record<string, SecureConfig['minVersion']> = {
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
};

function checkTLS(values: Values, etcd: boolean, problems: string[]): void {
  const files = (['tls-cert-file', 'tls-private-key-file'] as const).filter(
    (flag) => values[flag] !== undefined,
  );
  if (files.length === 1)
    problems.push(
      `--${files[0]} is given alone: a certificate and its key are needed, --tls-cert-file and --tls-private-key-file`,
    );
  if (files.length > 0 && values['secure-port'] === undefined)
    problems.push(`--${files[0]} is given without --secure-port: nothing would use it`);
  if (values['secure-port'] !== undefined && files.length === 0 && etcd)
    problems.push(
      '--tls-cert-file is missing: with --etcd-servers there is no data folder to keep a certificate of our own in, and every replica needs one of the same authority',
    );
  if (
    values['secure-port'] !== undefined &&
    values['secure-port'] !== 0 &&
    values['secure-port'] === values.port
  )
    problems.push('--secure-port and --port are the same: give two');
}

/**
 * Settings that would go unused, or say what the cluster says too, are refused: whom to believe is
 * nothing to guess.
 */
function frontProxyOf(
  values: Values,
  given: readonly string[],
  environment: NodeJS.ProcessEnv,
  problems: string[],
): FrontProxyConfig | undefined {
  const own = given.filter((flag) => flag.startsWith('requestheader-'));
  const lookup = values['authentication-skip-lookup'] === false;
  const caFile = values['requestheader-client-ca-file'] as string | undefined;
  if (lookup && own.length > 0)
    problems.push(
      `--${own[0]} and --authentication-skip-lookup=false are both given: either the settings say which front proxies are believed, or the cluster does`,
    );
  if (!lookup && caFile === undefined)
    for (const flag of own)
      problems.push(
        `--${flag} is given without --requestheader-client-ca-file: no front proxy would be believed`,
      );
  if (!lookup && caFile === undefined) return undefined;
  if (values['secure-port'] === undefined)
    problems.push(
      `--${lookup ? 'authentication-skip-lookup=false' : 'requestheader-client-ca-file'} is given without --secure-port: a front proxy proves itself by a certificate, over TLS alone`,
    );
  if (lookup) return { from: 'cluster', server: clusterOf(environment, problems) };
  const list = (flag: Flag, isPrefix = false): string[] => {
    const names = (values[flag] as string[] | undefined) ?? [];
    for (const one of names) {
      const wrong = wrongHeader(one, isPrefix);
      if (wrong !== undefined) problems.push(`--${flag}: ${wrong}`);
    }
    return names.map((one) => one.toLowerCase());
  };
  const headers = {
    usernameHeaders: list('requestheader-username-headers'),
    groupHeaders: list('requestheader-group-headers'),
    extraHeaderPrefixes: list('requestheader-extra-headers-prefix', true),
    uidHeaders: list('requestheader-uid-headers'),
  };
  if (headers.usernameHeaders.length === 0)
    problems.push('--requestheader-username-headers is empty: without it nobody could be told');
  return {
    from: 'files',
    caFile: caFile!,
    headers: {
      ...headers,
      allowedNames: (values['requestheader-allowed-names'] as string[] | undefined) ?? [],
    },
  };
}

/** Where a pod finds the API server of its cluster, as Kubernetes tells every container. */
function clusterOf(
  { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port }: NodeJS.ProcessEnv,
  problems: string[],
): string {
  const server = host && port ? `https://${isIP(host) === 6 ? `[${host}]` : host}:${port}` : '';
  if (!URL.canParse(server))
    problems.push(
      '--authentication-skip-lookup=false: KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT do not say where the cluster is, as they do in every pod; elsewhere give --requestheader-client-ca-file',
    );
  return server;
}

const optional = <T extends Record<string, unknown>>(
  members: T,
): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
