import type { NameFallback } from '../../../kinds/apps/claims/name-fallback.js';
import { limitContradictions, limitSettings } from '../../../kinds/limits/limit-settings.js';
import { limitFlag } from '../../../registry/limits/limit-flag.js';
import {
  type LimitName,
  type Limits,
  limitFault,
  parseLimit,
} from '../../../registry/limits/limit-settings.js';
import { entriesOf } from '../../../registry/schema/typed-entries.js';
import { hideUserinfo } from '../../../security/hide-userinfo.js';
import { parseBaseURL, validateValues } from './config-validation.js';
import { type OptionValues, settings } from './flags.js';
import { type FrontProxyConfig, parseFrontProxy } from './front-proxy-config.js';
import { parseSetting, type SettingValue } from './setting-value.js';
import { type GivenValue, readSources, type Settings } from './sources.js';

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
        caFile?: string | undefined;
        certFile?: string | undefined;
        keyFile?: string | undefined;
        username?: string | undefined;
        password?: string | undefined;
        /** The file that `password` was read from, if any. */
        passwordFile?: string | undefined;
      };
  compactionSeconds: number;
  manifests: string | undefined;
  smtpURL: string | undefined;
  /** The file that `smtpURL` was read from, if any. */
  smtpURLFile: string | undefined;
  mockMail: boolean;
  /** An IANA time zone. */
  policyTimeZone: string;
  deviceAuthorization: boolean;
  allowPrivateHTTPRedirects: boolean;
  nameFallback: NameFallback;
  emailFrom: string;
  keysFile: string | undefined;
  operators: string[];
  allowPrivateNetwork: string[];
  trustedProxies: string[];
  /** Trusted front proxies. Identity headers are ignored when unset. */
  frontProxy: FrontProxyConfig | undefined;
  inflight: { reads: number; changes: number };
  shutdownDelaySeconds: number;
  limitFactor: number;
  /** Every limit as a number: milliseconds, bytes or a count (registry/limits/limit-settings.ts). */
  limits: Limits;
  metricsPort: number | undefined;
  auditLogPath: string | undefined;
  loggingFormat: 'json' | 'text';
  logLevel: string;
  /** The value of every setting, given or default. Secrets and people's addresses are `***`. */
  displayed: Readonly<Record<string, unknown>>;
  /** The source of each setting by flag: `flag`, the name of a variable, `file` or `default`. */
  sources: Readonly<Record<string, string>>;
}

/**
 * The secure port: TLS with the certificate of these files, or a self-signed one in the data
 * folder.
 */
export interface SecureConfig {
  port: number;
  certFile?: string | undefined;
  keyFile?: string | undefined;
  minVersion: 'TLSv1.2' | 'TLSv1.3';
}

/** Invalid settings, one problem a line, without the secrets of URLs. The process exits with code 2. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    const shown = problems.map(hideUserinfo);
    super(shown.join('\n'));
    this.problems = shown;
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
  if (file === undefined) return buildConfig(found, environment);
  const fromFile = (await import('./config-file.js')).readConfigFile(file);
  return buildConfig(
    {
      given: { ...fromFile.given, ...found.given },
      problems: [...fromFile.problems, ...found.problems],
      invalid: new Set([...fromFile.invalid, ...found.invalid]),
    },
    environment,
  );
}

/** Reads settings synchronously. Throws if a configuration file is named. */
export function readConfig(args: readonly string[], environment: NodeJS.ProcessEnv): Config {
  const { file, ...found } = readSources(args, environment);
  if (file !== undefined) {
    throw new Error('readConfig does not read a configuration file; use loadConfig');
  }
  return buildConfig(found, environment);
}

function buildConfig(gathered: Settings, environment: NodeJS.ProcessEnv): Config {
  const { given, problems: sourceProblems, invalid } = gathered;
  const problems: string[] = [];
  const parsed: Record<string, SettingValue> = {};
  for (const setting of settings) {
    if (setting.limit !== undefined) continue;
    const value = given[setting.flag]?.value ?? setting.default;
    if (value !== undefined) parsed[setting.flag] = parseSetting(setting, value, problems);
  }
  const values = parsed as OptionValues;
  const { limits, displayed: displayedLimits } = parseLimits(given, problems);
  const baseURL = parseBaseURL(values['base-url'], problems);
  validateValues(values, baseURL, problems);
  const assembled = assemble(values, baseURL, given['etcd-password']?.file);
  const displayed = { ...assembled.displayed, ...displayedLimits };
  const sources = Object.fromEntries(
    Object.keys(displayed).map((flag) => [flag, given[flag]?.source ?? 'default']),
  );
  const config: Config = {
    ...assembled,
    limits,
    displayed,
    smtpURLFile: given['smtp-url']?.file,
    frontProxy: parseFrontProxy(values, Object.keys(given), environment, problems),
    sources,
  };
  const isAboutInvalid = (problem: string): boolean =>
    [...invalid].some(
      (flag) => given[flag] === undefined && new RegExp(`--${flag}(?![a-z-])`).test(problem),
    );
  const allProblems = [
    ...sourceProblems,
    ...problems
      .filter((problem) => !(problem.includes(' is missing: ') && isAboutInvalid(problem)))
      .map((problem) => withPosition(problem, given)),
  ];
  if (allProblems.length > 0) throw new ConfigError(allProblems);
  return config;
}

