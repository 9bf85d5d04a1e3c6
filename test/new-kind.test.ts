import { execFile } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { checkout } from './support/checkout.js';
import { expectFor } from './support/expect-for.js';

/** A compiler, a linter and services on two stores run, perhaps beside other suites. */
jest.setTimeout(600_000);

const root = join(import.meta.dirname, '..');
const copy = mkdtempSync(join(tmpdir(), 'vestibule-new-kind-'));
const ending = new AbortController();

beforeAll(() => {
  checkout(copy);
  mkdirSync(join(copy, 'dist'));
  for (const folder of ['node_modules', 'test/bench/node_modules', 'dist/ui']) {
    if (existsSync(join(root, folder))) symlinkSync(join(root, folder), join(copy, folder));
  }
});
afterAll(() => {
  ending.abort();
  rmSync(copy, { recursive: true, force: true });
});

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly error: string;
}

/** Runs a command of the copy, in it. */
function run(command: string, ...args: readonly string[]): Promise<Ran> {
  const { JEST_WORKER_ID: _, ...environment } = process.env;
  return new Promise((resolve) => {
    const child = execFile(
      join(copy, command),
      args,
      {
        cwd: copy,
        env: {
          ...environment,
          NODE_OPTIONS: '--experimental-vm-modules --disable-warning=ExperimentalWarning',
        },
        maxBuffer: 2 ** 26,
        signal: ending.signal,
      },
      (_error, out, error) => resolve({ code: child.exitCode, out, error }),
    );
  });
}

