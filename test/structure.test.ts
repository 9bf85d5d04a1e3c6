import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { group } from '../kinds/api-version.js';

const root = join(import.meta.dirname, '..');

/** Which folders each folder may import (docs/architecture.md); a path stands for itself and what is below it. */
const mayImport = {
  security: ['security'],
  i18n: ['i18n', 'security'],
  observability: ['observability'],
  storage: ['storage'],
  registry: [
    'registry',
    'storage/storage',
    'storage/generation-cache',
    'observability',
    'security',
  ],
  apiserver: [
    'apiserver',
    'registry',
    'storage/storage',
    'storage/open-storage',
    'storage/compactor',
    'storage/epoch',
    'observability',
    'security',
  ],
  mail: ['mail', 'i18n', 'registry', 'observability', 'security'],
  kinds: ['kinds', 'mail', 'i18n', 'registry', 'observability', 'security'],
  policy: ['policy', 'kinds', 'i18n', 'registry', 'observability', 'security'],
  provider: [
    'provider',
    'kinds',
    'i18n',
    'registry',
    'storage/storage',
    'observability',
    'security',
  ],
  cmd: [
    'cmd',
    'apiserver',
    'registry',
    'storage',
    'kinds',
    'policy',
    'provider',
    'mail',
    'observability',
    'security',
    'csv',
  ],
  csv: ['csv'],
  ui: ['ui', 'csv', 'kinds/appearance/contrast', 'kinds/appearance/palette'],
} satisfies Record<string, readonly string[]>;

type Folder = keyof typeof mayImport;

/** npm packages that one place alone may import. */
const fenced: Record<string, readonly string[]> = {
  etcd3: ['storage/etcd'],
  '@grpc/grpc-js': ['storage/etcd'],
  cockatiel: ['storage/etcd'],
  'classic-level': ['storage/embedded'],
  ajv: ['registry/schema'],
  'ajv-formats': ['registry/schema'],
  'zod-to-json-schema': ['registry/schema'],
  express: ['apiserver'],
  'cookie-parser': ['apiserver'],
  'oidc-provider': ['provider'],
  nodemailer: ['mail'],
  'csv-parse': ['cmd/vestibule/client/import-file', 'ui/console/people/import-file'],
  'json-merge-patch': ['apiserver/codec/merge-patch'],
  preact: ['ui'],
  pino: ['observability/log'],
  'prom-client': ['observability/metrics/api-server-metrics'],
  '@cedar-policy/cedar-wasm': ['policy'],
  '@simplewebauthn/server': ['kinds/people/passkey'],
  '@peculiar/x509': ['cmd/vestibule/serve/tls/self-signed-certificate'],
  '@simplewebauthn/browser': ['ui/base/passkeys/webauthn'],
};

const files = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) {
      return ['node_modules', 'dist', 'data', 'test', 'hack', 'deploy', 'docs', '.git'].includes(
        name,
      )
        ? []
        : files(path);
    }
    return /\.tsx?$/.test(name) && !/\.(gen|d)\.tsx?$/.test(name) ? [path] : [];
  });

/** The TypeScript files of the tests, by their path below the folder. */
const testFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && !path.includes('node_modules'),
  );

interface Source {
  path: string;
  folder: string;
  text: string;
  imports: { path: string; local: boolean; typeOnly: boolean }[];
}