/** Returns every limit as a number, and as it was given. */
function parseLimits(
  given: Readonly<Record<string, GivenValue>>,
  problems: string[],
): { limits: Limits; displayed: Record<string, unknown> } {
  const limits: Partial<Record<LimitName, number>> = {};
  const displayed: Record<string, unknown> = {};
  for (const [name, setting] of entriesOf(limitSettings)) {
    const flag = limitFlag(name);
    const value = given[flag]?.value ?? setting.default;
    const fault = limitFault(setting, value);
    if (fault !== undefined) problems.push(`--${flag} must be ${fault}`);
    limits[name] = parseLimit(setting, fault === undefined ? value : setting.default);
    displayed[flag] = setting.value === 'count' && fault === undefined ? Number(value) : value;
  }
  for (const { less, more, why } of limitContradictions(limits as Limits)) {
    problems.push(`--${limitFlag(less)} must be at most limits.${more}: ${why}`);
  }
  return { limits: limits as Limits, displayed };
}

/**
 * Replaces the flag at the start of a problem by its variable, or by its line in the configuration file,
 * if the setting comes from there.
 */
function withPosition(problem: string, given: Readonly<Record<string, GivenValue>>): string {
  const [named = '', flag = ''] = /^--([a-z-]+)/.exec(problem) ?? [];
  const remainder = problem.slice(named.length);
  const { position, source = 'flag' } = given[flag] ?? {};
  const isVariable = source !== 'flag' && source !== 'file';
  if (position === undefined) return isVariable ? `${source}${remainder}` : problem;
  return `${position}: ${/^(: | must )/.test(remainder) ? remainder.replace(/^:? /, '') : problem}`;
}

/** kube-apiserver's names for the minimum TLS version. */
const tlsVersions = { VersionTLS12: 'TLSv1.2', VersionTLS13: 'TLSv1.3' } as const;

function assemble(
  values: OptionValues,
  baseURL: string | undefined,
  passwordFile: string | undefined,
): Omit<Config, 'frontProxy' | 'smtpURLFile' | 'sources' | 'limits'> {
  const emailFrom = values['email-from'] ?? defaultSender(baseURL);
  return {
    baseURL,
    bindAddress: values['bind-address'],
    port: values.port,
    secure: secureConfig(values),
    store: storeConfig(values, passwordFile),
    compactionSeconds: values['etcd-compaction-interval'],
    manifests: values.manifests,
    smtpURL: values['smtp-url'],
    mockMail: values['mock-mail'],
    policyTimeZone: values['policy-time-zone'],
    deviceAuthorization: values['device-authorization'],
    allowPrivateHTTPRedirects: values['allow-private-http-redirects'],
    nameFallback: values['name-fallback'],
    emailFrom,
    keysFile: values['keys-file'],
    operators: (values.operators ?? []).map((operator) => operator.toLowerCase()),
    allowPrivateNetwork: values['allow-private-network'] ?? [],
    trustedProxies: values['trusted-proxies'] ?? [],
    inflight: {
      reads: values['max-requests-inflight'],
      changes: values['max-mutating-requests-inflight'],
    },
    shutdownDelaySeconds: values['shutdown-delay-duration'],
    limitFactor: values['limit-factor'],
    logLevel: values['log-level'],
    metricsPort: values['metrics-port'],
    auditLogPath: values['audit-log-path'],
    loggingFormat: values['logging-format'],
    displayed: {
      ...displayValues({ ...values, 'email-from': emailFrom }),
      ...(baseURL !== undefined && { 'base-url': baseURL }),
    },
  };
}

/** Returns the sender of mails where none is set: an address at the host of the base URL, if it is a name. */
function defaultSender(baseURL: string | undefined): string {
  const host = baseURL === undefined ? '' : new URL(baseURL).hostname;
  return `sign-in@${/\.[a-z][a-z0-9-]*$/.test(host) ? host : 'localhost.test'}`;
}

function secureConfig(values: OptionValues): SecureConfig | undefined {
  const port = values['secure-port'];
  if (port === undefined) return undefined;
  return {
    port,
    minVersion: tlsVersions[values['tls-min-version']],
    certFile: values['tls-cert-file'],
    keyFile: values['tls-private-key-file'],
  };
}

function storeConfig(values: OptionValues, passwordFile: string | undefined): Config['store'] {
  const servers = values['etcd-servers'] ?? [];
  if (servers.length === 0) return { type: 'embedded', directory: values['data-dir'] ?? '' };
  return {
    type: 'etcd',
    servers,
    prefix: values['etcd-prefix'],
    caFile: values['etcd-cafile'],
    certFile: values['etcd-certfile'],
    keyFile: values['etcd-keyfile'],
    username: values['etcd-username'],
    password: values['etcd-password'],
    passwordFile,
  };
}

const displayValues = (values: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    settings
      .filter(({ flag }) => values[flag] !== undefined)
      .map(({ flag, secret, isPrivate }) => [
        flag,
        secret || isPrivate ? '***' : withoutUserinfo(values[flag]),
      ]),
  );

const withoutUserinfo = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutUserinfo);
  return typeof value === 'string' ? hideUserinfo(value) : value;
};
