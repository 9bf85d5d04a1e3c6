/**
 * One flag of a subcommand; `value` is the placeholder of its value, if it takes one, and `values`
 * are those that completion proposes.
 */
export interface CommandFlag {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  readonly value?: string;
  readonly values?: readonly string[];
  readonly about: string;
}

/**
 * Every flag of the subcommands except `serve`, with kubectl's name where it has one. Store flags
 * are settings of `serve` too, with the same variables.
 */
export const flags = {
  output: {
    type: 'string',
    short: 'o',
    value: 'FORMAT',
    values: ['json', 'yaml', 'name', 'wide'],
    about: 'json, yaml, name or wide',
  },
  selector: {
    type: 'string',
    short: 'l',
    value: 'LABELS',
    about: 'label selector: a=b,c!=d,e in (f,g)',
  },
  'field-selector': {
    type: 'string',
    value: 'FIELDS',
    about: 'field selector: metadata.name=NAME, the owner, or the address of an account',
  },
  'chunk-size': {
    type: 'string',
    value: 'NUMBER',
    about: 'objects a page, 500 by default; all pages are read',
  },
  limit: { type: 'string', value: 'NUMBER', about: 'maximum number of objects' },
  watch: { type: 'boolean', short: 'w', about: 'then prints changes until interrupted' },
  'output-watch-events': {
    type: 'boolean',
    about: 'prints the event with each line: ADDED, MODIFIED or DELETED',
  },
  'no-headers': { type: 'boolean', about: 'prints no table headings' },
  'show-labels': { type: 'boolean', about: 'adds labels as the last column of a table' },
  'ignore-not-found': { type: 'boolean', about: 'a missing object is not an error' },
  all: { type: 'boolean', about: 'all objects of the type' },
  wait: {
    type: 'boolean',
    about: 'waits until each object is removed; true by default (--wait=false)',
  },
  patch: { type: 'string', short: 'p', value: 'PATCH', about: 'the patch, in JSON or YAML' },
  'patch-file': {
    type: 'string',
    value: 'FILE',
    about: 'file with the patch; - for standard input',
  },
  type: {
    type: 'string',
    value: 'TYPE',
    values: ['merge', 'json'],
    about: 'merge (RFC 7396, the default) or json (RFC 6902)',
  },
  'dry-run': {
    type: 'string',
    value: 'HOW',
    values: ['none', 'server'],
    about: 'none, or server (the default if HOW is absent): the service checks without storing',
  },
  verbs: {
    type: 'string',
    value: 'VERBS',
    about: 'only resources with all of these verbs: list,watch',
  },
  filename: {
    type: 'string',
    short: 'f',
    value: 'FILE',
    about: 'file; - for standard input or output',
  },
  context: {
    type: 'string',
    value: 'NAME',
    about: 'sign-in to use instead of the current one; also VESTIBULE_CONTEXT',
  },
  server: {
    type: 'string',
    value: 'URL',
    about: 'address of another service, used anonymously without a token',
  },
  'certificate-authority': {
    type: 'string',
    value: 'FILE',
    about: 'CA certificates that are trusted for the service, in PEM',
  },
  'data-dir': { type: 'string', value: 'FOLDER', about: 'folder of the embedded store' },
  'etcd-servers': {
    type: 'string',
    value: 'URLS',
    about: 'URLs of the etcd servers, comma-separated',
  },
  'etcd-prefix': {
    type: 'string',
    value: 'PREFIX',
    about: 'prefix of every key in etcd, /vestibule/ by default',
  },
  'etcd-cafile': { type: 'string', value: 'FILE', about: 'CA certificate of etcd' },
  'etcd-certfile': { type: 'string', value: 'FILE', about: 'client certificate for etcd' },
  'etcd-keyfile': {
    type: 'string',
    value: 'FILE',
    about: 'private key of that client certificate',
  },
  'etcd-username': {
    type: 'string',
    value: 'NAME',
    about: 'user of etcd; its password is in VESTIBULE_ETCD_PASSWORD, or in a file (…_FILE)',
  },
  config: {
    type: 'string',
    value: 'FILE',
    about: 'configuration file; also VESTIBULE_CONFIG',
  },
  'revoke-since': {
    type: 'string',
    value: 'DATE',
    about:
      'does not restore passkeys registered since this date, nor Group operators unless it ' +
      'is older and was never changed',
  },
  yes: { type: 'boolean', about: 'asks for no confirmation' },
  url: {
    type: 'string',
    value: 'URL',
    about: 'address of the service, http://127.0.0.1:8080 by default',
  },
  issuer: { type: 'string', value: 'URL', about: 'issuer that the service must have' },
  help: { type: 'boolean', short: 'h', about: 'prints the usage' },
} as const satisfies Record<string, CommandFlag>;

export type FlagName = keyof typeof flags;

/** The given values by flag. */
export type FlagValues = {
  readonly [name in FlagName]?: (typeof flags)[name]['type'] extends 'boolean' ? boolean : string;
};

/** One invocation of a subcommand: its arguments, flags and environment. */
export interface Invocation {
  readonly args: readonly string[];
  readonly flags: FlagValues;
  readonly environment: NodeJS.ProcessEnv;
}
