import { nameFallbacks } from '../../../kinds/apps/claims/name-fallback.js';
import { limitSettings } from '../../../kinds/limits/limit-settings.js';
import { limitFlag, limitPrefix } from '../../../registry/limits/limit-flag.js';
import type { LimitName, LimitSetting } from '../../../registry/limits/limit-settings.js';
import { entriesOf } from '../../../registry/schema/typed-entries.js';

/**
 * One setting: the source of its flag, its variable, its key in the configuration file, and their
 * schema and reference (docs/design/operations.md#settings).
 */
export interface Setting {
  readonly flag: string;
  readonly value: 'text' | 'number' | 'boolean' | 'list' | 'seconds' | LimitSetting['value'];
  readonly default?: string | number | boolean;
  /** The values that a text may have. */
  readonly oneOf?: readonly string[];
  /** The maximum of a number that must be whole. */
  readonly maxInteger?: number;
  /** A number or duration that must not be 0. */
  readonly isPositive?: boolean;
  /** Whether `…_FILE` (variable) and `…File` (key) may name a file with the value. */
  readonly secret?: boolean;
  /** Whether the value is hidden where settings are shown: a secret, or a person's address. */
  readonly isPrivate?: boolean;
  readonly describe: string;
  /** The limit that it sets; its key is in the section `limits` of the configuration file. */
  readonly limit?: LimitName;
}

/** Returns the environment variable of a setting. */
export const variableName = (flag: string): string =>
  `VESTIBULE_${flag.toUpperCase().replaceAll('-', '_')}`;

const camelCase = (flag: string): string =>
  flag.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());

/**
 * Returns the key of a setting in the configuration file and in the chart's values; `limits.<key>`
 * for a limit.
 */
export const settingKey = (flag: string): string =>
  flag.startsWith(limitPrefix)
    ? `limits.${camelCase(flag.slice(limitPrefix.length))}`
    : camelCase(flag);

/** A duration: a number, in seconds unless a unit follows. */
export const durationPattern = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/;

/** The path of the configuration file. The file itself cannot set it. */
export const fileSetting = {
  flag: 'config',
  value: 'text',
  describe: 'Configuration file in YAML, with settings by key. Read once at start.',
} as const satisfies Setting;

const maxPort = 65_535;

/**
 * Every setting of `vestibule serve` except limits, with kube-apiserver's name where it has one.
 */
