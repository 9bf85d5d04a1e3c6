import type { FlagName } from './flags.js';

/**
 * One word of the command: how it is written, what it is for, which flags it takes (some with a
 * meaning of its own), what may be typed after it.
 */
export interface Word {
  readonly usage: string;
  readonly about: string;
  readonly flags?: readonly (FlagName | readonly [name: FlagName, about: string])[];
  /** What the arguments are, for completion. */
  readonly takes?: 'objects' | 'type' | 'word' | readonly string[];
  readonly examples?: readonly string[];
  /** Answered without a service. */
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

/** Every word, in the order in which help lists them. */
export const words: Readonly<Record<string, Word>> = {
  serve: {
    usage: 'serve [settings]',
    about: 'runs the service; its settings are in docs/reference/configuration.md',
    flags: ['config'],
    examples: ['serve --config vestibule.yaml'],
    local: true,
  },
  config: {
    usage: 'config check|schema [settings]',
    about:
      'reads settings as serve does and prints each with its source, or prints the JSON Schema of a file of them',
    takes: ['check', 'schema'],
    flags: ['config', output('yaml or json')],
    examples: ['config check --config vestibule.yaml', 'config schema > vestibule.schema.json'],
    local: true,
  },
  keys: {
    usage: 'keys new|add|use|drop|drop-sealing FILE',
    about: 'makes the keys that replicas share, or takes one step of changing them',
    takes: ['new', 'add', 'use', 'drop', 'drop-sealing'],
    examples: ['keys new keys.json', 'keys add keys.json'],
    local: true,
  },
  snapshot: {
    usage: 'snapshot save|restore FILE [flags]',
    about: 'saves what a store holds, or makes a store of what was saved',
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
    about:
      'ends every session, code, link and token that a store knows, once it was restored by other means',
    takes: ['raise'],
    flags: [...store, 'yes'],
    examples: ['epoch raise --etcd-servers https://etcd.example.org:2379'],
    local: true,
  },
  policy: { usage: 'policy', about: 'prints the policy this release comes with', local: true },
  version: { usage: 'version', about: 'prints the release', local: true },
  login: {
    usage: 'login URL [flags]',
    about: 'signs in by a code that is confirmed in a browser',
    flags: [
      ['context', 'what to call this sign-in; the host unless told'],
      'certificate-authority',
    ],
    examples: ['login https://id.example.com'],
  },
  logout: { usage: 'logout [flags]', about: 'ends that sign-in', flags: ['context'] },
  whoami: { usage: 'whoami [flags]', about: 'prints who is signed in', flags: ['context'] },
  kubeconfig: {
    usage: 'kubeconfig [flags]',
    about: 'writes what kubectl needs to be signed in as you',
    flags: [
      'filename',
      'context',
      ['server', 'the https address of the API, where it is not the one signed in at'],
      'certificate-authority',
    ],
  },
  credential: {
    usage: 'credential [flags]',
    about: 'prints a token for kubectl, which asks for it by itself',
    flags: ['context'],
  },
  get: {
    usage: 'get TYPE [NAME...] [flags]',
    about: 'prints objects, as a table unless told',
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
    about: 'prints objects, then what changes, until interrupted',
    takes: 'objects',
    flags: [...shown, ...chosen, 'output-watch-events', ...place],
    examples: ['watch policydecisions', 'watch account/~ -o json'],
  },
  create: {
    usage: 'create -f FILE [flags]',
    about: 'creates what a file of YAML or Cedar holds, or tries it',
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
    about: 'prints what types there are',
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
    about: 'asks a service whether it is ready and who it is',
    flags: ['url', 'issuer', 'certificate-authority'],
    examples: ['healthcheck --url https://id.example.com'],
  },
  completion: {
    usage: 'completion bash|zsh|fish',
    about: 'prints a script that completes words, types and names',
    takes: ['bash', 'zsh', 'fish'],
    examples: ['completion bash > ~/.local/share/bash-completion/completions/vestibule'],
  },
  help: { usage: 'help [WORD]', about: 'says how a word is used', takes: 'word', local: true },
};

/** Asked by the scripts of `completion`, not by people. */
export const hidden = '__complete';

/** The names of a word's flags. */
export const flagsOf = ({ flags = [] }: Word): FlagName[] => [
  ...flags.map((one) => (typeof one === 'string' ? one : one[0])),
  'help',
];
