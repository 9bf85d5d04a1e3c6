import {
  limitSettings,
  type LimitName,
  type LimitSetting,
} from '../../../registry/limit-settings.js';

/**
 * One setting, the one source of its flag, its variable, its key in a file of settings, their
 * schema and reference (docs/design/operations.md#settings).
 */
export interface Setting {
  readonly flag: string;
  readonly value: 'text' | 'number' | 'boolean' | 'list' | 'seconds' | LimitSetting['value'];
  readonly default?: string | number | boolean;
  /** All that a text may be. */
  readonly oneOf?: readonly string[];
  /** A number that is whole and no more than this. */
  readonly wholeTo?: number;
  /** A number or duration that is not 0. */
  readonly positive?: boolean;
  /**
   * Its variable has a form `…_FILE`, and its key a form `…File`, which name a file that holds it.
   */
  readonly secret?: boolean;
  /** Not shown to anyone who may look at the settings: a secret, or someone's address. */
  readonly private?: boolean;
  readonly describe: string;
  /** The limit that it sets: its key stands in the section `limits` of the file. */
  readonly limit?: LimitName;
}

/** The variable of a setting. */
export const variableOf = (flag: string): string =>
  `VESTIBULE_${flag.toUpperCase().replaceAll('-', '_')}`;

const inCamelCase = (flag: string): string =>
  flag.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase());

/** What the flag of every limit begins with. */
const limitPrefix = 'limits-';

/**
 * The key of a setting in a file of settings, and among the values of the chart: `limits.<key>` of
 * a limit.
 */
export const keyOf = (flag: string): string =>
  flag.startsWith(limitPrefix)
    ? `limits.${inCamelCase(flag.slice(limitPrefix.length))}`
    : inCamelCase(flag);

/** The flag of a limit. */
export const flagOfLimit = (name: LimitName): string =>
  limitPrefix + name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** How a duration is written: a number, of seconds unless a unit follows it. */
export const duration = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/;

/** Where the file of settings is; it cannot name another. */
export const fileSetting = {
  flag: 'config',
  value: 'text',
  describe: 'File of settings in YAML, by their keys. Read once, at the start.',
} as const satisfies Setting;

const port = 65_535;

/**
 * Every setting of `vestibule serve` but the limits, named after kube-apiserver's where one exists.
 */