/** What the files of a folder hold, by their paths. */
const contents = (folder: string): Map<string, string> =>
  new Map(
    readdirSync(join(copy, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((path) => statSync(join(copy, path)).isFile())
      .map((path) => [path, readFileSync(join(copy, path), 'latin1')]),
  );
const written = (): Map<string, string>[] =>
  ['kinds', 'policy', 'docs', 'ui', 'test/api', 'test/kinds', 'test/policy'].map(contents);

async function refused(args: readonly string[], message: string): Promise<void> {
  const before = written();
  expect(await run('hack/new-kind', ...args)).toEqual({
    code: 1,
    out: '',
    error: `hack/new-kind: ${message}\n`,
  });
  expect(written()).toEqual(before);
}

test.each([
  [[], 'give the kind and its resource: hack/new-kind Widget widgets'],
  [['Widget'], 'give the kind and its resource: hack/new-kind Widget widgets'],
  [
    ['widget', 'widgets'],
    'the kind must be a name in UpperCamelCase, such as Widget or KeyRing (got "widget")',
  ],
  [
    ['WIDGET', 'widgets'],
    'the kind must be a name in UpperCamelCase, such as Widget or KeyRing (got "WIDGET")',
  ],
  [
    ['../Widget', 'widgets'],
    'the kind must be a name in UpperCamelCase, such as Widget or KeyRing (got "../Widget")',
  ],
  [
    ['KeyRing', 'keyRings'],
    'the resource must be a plural in lower-case letters, such as widgets (got "keyRings")',
  ],
  [
    ['KeyRing', 'key-rings'],
    'the resource must be a plural in lower-case letters, such as widgets (got "key-rings")',
  ],
  [
    ['KeyRing', 'keyring'],
    'the resource must be the plural of KeyRing, not its singular (got "keyring")',
  ],
  [['Group', 'things'], 'there is a kind Group already'],
  [['Thing', 'groups'], '"groups" is a name of the kind Group already'],
  [['Thing', 'group'], '"group" is a name of the kind Group already'],
  [['Pk', 'things'], '"pk" is a name of the kind Passkey already'],
  [['Status', 'statuses'], 'the API has a schema Status already'],
  [
    ['Browser', 'browsers'],
    'rules of policies know a type Browser already (policy/model/vocabulary.ts)',
  ],
  [['Action', 'actions'], 'Action means something else in kinds/index.ts'],
  [
    ['--folder', '../people', 'Widget', 'widgets'],
    'the folder must be a path below kinds/, such as people or people/badge (got "../people")',
  ],
  [['--owner', 'Widget', 'widgets'], "Unknown option '--owner'"],
])('hack/new-kind %p is refused, and writes nothing', refused);

/** Suites that name every kind. */
const suites = [
  'test/structure.test.ts',
  'test/kinds/conformance.test.ts',
  'test/policy/default.test.ts',
  'test/policy/default-messages.test.ts',
  'test/api/policy/matrix.test.ts',
  'test/api/request/views.test.ts',
  'test/docs/applications.test.ts',
  'test/ui/policytext.test.ts',
];

/** Names of the tests that a kind concerns, as regular expressions; each of them is run. */
const concerned = [
  '^the structure ',
  '^Widget on embedded ',
  '^Widget on etcd ',
  '^Badge on embedded ',
  '^Badge on etcd ',
  '^the default policy may be put in force',
  '^the default policy is about kinds that exist',
  '^the default policy Widget ',
  '^the default policy Badge ',
  'but signed in long ago gives no change of a Badge ',
  '^every message of the default policy has a translation',
  '^over the kinds that are served',
  'on embedded (every row is|every request)',
  'every kind has the columns it should',
  'of the store names every kind of record',
  'every action and kind of that policy has a word',
];

describe('hack/new-kind', () => {
  let changed: string[];

  test('adds a kind and leaves no line to be added by hand', async () => {
    const { code, out, error } = await run('hack/new-kind', 'KeyRing', 'keyrings');
    expect([code, out, error]).toEqual([0, expect.not.stringMatching(/^add to /m), error]);
    expect(existsSync(join(copy, 'kinds/key-ring.ts'))).toBe(true);
    expect(readFileSync(join(copy, 'ui/messages/en/decisions.json'), 'utf8')).toContain(
      '"kind.KeyRing": "key rings"',
    );
  });

  test('adds another one beside it', async () => {
    const { code, out, error } = await run('hack/new-kind', 'Widget', 'widgets');
    expect([code, out, error]).toEqual([0, expect.not.stringMatching(/^add to /m), error]);
    changed = [...`${out}${error}`.matchAll(/^(?:wrote|changed) (\S+)$/gm)].map(
      ([, file]) => file!,
    );
    expect(changed).toEqual(expect.arrayContaining(['kinds/widget.ts', 'docs/reference/kinds.md']));
    await refused(['Widget', 'widgets'], 'there is a kind Widget already');
    await refused(['Thing', 'widgets'], '"widgets" is a name of the kind Widget already');
  });

  test('adds one that an Account owns, in a folder, and each rule with its translations', async () => {
    const { code, out, error } = await run(
      'hack/new-kind',
      '--owned',
      '--folder',
      'people/badge',
      'Badge',
      'badges',
    );
    expect([code, out, error]).toEqual([0, expect.not.stringMatching(/^add to /m), error]);
    changed.push(
      ...[...`${out}${error}`.matchAll(/^(?:wrote|changed) (\S+)$/gm)]
        .map(([, file]) => file!)
        .filter((file) => !changed.includes(file)),
    );
    expect(changed).toEqual(
      expect.arrayContaining(['kinds/people/badge/badge.ts', 'ui/messages/de/rules.json']),
    );
  });

  test.each(['tsconfig.test.json', 'ui', 'test/browser'])(
    'what compiles by %s still does',
    async (project) => {
      expect(await run('node_modules/.bin/tsc', '-p', project, '--noEmit')).toMatchObject({
        code: 0,
        out: '',
      });
    },
  );

  test('what it wrote is formatted, has no fault that the linter knows, and is not stale', async () => {
    const sources = changed.filter((file) => /\.ts$/.test(file) && !/\.gen\.ts$/.test(file));
    expect(sources).toHaveLength(8);
    const formatted = await run('node_modules/.bin/biome', 'format', ...sources);
    expect(formatted).toMatchObject({ code: 0 });
    const linted = await run('node_modules/.bin/oxlint', '--deny-warnings', ...sources);
    expect(linted).toMatchObject({ code: 0 });
    expect(await run('hack/gen', '--check')).toMatchObject({ code: 0, out: '' });
  });

  test('the tests that name every kind pass, and those of the kind itself on both stores', async () => {
    const report = join(copy, '.cache/report.json');
    const { code, error } = await run(
      'node_modules/.bin/jest',
      '--ci',
      '--silent',
      '--runInBand',
      `--cacheDirectory=${join(copy, '.cache/jest')}`,
      '--json',
      `--outputFile=${report}`,
      '--testNamePattern',
      concerned.join('|'),
      '--runTestsByPath',
      ...suites,
    );
    expect([code, code === 0 || error]).toEqual([0, true]);
    const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
    const passed: string[] = testResults
      .flatMap((suite: any) => suite.assertionResults)
      .filter((one: any) => one.status === 'passed')
      .map((one: any) => one.fullName);
    for (const name of concerned) {
      expectFor(name, passed.filter((one) => new RegExp(name).test(one)).length > 0).toEqual(true);
    }
  });

  test('prints the lines that it finds no place for, and adds none twice', async () => {
    const matrix = join(copy, 'test/api/policy/matrix.test.ts');
    const messages = join(copy, 'ui/messages/en/decisions.json');
    const replace = (file: string, from: string, to: string): void =>
      writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
    replace(
      matrix,
      /const created: .* = \{/.exec(readFileSync(matrix, 'utf8'))![0],
      'const created = {',
    );
    replace(messages, '{\n', '{\n  "kind.Gadget": "little machines",\n');
    const { code, out } = await run('hack/new-kind', 'Gadget', 'gadgets');
    expect(code).toBe(0);
    expect(out).toContain(
      "\nadd to test/api/policy/matrix.test.ts, at the end of `created`:\n  gadgets: { metadata: { name: 'sample' }, spec: { displayName: 'Sample' } },\n",
    );
    expect(out.match(/^add to /gm)).toHaveLength(1);
    expect(out).not.toContain('changed ui/messages/en/decisions.json');
    expect(readFileSync(messages, 'utf8').match(/"kind\.Gadget"/g)).toHaveLength(1);
  });
});
