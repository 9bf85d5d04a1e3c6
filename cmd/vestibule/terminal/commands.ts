import type { FlagName } from './flags.js';

/**
 * One subcommand: its usage, description and flags (some with a description of their own), and its
 * arguments for completion.
 */
export interface Word {
  readonly usage: string;
  readonly about: string;
  readonly flags?: readonly (FlagName | readonly [name: FlagName, about: string])[];
  /** The type of the arguments, for completion. */
  readonly takes?: 'objects' | 'type' | 'word' | readonly string[];
  readonly examples?: readonly string[];
  /** Runs without a service. */
  readonly local?: true;
}

const place = ['context', 'server', 'certificate-authority'] as const;
const shown = ['output', 'no-headers', 'show-labels'] as const;
const chosen = ['selector', 'field-selector', 'chunk-size'] as const;
const store = [
  'data-dir',
  'etcd-servers',
  'etcd-prefix',
  'etcd-cafile',
  'etcd-certfile',
  'etcd-keyfile',
] as const;
const output = (formats: string) => ['output', formats] as const;

/** Every subcommand, in the order of the help text. */
export const words: Readonly<Record<string, Word>> = {
  serve: {
    usage: 'serve [settings]',
    about: 'runs the service; docs/reference/configuration.md lists its settings',
    flags: ['config'],
    examples: ['serve --config vestibule.yaml'],
    local: true,
  },
  config: {
    usage: 'config check|schema [settings]',
    about:
      'checks settings as serve does and prints each with its source, or prints the JSON Schema of the configuration file',
    takes: ['check', 'schema'],
    flags: ['config', output('yaml or json')],
    examples: ['config check --config vestibule.yaml', 'config schema > vestibule.schema.json'],
    local: true,
  },
  keys: {
    usage: 'keys new|add|use|drop|drop-sealing FILE',
    about: 'creates the keys that replicas share, or runs one step of a rotation',
    takes: ['new', 'add', 'use', 'drop', 'drop-sealing'],
    examples: ['keys new keys.json', 'keys add keys.json'],
    local: true,
  },
  snapshot: {
    usage: 'snapshot save|restore FILE [flags]',
    about: 'saves a store to a file, or restores it into an empty store',
    takes: ['save', 'restore'],
    flags: [...store, 'revoke-since'],
    examples: [
      'snapshot save vestibule.snapshot --data-dir data',
      'snapshot restore vestibule.snapshot --data-dir elsewhere',
      'snapshot restore vestibule.snapshot --etcd-servers https://etcd.example.org:2379',
      'snapshot restore vestibule.snapshot --revoke-since 2025-11-01 --data-dir elsewhere',
    ],
    local: true,
  },
  epoch: {
    usage: 'epoch raise [flags]',
    about: 'ends every session, code, link and token of a store that was restored with other tools',
    takes: ['raise'],
    flags: [...store, 'yes'],
    examples: ['epoch raise --etcd-servers https://etcd.example.org:2379'],
    local: true,
  },
  policy: { usage: 'policy', about: 'prints the default policy of this release', local: true },
  version: { usage: 'version', about: 'prints the release', local: true },
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
    takes: 'objects',
    flags: [
      ...shown,
      ...chosen,
      'limit',
      'ignore-not-found',
      'watch',
      'output-watch-events',
      ...place,
    ],
    examples: [
      'get policies -o wide',
      'get client/my-app -o yaml',
      'get groups -l team=blue -w',
      'get groups -o jsonpath=\'{range .items[*]}{.metadata.name}{"\\n"}{end}\'',
    ],
  },
  watch: {
    usage: 'watch TYPE [NAME] [flags]',
    about: 'prints objects, then changes until interrupted',
    takes: 'objects',
    flags: [...shown, ...chosen, 'output-watch-events', ...place],
    examples: ['watch policydecisions', 'watch account/~ -o json'],
  },
  create: {
    usage: 'create -f FILE [flags]',
    about: 'creates the objects of a YAML or Cedar file, or checks them',
    flags: ['filename', 'dry-run', output('json or yaml'), 'context'],
    examples: ['create -f rules.cedar --dry-run=server'],
  },
  patch: {
    usage: 'patch TYPE NAME (-p PATCH | --patch-file FILE) [flags]',
    about: 'changes fields of objects by merge patch',
    takes: 'objects',
    flags: [
      'patch',
      'patch-file',
      'type',
      'dry-run',
      output('json, yaml, name or jsonpath=TEMPLATE'),
      ...place,
    ],
    examples: ['patch group staff -p \'{"spec":{"displayName":"Staff"}}\''],
  },
  delete: {
    usage: 'delete TYPE (NAME... | -l LABELS | --all) [flags]',
    about: 'deletes objects',
    takes: 'objects',
    flags: [
      'all',
      'selector',
      'field-selector',
      'ignore-not-found',
      'wait',
      'dry-run',
      output('name'),
      ...place,
    ],
    examples: ['delete group staff --dry-run=server', 'delete groups -l team=blue'],
  },
  'api-resources': {
    usage: 'api-resources [flags]',
    about: 'prints the resource types',
    flags: [output('name or wide'), 'verbs', 'no-headers', ...place],
  },
  explain: {
    usage: 'explain TYPE[.FIELD...] [flags]',
    about: 'describes a type and its fields',
    takes: 'type',
    flags: ['recursive', ...place],
    examples: ['explain interaction.status'],
  },
  healthcheck: {
    usage: 'healthcheck [flags]',
    about: 'checks that a service is ready, and its issuer',
    flags: ['url', 'issuer', 'certificate-authority'],
    examples: ['healthcheck --url https://id.example.com'],
  },
  completion: {
    usage: 'completion bash|zsh|fish',
    about: 'prints a script that completes subcommands, types and names',
    takes: ['bash', 'zsh', 'fish'],
    examples: ['completion bash > ~/.local/share/bash-completion/completions/vestibule'],
  },
  help: {
    usage: 'help [COMMAND]',
    about: 'prints the usage of a subcommand',
    takes: 'word',
    local: true,
  },
};

/** The subcommand of the completion scripts; not in the help text. */
export const hidden = '__complete';

/** Returns the names of a subcommand's flags. */
export const flagsOf = ({ flags = [] }: Word): FlagName[] => [
  ...flags.map((one) => (typeof one === 'string' ? one : one[0])),
  'help',
];
