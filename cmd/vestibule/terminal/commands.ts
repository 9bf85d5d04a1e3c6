import type { FlagName } from './flags.js';

/**
 * One subcommand: its usage, description and flags (some with a description of their own), and its
 * arguments for completion.
 */
export interface Subcommand {
  readonly usage: string;
  readonly about: string;
  readonly flags?: readonly (FlagName | readonly [name: FlagName, about: string])[];
  /** The values of the first argument, for completion. */
  readonly arguments?: 'subcommand' | readonly string[];
  readonly examples?: readonly string[];
  /** Runs without a service. */
  readonly isLocal?: true;
}

const serviceFlags = ['context', 'server', 'certificate-authority'] as const;
const displayFlags = ['output', 'no-headers', 'show-labels'] as const;
const selectionFlags = ['selector', 'field-selector', 'chunk-size'] as const;
const storeFlags = [
  'data-dir',
  'etcd-servers',
  'etcd-prefix',
  'etcd-cafile',
  'etcd-certfile',
  'etcd-keyfile',
  'etcd-username',
] as const;
const outputFlag = (formats: string) => ['output', formats] as const;

/** Every subcommand, in the order of the help text. */
export const subcommands: Readonly<Record<string, Subcommand>> = {
  serve: {
    usage: 'serve [settings]',
    about: 'runs the service; docs/reference/configuration.md lists its settings',
    flags: ['config'],
    examples: ['serve --config vestibule.yaml'],
    isLocal: true,
  },
  config: {
    usage: 'config check|schema [settings]',
    about:
      'checks settings as serve does and prints each with its source, or prints the JSON Schema of the configuration file',
    arguments: ['check', 'schema'],
    flags: ['config', outputFlag('yaml or json')],
    examples: ['config check --config vestibule.yaml', 'config schema > vestibule.schema.json'],
    isLocal: true,
  },
  mail: {
    usage: 'mail test ADDRESS [settings]',
    about: 'sends one mail by the mail server of the settings and prints its reply',
    arguments: ['test'],
    flags: ['config'],
    examples: ['mail test ada@example.org --config vestibule.yaml'],
    isLocal: true,
  },
  keys: {
    usage: 'keys new|add|use|drop|drop-sealing FILE',
    about: 'creates the keys that replicas share, or runs one step of a rotation',
    arguments: ['new', 'add', 'use', 'drop', 'drop-sealing'],
    examples: ['keys new keys.json', 'keys add keys.json'],
    isLocal: true,
  },
  snapshot: {
    usage: 'snapshot save|restore FILE [flags]',
    about: 'saves a store to a file, or restores it into an empty store',
    arguments: ['save', 'restore'],
    flags: [...storeFlags, 'revoke-since'],
    examples: [
      'snapshot save vestibule.snapshot --data-dir data',
      'snapshot restore vestibule.snapshot --data-dir elsewhere',
      'snapshot restore vestibule.snapshot --etcd-servers https://etcd.example.org:2379',
      'snapshot restore vestibule.snapshot --revoke-since 2025-11-01 --data-dir elsewhere',
    ],
    isLocal: true,
  },
  migrate: {
    usage: 'migrate [flags]',
    about: 'writes all objects of a store in the version of this release',
    flags: storeFlags,
    examples: ['migrate --data-dir data', 'migrate --etcd-servers https://etcd.example.org:2379'],
    isLocal: true,
  },
  epoch: {
    usage: 'epoch raise [flags]',
    about: 'ends every session, code, link and token of a store that was restored with other tools',
    arguments: ['raise'],
    flags: [...storeFlags, 'yes'],
    examples: ['epoch raise --etcd-servers https://etcd.example.org:2379'],
    isLocal: true,
  },
  policy: {
    usage: 'policy [schema|explain DECISION|prove [FILE]] [flags]',
    about:
      'prints the default policy of this release, what policies may speak of (a Cedar schema), ' +
      'or why a recorded decision was made and what would have permitted it; proves what the ' +
      'default policy, or the text of a file, promises',
    arguments: ['schema', 'explain', 'prove'],
    flags: [outputFlag('format of the schema: cedar (the default) or json'), ...serviceFlags],
    examples: ['policy', 'policy schema', 'policy schema -o json'],
    isLocal: true,
  },
  version: { usage: 'version', about: 'prints the release', isLocal: true },
  login: {
    usage: 'login URL [flags]',
    about: 'signs in with a code that you confirm in a browser',
    flags: [['context', 'name of this sign-in, the host by default'], 'certificate-authority'],
    examples: ['login https://id.example.com'],
  },
  logout: {
    usage: 'logout [flags]',
    about: 'signs out and removes the tokens',
    flags: ['context'],
  },
  whoami: { usage: 'whoami [flags]', about: 'prints who is signed in', flags: ['context'] },
  kubeconfig: {
    usage: 'kubeconfig [flags]',
    about: 'writes a kubeconfig that signs kubectl in as you',
    flags: [
      'filename',
      'context',
      ['server', 'https address of the API, if it differs from the one that you signed in to'],
      'certificate-authority',
    ],
  },
  credential: {
    usage: 'credential [flags]',
    about: 'prints a token; kubectl runs this by itself',
    flags: ['context'],
  },
  get: {
    usage: 'get TYPE [NAME...] [flags]',
    about: 'prints objects, as a table by default',
    flags: [
      ...displayFlags,
      ...selectionFlags,
      'limit',
      'ignore-not-found',
      'watch',
      'output-watch-events',
      ...serviceFlags,
    ],
    examples: ['get policies -o wide', 'get client/my-app -o yaml', 'get groups -l team=blue -w'],
  },
  watch: {
    usage: 'watch TYPE [NAME] [flags]',
    about: 'prints objects, then changes until interrupted',
    flags: [...displayFlags, ...selectionFlags, 'output-watch-events', ...serviceFlags],
    examples: ['watch policydecisions', 'watch account/~ -o json'],
  },
  create: {
    usage: 'create -f FILE [flags]',
    about: 'creates the objects of a YAML or Cedar file, or checks them',
    flags: ['filename', 'dry-run', outputFlag('json, yaml or name'), 'context'],
    examples: ['create -f rules.cedar --dry-run=server'],
  },
  import: {
    usage: 'import FILE.csv [flags]',
    about:
      'creates accounts from columns email, displayName and groups, between commas, semicolons or tabs; ' +
      '- for standard input',
    flags: ['dry-run', 'context', 'certificate-authority'],
    examples: ['import people.csv --dry-run', 'import people.csv'],
  },
  patch: {
    usage: 'patch TYPE NAME (-p PATCH | --patch-file FILE) [flags]',
    about: 'changes fields of objects by merge patch',
    flags: [
      'patch',
      'patch-file',
      'type',
      'dry-run',
      outputFlag('json, yaml or name'),
      ...serviceFlags,
    ],
    examples: ['patch group staff -p \'{"spec":{"displayName":"Staff"}}\''],
  },
  delete: {
    usage: 'delete TYPE (NAME... | -l LABELS | --all) [flags]',
    about: 'deletes objects',
    flags: [
      'all',
      'selector',
      'field-selector',
      'ignore-not-found',
      'wait',
      'dry-run',
      outputFlag('name'),
      ...serviceFlags,
    ],
    examples: ['delete group staff --dry-run=server', 'delete groups -l team=blue'],
  },
  'api-resources': {
    usage: 'api-resources [flags]',
    about: 'prints the resource types',
    flags: [outputFlag('name or wide'), 'verbs', 'no-headers', ...serviceFlags],
  },
  healthcheck: {
    usage: 'healthcheck [flags]',
    about: 'checks that a service is ready, and its issuer',
    flags: ['url', 'issuer', 'certificate-authority'],
    examples: ['healthcheck --url https://id.example.com'],
  },
  completion: {
    usage: 'completion bash|zsh|fish',
    about: 'prints a script that completes subcommands, flags and their values',
    arguments: ['bash', 'zsh', 'fish'],
    examples: ['completion bash > ~/.local/share/bash-completion/completions/vestibule'],
  },
  help: {
    usage: 'help [COMMAND]',
    about: 'prints the usage of a subcommand',
    arguments: 'subcommand',
    isLocal: true,
  },
};

/** The subcommand of the completion scripts; not in the help text. */
export const completeCommand = '__complete';

/** Returns the names of a subcommand's flags. */
export const flagNames = ({ flags = [] }: Subcommand): FlagName[] => [
  ...flags.map((flag) => (typeof flag === 'string' ? flag : flag[0])),
  'help',
];
