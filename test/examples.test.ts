import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, jest, test } from '@jest/globals';

/** The compiler may run beside other suites. */
jest.setTimeout(600_000);

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'vestibule-examples-'));
const ending = new AbortController();
afterAll(() => {
  ending.abort();
  rmSync(folder, { recursive: true, force: true });
});

interface Origin {
  /** Where the names below come from: a package, or a file of this repository. */
  readonly from: string;
  readonly names: string;
}

/** What examples of the service and of pages may use without importing it. */
const known: Record<'ts' | 'tsx', { imports: readonly Origin[]; values: string }> = {
  ts: {
    imports: [
      { from: 'node:fs', names: '{ readFileSync }' },
      { from: 'zod', names: '{ z }' },
      { from: 'registry/action.js', names: '{ defineAction }' },
      { from: 'registry/schema/conditions.js', names: '{ conditions }' },
      { from: 'registry/schema/secret-schema.js', names: '{ secret }' },
      { from: 'kinds/define-kind.js', names: '{ defineKind }' },
      { from: 'registry/kinds-of.js', names: '{ kindsOf }' },
      {
        from: 'registry/kind.js',
        names: '{ type AnyKind, type Call, type ObjectOf, type Strategy }',
      },
      { from: 'apiserver/library/index.js', names: '{ startApiServer, subjectAccessReviews }' },
      { from: 'storage/open-storage.js', names: '{ openStorage }' },
      { from: 'storage/storage.js', names: '{ type Storage }' },
      { from: 'i18n/translator.js', names: '{ Translator }' },
      { from: 'mail/layout.js', names: '{ type Block, type MailContent }' },
      { from: 'mail/message.js', names: '{ plainName, type Message }' },
      { from: 'mail/messages.js', names: '{ type MailOrder }' },
      { from: 'kinds/people/group/group.js', names: '{ Group }' },
      { from: 'kinds/signin/schema-types.js', names: '{ line }' },
    ],
    values:
      'declare const call: Call; declare const storage: Storage; declare const Fischer: AnyKind;',
  },
  tsx: {
    imports: [
      { from: 'preact', names: '{ render }' },
      { from: 'preact/hooks', names: '{ useState }' },
      { from: 'ui/base/text/i18n.js', names: '{ addMessages }' },
      { from: 'ui/base/text/message.js', names: '{ t }' },
      { from: 'ui/base/page.js', names: '{ Page, mountPoint }' },
      { from: 'ui/base/view.js', names: '{ View }' },
      { from: 'ui/messages/en/mailbox.json', names: 'messages' },
    ],
    values: '',
  },
};

/** Files that a contributor begins with, and how many examples each has at least. */
const begun: [file: string, least: number][] = [
  ['registry/kind.ts', 2],
  ['registry/kinds-of.ts', 2],
  ['registry/action.ts', 1],
  ['storage/storage.ts', 1],
  ['apiserver/library/api-server.ts', 1],
  ['apiserver/library/options.ts', 7],
  ['mail/layout.ts', 1],
  ['mail/messages.ts', 1],
  ['ui/base/page.tsx', 1],
];

/** Every file of the product that has an example. */
const documented = execFileSync('git', ['grep', '-l', ' [*] @example$', '--', '*.ts', '*.tsx'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && !file.startsWith('test/'));
const projectOf = (file: string): string =>
  file.startsWith('ui/') ? 'ui/tsconfig.json' : 'tsconfig.test.json';

/** The code of each @example in a file's doc comments. */
const examplesIn = (file: string): { language: 'ts' | 'tsx'; code: string }[] =>
  [
    ...readFileSync(join(root, file), 'utf8').matchAll(
      /^( *) \* @example\n\1 \* ```(tsx?)\n((?:\1 \*.*\n)*?)\1 \* ```\n/gm,
    ),
  ].map(([, indent, language, lines]) => ({
    language: language as 'ts' | 'tsx',
    code: lines!.replaceAll(new RegExp(`^${indent} \\* ?`, 'gm'), ''),
  }));

/** An example as a file that imports what it may use. */
function sourceOf({ language, code }: { language: 'ts' | 'tsx'; code: string }): string {
  const { imports, values } = known[language];
  const lines = imports.map(({ from, names }) => {
    const path = /\.(js|json)$/.test(from) ? join(root, from) : from;
    return `import ${names} from '${path}';`;
  });
  return [...lines, values, code].join('\n');
}

function compile(project: string, files: readonly string[]): Promise<string> {
  writeFileSync(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, project),
      compilerOptions: { noEmit: true, rootDir: '/' },
      include: [],
      files: [
        ...files.map((file) => join(folder, file)),
        // What the kinds declare of settings and ports, as in the service.
        join(root, project.startsWith('ui/') ? 'ui/catalogs.d.ts' : 'kinds/ports.ts'),
      ],
    }),
  );
  return new Promise((resolve) => {
    execFile(
      join(root, 'node_modules/.bin/tsc'),
      ['-p', folder],
      { cwd: root, signal: ending.signal },
      (error, out, err) => resolve(error ? `${out}${err}${error.message}` : out),
    );
  });
}

symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');

test.each(begun)('%s has an example', (file, least) => {
  expect(documented).toContain(file);
  expect(examplesIn(file).length).toBeGreaterThanOrEqual(least);
});

test.each(documented)('each example of %s is a block of code', (file) => {
  const text = readFileSync(join(root, file), 'utf8');
  expect(examplesIn(file)).toHaveLength(text.match(/ \* @example$/gm)!.length);
});

test.each(['tsconfig.test.json', 'ui/tsconfig.json'])(
  'the examples that belong to %s compile',
  async (project) => {
    const examples = documented
      .filter((file) => projectOf(file) === project)
      .flatMap((file) => examplesIn(file).map((example, i) => ({ ...example, file, i })));
    expect(examples.length).toBeGreaterThan(0);
    const names = examples.map(({ file, i, language }) => {
      return `${file.replaceAll(/[/.]/g, '-')}-${i + 1}.${language}`;
    });
    for (const [i, name] of names.entries()) {
      writeFileSync(join(folder, name), sourceOf(examples[i]!));
    }
    expect(await compile(project, names)).toBe('');
  },
);