const plainSettings = [
  {
    flag: 'base-url',
    value: 'text',
    describe:
      'The origin of every link, cookie and token, for example https://id.example.org. Defaults to http://localhost:<port> when listening on loopback.',
  },
  { flag: 'bind-address', value: 'text', default: '127.0.0.1', describe: 'Address to listen on.' },
  {
    flag: 'port',
    value: 'number',
    maxInteger: maxPort,
    default: 8080,
    describe: 'Port for plain http; 0 chooses a free one.',
  },
  {
    flag: 'secure-port',
    value: 'number',
    maxInteger: maxPort,
    describe:
      'Additional port for https; 0 chooses a free one. Not opened by default. kubectl sends ' +
      'tokens over https only.',
  },
  {
    flag: 'tls-cert-file',
    value: 'text',
    describe:
      'Certificate chain for the secure port in PEM. By default the service generates a ' +
      'self-signed certificate in the data folder: tls.crt, tls.key. Reloaded when the file ' +
      'changes.',
  },
  {
    flag: 'tls-private-key-file',
    value: 'text',
    describe:
      'Private key of that certificate in PEM. Other users of the machine must not be able to read it.',
  },
  {
    flag: 'tls-min-version',
    value: 'text',
    oneOf: ['VersionTLS12', 'VersionTLS13'],
    default: 'VersionTLS12',
    describe: 'Minimum TLS version: VersionTLS12 or VersionTLS13.',
  },
  {
    flag: 'requestheader-client-ca-file',
    value: 'text',
    describe:
      'CA certificates (PEM) of the trusted front proxies, such as kube-apiserver. Identity ' +
      'headers are accepted on the secure port only with a client certificate of these CAs, ' +
      'and ignored when unset. Reloaded when the file changes.',
  },
  {
    flag: 'requestheader-allowed-names',
    value: 'list',
    describe: 'Allowed common names of those client certificates; if empty, any name.',
  },
  {
    flag: 'requestheader-username-headers',
    value: 'list',
    default: 'x-remote-user',
    describe: 'Headers with the username; the first that is present is used.',
  },
  {
    flag: 'requestheader-group-headers',
    value: 'list',
    default: 'x-remote-group',
    describe: 'Headers with the groups, one group a header.',
  },
  {
    flag: 'requestheader-extra-headers-prefix',
    value: 'list',
    default: 'x-remote-extra-',
    describe: 'Prefixes of headers with extra attributes of the user.',
  },
  {
    flag: 'requestheader-uid-headers',
    value: 'list',
    describe:
      'Headers with the uid of the user, such as x-remote-uid. Set it only if the front ' +
      'proxy sends them: kube-apiserver 1.32 and later.',
  },
  {
    flag: 'authentication-skip-lookup',
    value: 'boolean',
    default: true,
    describe:
      'If false, the requestheader settings come from ConfigMap ' +
      'kube-system/extension-apiserver-authentication and follow its changes. Works only in ' +
      'a pod.',
  },
  {
    flag: 'data-dir',
    value: 'text',
    describe:
      'Folder of the embedded store, and of the keys and the certificate that the first start generates.',
  },
  {
    flag: 'etcd-servers',
    value: 'list',
    describe: 'URLs of the etcd servers to use instead of the embedded store.',
  },
  {
    flag: 'etcd-prefix',
    value: 'text',
    default: '/vestibule/',
    describe: 'Prefix of every key in etcd.',
  },
  { flag: 'etcd-cafile', value: 'text', describe: 'CA certificate of etcd in PEM.' },
  {
    flag: 'etcd-certfile',
    value: 'text',
    describe:
      'Client certificate for etcd in PEM; requires etcd-keyfile. The service reconnects ' +
      'when the CA, the certificate or the key changes.',
  },
  {
    flag: 'etcd-keyfile',
    value: 'text',
    describe: 'Private key of that client certificate in PEM.',
  },
  {
    flag: 'etcd-username',
    value: 'text',
    describe:
      'User of etcd; requires etcd-password. Without it, etcd takes the common name of the client ' +
      'certificate, if it asks for a user.',
  },
  {
    flag: 'etcd-password',
    value: 'text',
    secret: true,
    describe: 'Password of that user. The service reconnects when its file changes.',
  },
  {
    flag: 'etcd-compaction-interval',
    value: 'seconds',
    isPositive: true,
    default: '5m',
    describe: 'Minimum age of history before compaction; applies to both stores.',
  },
  {
    flag: 'manifests',
    value: 'text',
    describe:
      'Folder of YAML files with Clients, ClaimsProviders, Audiences, Groups, the Appearance and at ' +
      'most one Policy. They are applied at the start and whenever a file changes; an object that no ' +
      'file declares any more is deleted.',
  },
  {
    flag: 'smtp-url',
    value: 'text',
    secret: true,
    describe:
      'URL of the mail server, smtp://user:password@host:port or smtps://…. A file is reloaded when it changes.',
  },
  {
    flag: 'mock-mail',
    value: 'boolean',
    default: false,
    describe:
      'Keep mails in the mock mailbox instead of sending them. Anyone who can reach the ' +
      'service can read the mailbox, so requests must name the host of the base URL or ' +
      'loopback.',
  },
  {
    flag: 'allow-mock-mail',
    value: 'boolean',
    default: false,
    describe: 'Allow mock mail with etcd or a public base URL.',
  },
  {
    flag: 'email-from',
    value: 'text',
    describe: 'Sender address of all mail. Defaults to sign-in@<host of the base URL>.',
  },
  {
    flag: 'keys-file',
    value: 'text',
    describe:
      'File of cookie, signing and sealing keys. Generated in the data folder for the ' +
      'embedded store, required with etcd. Reloaded when the file changes.',
  },
  {
    flag: 'operators',
    value: 'list',
    isPrivate: true,
    describe: 'Email addresses of the operators, used until Group operators has members.',
  },
  {
    flag: 'policy-time-zone',
    value: 'text',
    default: 'UTC',
    describe:
      'Time zone of timeOfDay and weekday in policies, by its name in the IANA database, such as ' +
      'Europe/Berlin.',
  },
  {
    flag: 'device-authorization',
    value: 'boolean',
    default: true,
    describe:
      'If false, the device flow (RFC 8628) is off: neither the command nor other devices ' +
      'can sign in. Existing sign-ins stay valid until signed out.',
  },
  {
    flag: 'name-fallback',
    value: 'text',
    default: 'LocalPart',
    oneOf: nameFallbacks,
    describe:
      'What apps that get the address get as name and preferred_username of a person without one: ' +
      'LocalPart (of the address), Email or Absent.',
  },
  {
    flag: 'allow-private-network',
    value: 'list',
    describe: 'Private networks (CIDR) that outbound requests may reach.',
  },
  {
    flag: 'allow-private-http-redirects',
    value: 'boolean',
    default: false,
    describe:
      'Redirect URIs of Clients may be http in private networks: RFC 1918 and RFC 4193 addresses, ' +
      '.local and .home.arpa.',
  },
  {
    flag: 'trusted-proxies',
    value: 'list',
    describe: 'Networks (CIDR) of the proxies whose X-Forwarded-For header is trusted.',
  },
  {
    flag: 'max-requests-inflight',
    value: 'number',
    isPositive: true,
    default: 400,
    describe: 'Maximum number of concurrent read-only requests.',
  },
  {
    flag: 'max-mutating-requests-inflight',
    value: 'number',
    isPositive: true,
    default: 200,
    describe: 'Maximum number of concurrent mutating requests.',
  },
  {
    flag: 'shutdown-delay-duration',
    value: 'seconds',
    default: '0s',
    describe: 'How long to keep serving after SIGTERM while readiness fails.',
  },
  {
    flag: 'limit-factor',
    value: 'number',
    isPositive: true,
    default: 1,
    describe: 'Multiplies every rate limit on requests and mails; for load tests.',
  },
  {
    flag: 'metrics-port',
    value: 'number',
    maxInteger: maxPort,
    describe:
      'Port for /metrics and /configz, plain http on the bind address; 0 chooses a free one. ' +
      'Not opened by default. Expose it to the monitoring network only.',
  },
  {
    flag: 'audit-log-path',
    value: 'text',
    describe:
      'File for audit events, one JSON line each, or - for standard output. Off by default. ' +
      'Only this log contains the network addresses of callers. SIGHUP reopens the file.',
  },
  {
    flag: 'logging-format',
    value: 'text',
    oneOf: ['json', 'text'],
    default: 'json',
    describe: 'Log format: json or text.',
  },
  {
    flag: 'log-level',
    value: 'text',
    oneOf: ['debug', 'info', 'warn', 'error', 'silent'],
    default: 'info',
    describe: 'Log level: debug, info, warn, error or silent.',
  },
] as const satisfies readonly Setting[];

/** Every limit as a setting. */
const limits = entriesOf<Record<LimitName, LimitSetting>>(limitSettings).map(
  ([limit, { value, default: fallback, min, max, describe }]): Setting => ({
    flag: limitFlag(limit),
    limit,
    value,
    default: fallback,
    describe: `${describe} From ${min} to ${max}.`,
  }),
);

/** Every setting of `vestibule serve`. */
export const settings: readonly Setting[] = [...plainSettings, ...limits];

type PlainSetting = (typeof plainSettings)[number];
type ValueOf<S extends Setting> = S extends { oneOf: readonly (infer Choice)[] }
  ? Choice
  : { text: string; number: number; seconds: number; boolean: boolean; list: string[] }[Extract<
      S['value'],
      'text' | 'number' | 'seconds' | 'boolean' | 'list'
    >];

/** The value of every setting except limits, by flag; one without a default may be absent. */
export type OptionValues = {
  [S in PlainSetting as S extends { default: unknown } ? S['flag'] : never]: ValueOf<S>;
} & { [S in PlainSetting as S extends { default: unknown } ? never : S['flag']]?: ValueOf<S> };
