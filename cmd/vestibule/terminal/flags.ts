/** One flag of a word: `value` is how its value is called where it takes one. */
export interface CommandFlag {
  readonly type: 'string' | 'boolean';
  readonly short?: string;
  readonly value?: string;
  readonly about: string;
}

/**
 * Every flag of the words but those of `serve`, named as kubectl names them where it has one; those
 * of a store are settings of `serve` too, with the same variables.
 */
export const flags = {
  output: {
    type: 'string',
    short: 'o',
    value: 'FORMAT',
    about: 'json, yaml, name, wide or jsonpath=TEMPLATE',
  },
  selector: {
    type: 'string',
    short: 'l',
    value: 'LABELS',
    about: 'only objects with these labels: a=b,c!=d,e in (f,g)',
  },
  'field-selector': {
    type: 'string',
    value: 'FIELDS',
    about: 'only objects with these fields: metadata.name=NAME, or their owner',
  },
  'chunk-size': {
    type: 'string',
    value: 'NUMBER',
    about: 'objects asked for at once, 500 unless told; every page is followed',
  },
  limit: { type: 'string', value: 'NUMBER', about: 'at most so many objects' },
  watch: { type: 'boolean', short: 'w', about: 'then follows what changes, until interrupted' },
  'output-watch-events': {
    type: 'boolean',
    about: 'says of each line whether it was ADDED, MODIFIED or DELETED',
  },
  'no-headers': { type: 'boolean', about: 'leaves the headings of a table out' },
  'show-labels': { type: 'boolean', about: 'adds labels as the last column of a table' },
  'ignore-not-found': { type: 'boolean', about: 'an object that is not there is no failure' },
  all: { type: 'boolean', about: 'every object of that type' },
  wait: { type: 'boolean', about: 'waits until each is gone; true unless told (--wait=false)' },
  patch: { type: 'string', short: 'p', value: 'PATCH', about: 'the patch, in JSON or YAML' },
  'patch-file': {
    type: 'string',
    value: 'FILE',
    about: 'the file that holds the patch; - is standard input',
  },
  type: {
    type: 'string',
    value: 'TYPE',
    about: 'merge, which is the only type that the service takes (RFC 7396)',
  },
  'dry-run': { type: 'string', value: 'HOW', about: 'none, or server: all is done but kept' },
  verbs: {
    type: 'string',
    value: 'VERBS',
    about: 'only resources that take all of these verbs: list,watch',
  },
  recursive: { type: 'boolean', about: 'fields of fields too' },
  filename: {
    type: 'string',
    short: 'f',
    value: 'FILE',
    about: 'the file; - is standard input or output',
  },
  context: {
    type: 'string',
    value: 'NAME',
    about: 'a sign-in other than the one in use; so does VESTIBULE_CONTEXT',
  },
  server: {
    type: 'string',
    value: 'URL',
    about: 'asks another service, as no one: no token is sent there',
  },
  'certificate-authority': {
    type: 'string',
    value: 'FILE',
    about: 'whose certificates are trusted there, in PEM',
  },
  'data-dir': { type: 'string', value: 'FOLDER', about: 'the folder of an embedded store' },
  'etcd-servers': {
    type: 'string',
    value: 'URLS',
    about: 'addresses of etcd, with commas between',
  },
  'etcd-prefix': {
    type: 'string',
    value: 'PREFIX',
    about: 'what every key in etcd begins with, /vestibule/ unless told',
  },
  'etcd-cafile': { type: 'string', value: 'FILE', about: 'certificate authority of etcd' },
  'etcd-certfile': { type: 'string', value: 'FILE', about: 'client certificate for etcd' },
  'etcd-keyfile': { type: 'string', value: 'FILE', about: 'its private key' },
  config: {
    type: 'string',
    value: 'FILE',
    about: 'the file of settings; so does VESTIBULE_CONFIG',
  },
  'revoke-since': {
    type: 'string',
    value: 'DATE',
    about:
      'leaves out of a restore the passkeys registered since this date, and Group operators ' +
      'unless it is older and was never changed',
  },
  yes: { type: 'boolean', about: 'does not ask' },
  url: {
    type: 'string',
    value: 'URL',
    about: 'where the service is; http://127.0.0.1:8080 unless told',
  },
  issuer: { type: 'string', value: 'URL', about: 'what it has to say that it is' },
  help: { type: 'boolean', short: 'h', about: 'says how the word is used' },
} as const satisfies Record<string, CommandFlag>;

export type FlagName = keyof typeof flags;

/** What was given, by flag. */
export type FlagValues = {
  readonly [name in FlagName]?: (typeof flags)[name]['type'] extends 'boolean' ? boolean : string;
};

/** One word as it was asked for: what follows it, and where it runs. */
export interface Asked {
  readonly args: readonly string[];
  readonly flags: FlagValues;
  readonly environment: NodeJS.ProcessEnv;
}