const importing =
  /(?:^|\n)\s*(?:import|export)\s+(type\s)?(?:[^'"`;]*?from\s+)?['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)/g;

const sources: Source[] = files(root).map((file) => {
  const path = relative(root, file);
  const text = readFileSync(file, 'utf8');
  const imports = [...text.matchAll(importing)].map(([, typeOnly, from, late]) => {
    const target = (from ?? late)!;
    const local = target.startsWith('.');
    return {
      path: local ? normalize(join(dirname(path), target)).replace(/\.(jsx?|tsx?)$/, '') : target,
      local,
      typeOnly: typeOnly !== undefined,
    };
  });
  return { path, folder: path.split('/')[0]!, text, imports };
});

const importingAtOnce =
  /(?:^|\n)\s*(?:import|export)\s+(?!type\s)(?:[^'"`;(]*?from\s+)?['"]([^'"]+)['"]/g;

/** What is loaded together with a file. */
function importedAtOnce(path: string): string[] {
  const source = sources.find((source) => source.path.replace(/\.tsx?$/, '') === path);
  return [...(source?.text.matchAll(importingAtOnce) ?? [])].map(([, target]) =>
    target!.startsWith('.')
      ? normalize(join(dirname(path), target!)).replace(/\.jsx?$/, '')
      : target!,
  );
}

const within = (path: string, place: string): boolean =>
  place === '.' ? !path.includes('/') : path === place || path.startsWith(`${place}/`);
const packageOf = (name: string): string =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');

/** What each file of the product imports of it, types counted; without extensions. */
const imported = new Map(
  sources.map(({ path, imports }) => [
    path.replace(/\.tsx?$/, ''),
    imports.filter(({ local }) => local).map((one) => one.path),
  ]),
);

/** Returns the nodes of each circle of a graph, sorted and joined, once each. */
function circlesOf(graph: ReadonlyMap<string, Iterable<string>>): string[] {
  const reachedFrom = (start: string): Set<string> => {
    const reached = new Set(graph.get(start));
    for (const one of reached) for (const next of graph.get(one) ?? []) reached.add(next);
    return reached;
  };
  const reached = new Map([...graph.keys()].map((node) => [node, reachedFrom(node)]));
  const circles = [...reached].flatMap(([node, others]) =>
    others.has(node) ? [[...others].filter((other) => reached.get(other)?.has(node)).sort()] : [],
  );
  return [...new Set(circles.map((circle) => circle.join(' ')))].sort();
}

/** Returns which folders and files directly in `parent` import each other. */
function importsWithin(parent: string): Map<string, Set<string>> {
  const depth = parent === '' ? 1 : parent.split('/').length + 1;
  const childOf = (path: string): string | undefined =>
    parent === '' || path.startsWith(`${parent}/`)
      ? path.split('/').slice(0, depth).join('/')
      : undefined;
  const graph = new Map<string, Set<string>>();
  for (const [path, others] of imported) {
    for (const other of others) {
      const [from, to] = [childOf(path), childOf(other)];
      if (from === undefined || to === undefined || from === to) continue;
      graph.set(from, (graph.get(from) ?? new Set()).add(to));
    }
  }
  return graph;
}

describe('the structure', () => {
  test('every file of the product is in a folder that has its rule', () => {
    const folders = new Set(sources.map(({ folder }) => folder));
    expect([...folders].sort()).toEqual(Object.keys(mayImport).sort());
  });

  test('folders import only what they may', () => {
    const wrong = sources.flatMap(({ path, folder, imports }) =>
      imports
        .filter(
          (one) =>
            one.local && !mayImport[folder as Folder].some((place) => within(one.path, place)),
        )
        .map((one) => `${path} imports ${one.path}`),
    );
    expect(wrong).toEqual([]);
  });

  const core = sources.filter(({ folder }) =>
    ['apiserver', 'registry', 'storage'].includes(folder),
  );

  test('the core of the API server knows no kind and no name of this service', () => {
    const others = ['kinds', 'provider', 'policy', 'mail', 'i18n', 'cmd', 'ui'];
    expect(core.length).toBeGreaterThan(100);
    expect(
      core.flatMap(({ path, imports }) =>
        imports
          .filter((one) => one.local && others.some((place) => within(one.path, place)))
          .map((one) => `${path} imports ${one.path}`),
      ),
    ).toEqual([]);
    expect(core.filter(({ text }) => text.includes(group)).map(({ path }) => path)).toEqual([]);
  });

  test('the core of the API server names no caller and no resource of this service', () => {
    const inKinds = (line: RegExp): string[] =>
      sources
        .filter(({ folder }) => folder === 'kinds')
        .flatMap(({ text }) => [...text.matchAll(line)].map(([, name]) => name!));
    const callers = inKinds(/readonly type: '(\w+)';/g);
    const resources = inKinds(/^ {2}resource: '(\w+)',$/gm);
    expect(callers.sort()).toEqual(['Account', 'Browser', 'Client']);
    expect(resources).toEqual(expect.arrayContaining(['accounts', 'sessions']));
    const named = ({ path, text }: Source): string[] => {
      const program = text.replaceAll(/\/\*[^]*?\*\//g, '');
      return [...callers, ...resources]
        .filter((name) => program.includes(`'${name}'`))
        .map((name) => `${path} names '${name}'`);
    };
    expect(core.flatMap(named)).toEqual([]);
    const { text } = core.find(({ path }) => path === 'registry/caller.ts')!;
    expect(text).not.toMatch(/account|passkey|mail|interaction|sign-in/i);
  });

  test('packages that belong to one place stay there', () => {
    const wrong = sources.flatMap(({ path, imports }) =>
      imports
        .filter(
          (one) =>
            !one.local &&
            fenced[packageOf(one.path)] &&
            !fenced[packageOf(one.path)]!.some((place) =>
              within(path.replace(/\.tsx?$/, ''), place),
            ),
        )
        .map((one) => `${path} imports ${one.path}`),
    );
    expect(wrong).toEqual([]);
  });

  test('what is slow to load is loaded when it is first needed', () => {
    const late = ['@peculiar/x509', '@simplewebauthn/server', 'etcd3', 'nodemailer', 'prom-client'];
    const reached = new Set(['cmd/vestibule/main', 'cmd/vestibule/serve/service']);
    for (const path of reached) for (const one of importedAtOnce(path)) reached.add(one);
    expect(reached.has('kinds/people/passkey/webauthn/library')).toBe(true);
    expect(late.filter((name) => reached.has(name))).toEqual([]);
  });

  test('commands that ask a service load nothing of the server', () => {
    const reached = new Set([
      'cmd/vestibule/main',
      ...sources
        .filter(({ path }) => within(path, 'cmd/vestibule/client'))
        .map(({ path }) => path.replace(/\.ts$/, '')),
    ]);
    for (const path of reached) for (const one of importedAtOnce(path)) reached.add(one);
    const own = [
      'cmd/vestibule/client/',
      'cmd/vestibule/terminal/',
      'registry/schema/nearest-name',
      'node:',
    ];
    expect(
      [...reached].filter((one) => !own.some((start) => one.startsWith(start))).sort(),
    ).toEqual([
      'cmd/vestibule/main',
      'csv-parse/sync',
      'csv/people-file',
      'kinds/api-version',
      'yaml',
    ]);
  });

  test('no files import each other in a circle, types counted', () => {
    expect(circlesOf(imported)).toEqual([]);
  });

  test('no folders import each other in a circle, at any level, types counted', () => {
    const parents = new Set(['']);
    for (const path of imported.keys()) {
      for (let up = dirname(path); up !== '.'; up = dirname(up)) parents.add(up);
    }
    expect(parents.has('cmd/vestibule')).toBe(true);
    expect([...parents].flatMap((parent) => circlesOf(importsWithin(parent)))).toEqual([]);
  });

  test('a circle is found', () => {
    expect(
      circlesOf(
        new Map([
          ['a', ['b']],
          ['b', ['c']],
          ['c', ['a', 'd']],
        ]),
      ),
    ).toEqual(['a b c']);
  });

  test('no folder or file is called utils, helpers, common, services or types', () => {
    expect(
      sources
        .filter(({ path }) =>
          /(^|\/)(utils?|helpers?|common|services|types)(\/|\.tsx?$)/.test(path),
        )
        .map(({ path }) => path),
    ).toEqual([]);
  });

  /** Doc comments that no member follows on the next line: behind one, or at the end of a block. */
  const misplaced = (text: string): string[] =>
    [...text.matchAll(/\/\*\*(?:[^*]|\*(?!\/))*\*\//g)]
      .filter((comment) => {
        const before = text.slice(text.lastIndexOf('\n', comment.index) + 1, comment.index);
        const after = text.slice(comment.index + comment[0].length);
        return before.trim() !== '' || /^\s*[})\];]/.test(after);
      })
      .map((comment) => comment[0]);

  test('a doc comment is before what it is about', () => {
    const found = sources.flatMap(({ path, text }) =>
      misplaced(text).map((comment) => `${path}: ${comment}`),
    );
    expect(found).toEqual([]);
  });

  test.each([
    ['  readonly a: string /** What b is. */;\n  readonly b: string;', 1],
    ['interface A {\n  a: string;\n  /** What b is. */\n}', 1],
    ['  /** What a is. */\n  readonly a: string;', 0],
    ['/**\n * What a does.\n */\nfunction a() {}', 0],
  ])('a doc comment in %j is found where it is misplaced', (text, count) => {
    expect(misplaced(text)).toHaveLength(count);
  });
});

test('tests draw by a seed that a failure prints', () => {
  /** Ports and prefixes must differ between suites that run at once, for any seed. */
  const own = ['support/random.ts', 'support/service.ts', 'support/watched.ts'];
  own.push('faults/deletion.test.ts', 'storage/etcd-server.ts', 'structure.test.ts');
  const drawing = testFiles(join(root, 'test')).filter((path) => {
    const text = readFileSync(join(root, 'test', path), 'utf8');
    const isRandom = text.includes('Math.random') && !own.includes(path);
    return isRandom || (/^import .*'fast-check'/m.test(text) && path !== 'support/fast-check.ts');
  });
  expect(drawing.filter((path) => !path.startsWith('bench/'))).toEqual([]);
});
