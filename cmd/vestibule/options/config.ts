import { readSources, type Found, type Given } from './sources.js';
import { parseBaseURL, validateValues } from './config-validation.js';
import { parseFrontProxy, type FrontProxyConfig } from './front-proxy-config.js';
import {
  limitContradictions,
  limitFault,
  limitSettings,
  parseLimit,
  type LimitName,
  type Limits,
} from '../../../registry/limit-settings.js';
import { parseSetting, type OptionValues } from './setting-value.js';
import { flagOfLimit, settings, type ServeFlag } from './flags.js';

/** The validated settings of one process. */
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
  /** The file that `smtpURL` was read from, if any. */
  smtpURLFile: string | undefined;
  mockMail: boolean;
  deviceAuthorization: boolean;
  emailFrom: string;
  keysFile: string | undefined;
  operators: string[];
  allowPrivateNetwork: string[];
  trustedProxies: string[];
  /** Trusted front proxies. Identity headers are ignored when unset. */
  frontProxy: FrontProxyConfig | undefined;
  inflight: { reads: number; changes: number };
  shutdownDelay: number;
  limitFactor: number;
  /** Every limit as a number: milliseconds, bytes or a count (registry/limit-settings.ts). */
  limits: Limits;
  metricsPort: number | undefined;
  auditLogPath: string | undefined;
  loggingFormat: 'json' | 'text';
  logLevel: string;
  /** The value of every setting, given or default. Secrets and people's addresses are `***`. */
  shown: Readonly<Record<string, unknown>>;
  /** The source of each setting by flag: `flag`, the name of a variable, `file` or `default`. */
  sources: Readonly<Record<string, string>>;
}

/**
 * The secure port: TLS with the certificate of these files, or a self-signed one in the data
 * folder.
 */
export interface SecureConfig {
  port: number;
  certFile?: string;
  keyFile?: string;
  minVersion: 'TLSv1.2' | 'TLSv1.3';
}

/** Invalid settings, one problem a line. The process exits with code 2. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/**
 * Reads flags, then the environment, then the configuration file if one is named, then defaults.
 * Throws one ConfigError with all problems.
 */
export async function loadConfig(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<Config> {
  const { file, ...found } = readSources(args, environment);
  if (file === undefined) return configOf(found, environment);
  const read = (await import('./config-file.js')).readConfigFile(file);
  return configOf(
    {
      given: { ...read.given, ...found.given },
      problems: [...read.problems, ...found.problems],
      spoiled: new Set([...read.spoiled, ...found.spoiled]),
    },
    environment,
  );
}

/** Reads settings synchronously. Throws if a configuration file is named. */
export function readConfig(args: readonly string[], environment: NodeJS.ProcessEnv): Config {
  const { file, ...found } = readSources(args, environment);
  if (file !== undefined)
    throw new Error('readConfig does not read a configuration file; use loadConfig');
  return configOf(found, environment);
}

function configOf(found: Found, environment: NodeJS.ProcessEnv): Config {
  const { given, problems: before, spoiled } = found;
  const problems: string[] = [];
  const values: OptionValues = {};
  for (const setting of settings) {
    if (setting.limit !== undefined) continue;
    const value = given[setting.flag]?.value ?? setting.default;
    if (value !== undefined)
      values[setting.flag as ServeFlag] = parseSetting(setting, value, problems);
  }
  const { limits, shown: shownLimits } = limitsOf(given, problems);
  const baseURL = parseBaseURL(values['base-url'] as string | undefined, problems);
  validateValues(values, baseURL, problems);
  const assembled = assemble(values, baseURL);
  const shown = { ...assembled.shown, ...shownLimits };
  const sources = Object.fromEntries(
    Object.keys(shown).map((flag) => [flag, given[flag]?.source ?? 'default']),
  );
  const config = {
    ...assembled,
    limits,
    shown,
    smtpURLFile: given['smtp-url']?.file,
    frontProxy: parseFrontProxy(values, Object.keys(given), environment, problems),
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

/** Returns every limit as a number, and as it was given. */
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

/**
 * Replaces the flag at the start of a problem by its line in the configuration file, if the setting
 * comes from there.
 */
function placed(problem: string, given: Readonly<Record<string, Given>>): string {
  const [named = '', flag = ''] = /^--([a-z-]+)/.exec(problem) ?? [];
  const rest = problem.slice(named.length);
  const at = given[flag]?.at;
  if (at === undefined) return problem;
  return `${at}: ${/^(: | must )/.test(rest) ? rest.replace(/^:? /, '') : problem}`;
}

/** kube-apiserver's names for the minimum TLS version. */
const versions: Record<string, SecureConfig['minVersion']> = {
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
};

function assemble(
  values: OptionValues,
  baseURL: string | undefined,
): Omit<Config, 'frontProxy' | 'smtpURLFile' | 'sources' | 'limits'> {
  const text = (flag: ServeFlag): string | undefined => values[flag] as string | undefined;
  const list = (flag: ServeFlag): string[] => (values[flag] as string[] | undefined) ?? [];
  return {
    baseURL,
    bindAddress: text('bind-address')!,
    port: values.port as number,
    secure: secureOf(values),
    store: storeOf(values),
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

function secureOf(values: OptionValues): SecureConfig | undefined {
  const port = values['secure-port'] as number | undefined;
  if (port === undefined) return undefined;
  return {
    port,
    minVersion: versions[values['tls-min-version'] as string]!,
    ...optional({
      certFile: values['tls-cert-file'] as string | undefined,
      keyFile: values['tls-private-key-file'] as string | undefined,
    }),
  };
}

function storeOf(values: OptionValues): Config['store'] {
  const servers = (values['etcd-servers'] as string[] | undefined) ?? [];
  if (servers.length === 0)
    return { type: 'embedded', directory: (values['data-dir'] as string | undefined) ?? '' };
  return {
    type: 'etcd',
    servers,
    prefix: values['etcd-prefix'] as string,
    ...optional({
      caFile: values['etcd-cafile'] as string | undefined,
      certFile: values['etcd-certfile'] as string | undefined,
      keyFile: values['etcd-keyfile'] as string | undefined,
    }),
  };
}

const shownOf = (values: OptionValues): Record<string, unknown> =>
  Object.fromEntries(
    settings
      .filter(({ flag }) => values[flag as ServeFlag] !== undefined)
      .map(({ flag, secret, private: hidden }) => [
        flag,
        secret || hidden ? '***' : values[flag as ServeFlag],
      ]),
  );

const optional = <T extends Record<string, unknown>>(
  members: T,
): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