const plainSettings = [
  {
    flag: 'base-url',
    value: 'text',
    describe:
      'The origin of every link, cookie and token, for example https://id.example.org. With a ' +
      'loopback port and none given, http://localhost:<port>.',
  },
  { flag: 'bind-address', value: 'text', default: '127.0.0.1', describe: 'Address to listen on.' },
  {
    flag: 'port',
    value: 'number',
    wholeTo: port,
    default: 8080,
    describe: 'Port for plain http; 0 takes a free one.',
  },
  {
    flag: 'secure-port',
    value: 'number',
    wholeTo: port,
    describe:
      'Port for https, beside the other; 0 takes a free one. None is opened by default. kubectl ' +
      'sends tokens over https alone.',
  },
  {
    flag: 'tls-cert-file',
    value: 'text',
    describe:
      'Certificate for the secure port in PEM, with what leads to its authority. Without one, ' +
      'the service makes its own and keeps it in the data folder: tls.crt, tls.key. Watched, and ' +
      'taken over as it changes.',
  },
  {
    flag: 'tls-private-key-file',
    value: 'text',
    describe: 'Its private key, which not everybody on the machine may read.',
  },
  {
    flag: 'tls-min-version',
    value: 'text',
    oneOf: ['VersionTLS12', 'VersionTLS13'],
    default: 'VersionTLS12',
    describe: 'VersionTLS12 or VersionTLS13.',
  },
  {
    flag: 'requestheader-client-ca-file',
    value: 'text',
    describe:
      'Authorities (PEM) of the front proxies of a cluster: anyone who shows a certificate of ' +
      'theirs for clients on the secure port says in headers who a caller is. Watched, and taken ' +
      'over as it changes. Without it, such headers are always ignored.',
  },
  {
    flag: 'requestheader-allowed-names',
    value: 'list',
    describe: 'Common names such a certificate may have; without any, every name.',
  },
  {
    flag: 'requestheader-username-headers',
    value: 'list',
    default: 'x-remote-user',
    describe: 'Headers with the name of the user; the first that is there counts.',
  },
  {
    flag: 'requestheader-group-headers',
    value: 'list',
    default: 'x-remote-group',
    describe: 'Headers with a group each, repeated.',
  },
  {
    flag: 'requestheader-extra-headers-prefix',
    value: 'list',
    default: 'x-remote-extra-',
    describe: 'What headers begin with that say more about the user.',
  },
  {
    flag: 'requestheader-uid-headers',
    value: 'list',
    describe:
      'Headers with the uid of the user, such as x-remote-uid, where the front proxy is one that ' +
      'sets them: kube-apiserver 1.32 and later.',
  },
  {
    flag: 'authentication-skip-lookup',
    value: 'boolean',
    default: true,
    describe:
      'With false, in a pod of a cluster: all of these come from its ConfigMap ' +
      'kube-system/extension-apiserver-authentication instead, and are followed as they change.',
  },
  {
    flag: 'data-dir',
    value: 'text',
    describe: 'Folder of the embedded store, and of keys and the certificate made at first start.',
  },
  {
    flag: 'etcd-servers',
    value: 'list',
    describe: 'Addresses of etcd, in place of the embedded store.',
  },
  {
    flag: 'etcd-prefix',
    value: 'text',
    default: '/vestibule/',
    describe: 'What every key in etcd begins with.',
  },
  { flag: 'etcd-cafile', value: 'text', describe: 'Certificate authority of etcd.' },
  {
    flag: 'etcd-certfile',
    value: 'text',
    describe:
      'Client certificate for etcd, given with its key. It, its key and the authority are ' +
      'watched: as they change, etcd is connected to again.',
  },
  { flag: 'etcd-keyfile', value: 'text', describe: 'Its private key.' },
  {
    flag: 'etcd-compaction-interval',
    value: 'seconds',
    positive: true,
    default: '5m',
    describe: 'History kept at least so long; steers both stores.',
  },
  {
    flag: 'manifests',
    value: 'text',
    describe:
      'Folder of YAML files of Clients, ClaimsProviders, Groups and one Policy, applied at start.',
  },
  {
    flag: 'smtp-url',
    value: 'text',
    secret: true,
    describe:
      'Mail server, smtp://user:password@host:port or smtps://…. Its file is watched, and taken over as it changes.',
  },
  {
    flag: 'mock-mail',
    value: 'boolean',
    default: false,
    describe:
      'Keep mails in the mock mailbox instead of sending them. Only the host of the base URL and ' +
      'loopback are answered then: anyone who reaches the service may read the mailbox.',
  },
  {
    flag: 'allow-mock-mail',
    value: 'boolean',
    default: false,
    describe: 'Permit mock mail with etcd or a public base URL.',
  },
  { flag: 'email-from', value: 'text', describe: 'Sender of all mail.' },
  {
    flag: 'keys-file',
    value: 'text',
    describe:
      'Cookie, signing and sealing keys; made in the data folder for the embedded store, ' +
      'required with etcd. Watched, and taken over as it changes.',
  },
  {
    flag: 'operators',
    value: 'list',
    private: true,
    describe:
      'Addresses of the people who run this service, for as long as Group operators lists no one.',
  },
  {
    flag: 'device-authorization',
    value: 'boolean',
    default: true,
    describe:
      'With false, neither the command nor any device can be connected (RFC 8628); what is ' +
      'connected stays so until it is signed out.',
  },
  {
    flag: 'allow-private-network',
    value: 'list',
    describe: 'Networks (CIDR) that outbound calls may reach although they are private.',
  },
  {
    flag: 'trusted-proxies',
    value: 'list',
    describe: 'Networks (CIDR) whose X-Forwarded-For counts.',
  },
  {
    flag: 'max-requests-inflight',
    value: 'number',
    positive: true,
    default: 400,
    describe: 'Reads at once.',
  },
  {
    flag: 'max-mutating-requests-inflight',
    value: 'number',
    positive: true,
    default: 200,
    describe: 'Changes at once.',
  },
  {
    flag: 'shutdown-delay-duration',
    value: 'seconds',
    default: '0s',
    describe: 'How long to go on serving, unready, after SIGTERM.',
  },
  {
    flag: 'limit-factor',
    value: 'number',
    positive: true,
    default: 1,
    describe: 'Multiplies every rate limit on requests and mails; for load tests.',
  },
  {
    flag: 'metrics-port',
    value: 'number',
    wholeTo: port,
    describe:
      'Port for /metrics and /configz, plain http on the bind address, for the monitoring ' +
      'network alone; 0 takes a free one. None is opened by default.',
  },
  {
    flag: 'audit-log-path',
    value: 'text',
    describe:
      'File that audit events are added to, a JSON line each, or - for standard output; none by ' +
      'default. It alone holds callers’ network addresses. SIGHUP opens it again.',
  },
  {
    flag: 'logging-format',
    value: 'text',
    oneOf: ['json', 'text'],
    default: 'json',
    describe: 'json, or text for people.',
  },
  {
    flag: 'log-level',
    value: 'text',
    oneOf: ['debug', 'info', 'warn', 'error', 'silent'],
    default: 'info',
    describe: 'debug, info, warn, error or silent.',
  },
] as const satisfies readonly Setting[];

/** Every limit as a setting. */
const limits = (Object.entries(limitSettings) as [LimitName, LimitSetting][]).map(
  ([limit, { value, default: fallback, min: least, max, describe }]): Setting => ({
    flag: flagOfLimit(limit),
    limit,
    value,
    default: fallback,
    describe: `${describe} From ${least} to ${max}.`,
  }),
);

/** Every setting of `vestibule serve`. */
export const settings: readonly Setting[] = [...plainSettings, ...limits];

export type ServeFlag = (typeof plainSettings)[number]['flag'];
