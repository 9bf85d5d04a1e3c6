import { describe, expect, test } from '@jest/globals';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';

const root = join(import.meta.dirname, '..');
const rooms = [
  'storage',
  'registry',
  'apiserver',
  'kinds',
  'provider',
  'mail',
  'metrics',
  'cli',
  'ui',
] as const;
type Room = (typeof rooms)[number] | 'root';

/** Who may import whom (docs/architecture.md); a path stands for itself and what is below it. */
const may: Record<Room, readonly string[]> = {
  storage: ['storage'],
  registry: ['registry', 'storage/storage'],
  mail: ['mail', 'registry'],
  metrics: ['metrics', 'registry'],
  kinds: ['kinds', 'registry', 'mail'],
  apiserver: ['apiserver', 'registry', 'storage/storage'],
  provider: ['provider', 'registry', 'kinds', 'storage/storage'],
  cli: ['cli'],
  ui: ['ui'],
  root: [...rooms, '.'],
};

/** Packages that one place alone may import. */
const fenced: Record<string, readonly string[]> = {
  etcd3: ['storage/etcd'],
  '@grpc/grpc-js': ['storage/etcd'],
  cockatiel: ['storage/etcd'],
  lmdb: ['storage/embedded'],
  ajv: ['registry/schema'],
  'ajv-formats': ['registry/schema'],
  'zod-to-json-schema': ['registry/schema'],
  express: ['apiserver'],
  'cookie-parser': ['apiserver'],
  'oidc-provider': ['provider'],
  nodemailer: ['mail'],
  'json-merge-patch': ['apiserver/patch', 'manifests'],
  preact: ['ui'],
  pino: ['registry/observe'],
  'prom-client': ['metrics/exposition'],
  '@cedar-policy/cedar-wasm': ['kinds/policy'],
  '@simplewebauthn/server': ['kinds/passkey'],
  '@simplewebauthn/browser': ['ui/base/ceremony'],
};

const files = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory())
      return [
        'node_modules',
        'dist',
        'data',
        'test',
        'hack',
        'deploy',
        'docs',
        '.git',
        'types',
      ].includes(name)
        ? []
        : files(path);
    return /\.tsx?$/.test(name) && !/\.(gen|d)\.tsx?$/.test(name) ? [path] : [];
  });

interface Source {
  path: string;
  room: Room;
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
  const first = path.split('/')[0] as Room;
  return {
    path,
    room: (rooms as readonly string[]).includes(first) ? first : 'root',
    text,
    imports,
  };
});

const importingAtOnce =
  /(?:^|\n)\s*(?:import|export)\s+(?!type\s)(?:[^'"`;(]*?from\s+)?['"]([^'"]+)['"]/g;

/** What is loaded together with a file. */
function importedAtOnce(path: string): string[] {
  const source = sources.find((one) => one.path.replace(/\.tsx?$/, '') === path);
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

/** Folders that still import each other. */
const pairsLeft = [
  // goes with the new layout
  'apiserver and apiserver/frontproxy',
  'kinds and kinds/account',
  'kinds and kinds/interaction',
  'kinds and kinds/passkey',
  'kinds and kinds/policy',
  'kinds and kinds/recovery',
  'kinds/account and kinds/interaction',
  'kinds/interaction and kinds/passkey',
];

/** What each file of the product imports of it, types counted; without extensions. */
const imported = new Map(
  sources.map(({ path, imports }) => [
    path.replace(/\.tsx?$/, ''),
    imports.filter(({ local }) => local).map((one) => one.path),
  ]),
);

/** Every file that a file imports, itself or by way of others; the file too where it is among them. */
function reachedFrom(path: string): Set<string> {
  const reached = new Set(imported.get(path));
  for (const one of reached) for (const next of imported.get(one) ?? []) reached.add(next);
  return reached;
}

describe('the house', () => {
  test('rooms import only whom they may', () => {
    const wrong = sources.flatMap(({ path, room, imports }) =>
      imports
        .filter((one) => one.local && !may[room].some((place) => within(one.path, place)))
        .map((one) => `${path} imports ${one.path}`),
    );
    expect(wrong).toEqual([]);
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
    const late = ['@simplewebauthn/server', 'etcd3', 'nodemailer', 'prom-client'];
    const reached = new Set(['main', 'service']);
    for (const path of reached) for (const one of importedAtOnce(path)) reached.add(one);
    expect(reached.has('kinds/passkey/library')).toBe(true);
    expect(late.filter((name) => reached.has(name))).toEqual([]);
  });

  test('words that ask a service load nothing of the server', () => {
    const reached = new Set([
      'main',
      ...sources.filter(({ room }) => room === 'cli').map(({ path }) => path.replace(/\.ts$/, '')),
    ]);
    for (const path of reached) for (const one of importedAtOnce(path)) reached.add(one);
    expect(
      [...reached].filter((one) => !one.startsWith('cli/') && !one.startsWith('node:')).sort(),
    ).toEqual(['main', 'yaml']);
  });

  test('no files import each other in a circle, types counted', () => {
    const reached = new Map([...imported.keys()].map((path) => [path, reachedFrom(path)]));
    const circles = [...reached].flatMap(([path, others]) =>
      others.has(path)
        ? [
            [...others]
              .filter((one) => reached.get(one)?.has(path))
              .sort()
              .join(' '),
          ]
        : [],
    );
    expect([...new Set(circles)].sort()).toEqual([]);
  });

  test('no two folders import each other, types counted', () => {
    const ways = new Set(
      [...imported].flatMap(([path, others]) =>
        others.map((one) => `${dirname(path)} and ${dirname(one)}`),
      ),
    );
    const pairs = [...ways].filter((way) => {
      const [one, other] = way.split(' and ') as [string, string];
      return one < other && ways.has(`${other} and ${one}`);
    });
    expect(pairs.sort()).toEqual(pairsLeft);
  });

  test('no room is called utils, helpers, common, services or types', () => {
    expect(
      sources
        .filter(({ path }) =>
          /(^|\/)(utils?|helpers?|common|services|types)(\/|\.tsx?$)/.test(path),
        )
        .map(({ path }) => path),
    ).toEqual([]);
  });
});
