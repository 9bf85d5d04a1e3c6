import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { ownedAdditionsOf, ownedFile, ownedSample } from './new-kind-owned.mjs';

const root = join(import.meta.dirname, '..');
const read = (file) => readFileSync(join(root, file), 'utf8');
const write = (file, text) => writeFileSync(join(root, file), text);
/** The names of kinds in every language; a new one has its English name until it is translated. */
const catalogs = readdirSync(join(root, 'ui/messages'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => `ui/messages/${name}/decisions.json`);

/** Returns the words of a name in UpperCamelCase: KeyRing is key and ring. */
const wordsOf = (kind) =>
  kind
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(' ');

/** Returns a resource in words: the keyrings of KeyRing are key rings. */
function titleOf(kind, resource) {
  const first = wordsOf(kind).slice(0, -1);
  const joined = first.join('');
  if (!resource.startsWith(joined) || resource === joined) return resource;
  return [...first, resource.slice(joined.length)].join(' ');
}

/** Returns what is wrong with the names of a kind, or undefined. */
function nameFault(kind, resource) {
  if (!/^[A-Z][A-Za-z0-9]{1,62}$/.test(kind) || !/[a-z]/.test(kind)) {
    return `the kind must be a name in UpperCamelCase, such as Widget or KeyRing (got "${kind}")`;
  }
  if (!/^[a-z]{2,63}$/.test(resource)) {
    return `the resource must be a plural in lower-case letters, such as widgets (got "${resource}")`;
  }
  if (resource === kind.toLowerCase()) {
    return `the resource must be the plural of ${kind}, not its singular (got "${resource}")`;
  }
  return undefined;
}

/** Returns what is wrong with the folder of a kind, or undefined. */
const folderFault = (folder) =>
  folder === undefined || /^[a-z]+(?:\/[a-z]+)*$/.test(folder)
    ? undefined
    : `the folder must be a path below kinds/, such as people or people/badge (got "${folder}")`;

/** Returns the kind of each name that commands accept: singular, plural and short names. */
function namesTaken() {
  const taken = new Map();
  for (const section of read('docs/reference/kinds.md').split('\n## ').slice(1)) {
    const [kind] = section.split('\n', 1);
    const [names] = /^Resource [^;\n]+/m.exec(section);
    taken.set(kind.toLowerCase(), kind);
    for (const [, name] of names.matchAll(/`(\w+)`/g)) taken.set(name, kind);
  }
  return taken;
}

/** Returns the existing kind or name that conflicts with these names, or undefined. */
function conflictOf(kind, resource, file) {
  const taken = namesTaken();
  const singular = kind.toLowerCase();
  if (taken.get(singular) === kind) return `there is a kind ${kind} already`;
  for (const name of [singular, resource]) {
    if (taken.has(name)) return `"${name}" is a name of the kind ${taken.get(name)} already`;
  }
  const { schemas } = JSON.parse(read('docs/reference/openapi.json')).components;
  for (const name of [kind, `${kind}List`, `${kind}Event`, `${kind}Draft`]) {
    if (Object.hasOwn(schemas, name)) return `the API has a schema ${name} already`;
  }
  if (read('policy/model/vocabulary.ts').includes(`\n  ${kind}: {`)) {
    return `rules of policies know a type ${kind} already (policy/model/vocabulary.ts)`;
  }
  if (kind in globalThis || new RegExp(`\\b${kind}\\b`).test(read('kinds/index.ts'))) {
    return `${kind} means something else in kinds/index.ts`;
  }
  if (existsSync(join(root, file))) return `${file} is there already`;
  return undefined;
}

const ownFile = ({ kind, resource }) => `import { z } from 'zod';
import { defineKind } from './define-kind.js';
import { line } from './signin/schema-types.js';

/** What ${kind} objects are, in a sentence. */
export const ${kind} = defineKind({
  kind: '${kind}',
  resource: '${resource}',
  description: 'What ${kind} objects are, in a sentence.',
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
  spec: z.object({ displayName: line(64).describe('Its display name.') }),
  status: z.object({}),
  columns: { 'Display-Name': ({ spec }) => spec.displayName },
});
`;

/** Returns the text of a file of `kinds/` with the imports that it needs in a folder there. */
function inFolder(text, folder) {
  if (folder === undefined) return text;
  const up = '../'.repeat(folder.split('/').length);
  return text.replaceAll(" from '../", ` from '${up}../`).replaceAll(" from './", ` from '${up}`);
}

/** Finds the line that begins with a text. */
const before = (beginning) => (text) => text.indexOf(`\n${beginning}`) + 1;

/** Finds the line that closes the block that a line opens. */
const atEndOf = (opening) => (text) => {
  const opened = text.indexOf(`${opening}\n`);
  if (opened < 0) return 0;
  const [indent] = /^ */.exec(text.slice(text.lastIndexOf('\n', opened) + 1));
  const closing = new RegExp(`\n${indent}[\\])}]`, 'g');
  closing.lastIndex = opened;
  return closing.test(text) ? closing.lastIndex - indent.length - 1 : 0;
};

/** Finds the place among the imports of other files, which are sorted by path. */
const amongImports = (path) => (text) => {
  const imports = [...text.matchAll(/^import\b[^;]*? from '(\.[^']*)';\n/gm)];
  const next = imports.find(([, other]) => other > path);
  const last = imports.at(-1);
  if (last === undefined) return 0;
  return next?.index ?? last.index + last[0].length;
};

/**
 * Returns the lines that a kind needs outside its own file. `at` finds the index, or 0. Nothing is
 * added if the file already contains `mark`, by default the lines themselves.
 */
const additionsOf = ({ kind, resource, path, title, isOwned }) => [
  {
    file: 'kinds/index.ts',
    where: 'among the imports',
    at: amongImports(`./${path}.js`),
    lines: `import { ${kind} } from './${path}.js';`,
  },
  {
    file: 'kinds/index.ts',
    where: 'at the end of `kinds`',
    at: atEndOf('export const kinds: readonly AnyKind[] = ['),
    lines: `  ${kind},`,
  },
  {
    file: 'policy/text/operator-rows.ts',
    where: 'at the end of `operatorRows`',
    at: atEndOf('const operatorRows: readonly OperatorRow[] = ['),
    lines: `  { kind: '${kind}', rule: '${resource}', actions: ${isOwned ? 'readsAndDeletes' : 'readsAndWrites'} },`,
  },
  ...catalogs.map((file) => ({
    file,
    where: 'before "kind.Scope"',
    at: before('  "kind.Scope"'),
    lines: `  "kind.${kind}": "${title}",`,
    mark: `"kind.${kind}":`,
  })),
  {
    file: 'docs/explanation/what-is-stored.md',
    where: 'in the table of objects, before `objects/mockmessages/`',
    at: before('| `objects/mockmessages/`'),
    lines: `| \`objects/${resource}/\` | ${isOwned ? 'what people added for themselves' : 'what operators declared'} | until deleted |`,
    mark: `\`objects/${resource}/\``,
  },
  ...testAdditionsOf({ kind, resource, path, isOwned }),
];

const testAdditionsOf = ({ kind, resource, path, isOwned }) => [
  {
    file: 'test/kinds/conformance.test.ts',
    where: 'among the imports',
    at: amongImports(`../../kinds/${path}.js`),
    lines: `import { ${kind} } from '../../kinds/${path}.js';`,
  },
  {
    file: 'test/kinds/conformance.test.ts',
    where: 'at the end',
    at: (text) => text.length,
    lines: isOwned
      ? ownedSample({ kind })
      : `conforms(${kind}, {
  valid: () => ({ name: 'sample', spec: { displayName: 'Sample' } }),
  invalid: [{ spec: { displayName: '' }, field: 'spec.displayName' }],
  patch: { displayName: 'Another' },
});`,
  },
  ...(isOwned ? ownedAdditionsOf({ kind, resource }, before) : [createdSample(resource)]),
];

/** What an operator creates in the matrix of who may do what. */
const createdSample = (resource) => ({
  file: 'test/api/policy/matrix.test.ts',
  where: 'at the end of `created`',
  at: atEndOf('const created: Record<string, { metadata: { name: string }; spec: object }> = {'),
  lines: `  ${resource}: { metadata: { name: 'sample' }, spec: { displayName: 'Sample' } },`,
});

/** Adds lines that are missing. Returns those without a place, and the changed files. */
function add(additions) {
  const left = [];
  const changed = new Set();
  for (const addition of additions) {
    const { file, at, lines, mark = lines } = addition;
    const text = existsSync(join(root, file)) ? read(file) : '';
    if (text.includes(mark)) continue;
    const index = at(text);
    if (index === 0) {
      left.push(addition);
      continue;
    }
    write(file, `${text.slice(0, index)}${lines}\n${text.slice(index)}`);
    changed.add(file);
  }
  return { left, changed: [...changed] };
}

function fail(message) {
  console.error(`hack/new-kind: ${message}`);
  process.exit(1);
}

/** Runs a command of this repository; its output goes to standard error. */
function run(command, ...args) {
  try {
    execFileSync(command, args, { cwd: root, stdio: ['ignore', 2, 2] });
  } catch {
    fail(`${command} failed: the lines above say why`);
  }
}

/** Returns what is left to do: who may do what differs if an Account owns the objects. */
const nextSteps = ({ kind, resource, file, isOwned }) => `
Next (docs/contributing/recipes.md#a-kind):
1. In ${file}, describe ${kind} objects and give them their fields.
2. If the fields differ from the sample, change the sample in test/kinds/conformance.test.ts and
   test/api/policy/matrix.test.ts.
${isOwned ? ownedRights(resource) : operatorsRights(resource)}
4. A secret, an action and a controller have more steps: the recipe has them.
5. Run hack/gen, then hack/test test/kinds/conformance -t ${kind}, then hack/test test/policy/default
   test/api/policy/matrix test/kinds/lines-of-text test/ui/policytext, then hack/verify.
6. Add a line to CHANGELOG.md. A service that already runs keeps its policy, so the line must name
   the new rule.`;

const operatorsRights = (
  resource,
) => `3. Operators may read and write ${resource}, and no one else may (operatorRows in
   policy/text/operator-rows.ts). To permit others, add a section as ClaimsProvider has one to
   policy/text/default-policy.ts, a row to the
   tables in test/policy/default.test.ts and test/api/policy/matrix.test.ts, and each new @message
   to ui/messages/*/rules.json in every language. For a kind that people own, use --owned.`;

const ownedRights = (
  resource,
) => `3. People may use ${resource} that are their own, and operators may read and delete all
   (policy/text/default-policy.ts, policy/text/operator-rows.ts). Say how many an account may have:
   a limit (docs/design/limits.md#to-add-one) and tx.spend, as accessRequestsPerAccountDay.`;

function addKind(kind, resource, { owned: isOwned = false, folder }) {
  const path = join(folder ?? '', wordsOf(kind).join('-'));
  const file = `kinds/${path}.ts`;
  const fault =
    folderFault(folder) ?? nameFault(kind, resource) ?? conflictOf(kind, resource, file);
  if (fault !== undefined) fail(fault);
  if (!existsSync(join(root, 'node_modules/.bin/biome'))) {
    fail('the packages are not installed: run hack/prepare');
  }
  mkdirSync(dirname(join(root, file)), { recursive: true });
  write(file, inFolder((isOwned ? ownedFile : ownFile)({ kind, resource }), folder));
  const { left, changed } = add(
    additionsOf({ kind, resource, path, title: titleOf(kind, resource), isOwned }),
  );
  const sources = [file, ...changed].filter((one) => one.endsWith('.ts'));
  run('node_modules/.bin/biome', 'format', '--write', '--log-level=error', ...sources);
  console.log([`wrote ${file}`, ...changed.map((one) => `changed ${one}`)].join('\n'));
  for (const { file: place, where, lines } of left) {
    console.log(`\nadd to ${place}, ${where}:\n${lines}`);
  }
  if (left.length === 0) run('hack/gen');
  console.log(nextSteps({ kind, resource, file, isOwned }));
}

/** Returns the options and names that were given; ends if an option is unknown. */
function given() {
  const options = { owned: { type: 'boolean' }, folder: { type: 'string' } };
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch ({ message }) {
    return fail(message.split('. ', 1)[0]);
  }
}

const { values, positionals } = given();
const [kind, resource, ...more] = positionals;
if (kind === undefined || resource === undefined || more.length > 0) {
  fail('give the kind and its resource: hack/new-kind Widget widgets');
}
addKind(kind, resource, values);
