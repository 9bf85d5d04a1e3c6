/**
 * Packs the core as an npm package, or writes a project with it: `node hack/library.mjs FOLDER pack
 * OUT` and `node hack/library.mjs FOLDER new DIR`, where both paths are relative to FOLDER. The package
 * has the modules that the entry point reaches, and depends on the packages that these import.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix, resolve } from 'node:path';
import { parseSync } from '@swc/core';

const root = join(import.meta.dirname, '..');
/** Of this run alone: several may go on at once. */
const work = mkdtempSync(join(tmpdir(), 'vestibule-library-'));
process.once('exit', () => rmSync(work, { recursive: true, force: true }));
const [built, staged] = [join(work, 'build'), join(work, 'package')];
const entry = 'apiserver/library/index';
const example = 'deploy/examples/apps/fischer';
const repository = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/**
 * What a project brings itself: its schemas must be made by the zod that the core reads them with, and
 * a program has one set of Node's types.
 */
const peers = { zod: `^${repository.dependencies.zod}`, '@types/node': '>=24' };

function fail(message) {
  console.error(`hack/library: ${message}`);
  process.exit(1);
}

function run(command, args, stdio = ['ignore', 2, 2]) {
  try {
    return execFileSync(command, args, { cwd: root, stdio });
  } catch {
    return fail(`${command} failed: the lines above say why`);
  }
}

/** Calls `visit` with each node of a syntax tree. */
function walk(node, visit) {
  if (Array.isArray(node)) return node.forEach((one) => walk(one, visit));
  if (node === null || typeof node !== 'object') return;
  if (typeof node.type === 'string') visit(node);
  for (const value of Object.values(node)) walk(value, visit);
}

/** Reports whether a call loads or finds a module: `import('x')`, `createRequire(url).resolve('x')`. */
const isLoading = ({ callee }) =>
  callee.type === 'Import' ||
  (callee.type === 'MemberExpression' &&
    callee.property.value === 'resolve' &&
    callee.object.callee?.value === 'createRequire');

/** Returns the modules that a built file imports, of a declaration those whose types it uses. */
function importsOf(file) {
  const text = readFileSync(join(built, file), 'utf8');
  const syntax = file.endsWith('.ts') ? 'typescript' : 'ecmascript';
  const found = [...text.matchAll(/^\/\/\/ <reference types="([^"]+)"/gm)].map(
    ([, name]) => `@types/${name}`,
  );
  walk(parseSync(text, { syntax, target: 'es2022' }).body, (node) => {
    if (/^(Import|Export(Named|All))Declaration$/.test(node.type) && node.source) {
      found.push(node.source.value);
    }
    if (node.type === 'TsImportType') found.push(node.argument.value);
    if (node.type === 'CallExpression' && isLoading(node)) {
      found.push(node.arguments[0].expression.value);
    }
  });
  return found;
}

const packageOf = (name) =>
  name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/');

/** Returns the files that the entry reaches, and the packages that they import with the first file of each. */
function reachedFrom(first, extension) {
  const files = new Set([`${first}${extension}`]);
  const packages = new Map();
  for (const file of files) {
    const names = importsOf(file);
    for (const name of names.filter((one) => one.startsWith('.'))) {
      files.add(posix.join(dirname(file), name).replace(/\.js$/, extension));
    }
    for (const name of names.filter((one) => !/^(\.|node:)/.test(one))) {
      packages.set(packageOf(name), file);
    }
    const usesNode = names.some((name) => name.startsWith('node:'));
    if (usesNode && extension === '.d.ts') packages.set('@types/node', file);
  }
  return { files: [...files].sort(), packages };
}

/** Returns the dependencies in the versions of the repository; fails if a package is not one of it. */
function dependenciesOf(programs, declarations) {
  const own = {};
  for (const [name, file] of [...programs.packages].sort()) {
    if (peers[name] !== undefined) continue;
    own[name] = repository.dependencies[name];
    if (own[name] === undefined) fail(`${file} imports ${name}, which is no dependency`);
  }
  for (const [name, file] of declarations.packages) {
    if (own[name] === undefined && peers[name] === undefined) {
      fail(`${file} has types of ${name}, which the package does not depend on`);
    }
  }
  for (const name of Object.keys(peers)) {
    if (!programs.packages.has(name) && !declarations.packages.has(name)) {
      fail(`no file imports ${name}, which is a peer dependency`);
    }
  }
  return own;
}

const asJSON = (value) => `${JSON.stringify(value, null, 2)}\n`;

/** Writes the project that the command copies: the example, as one that depends on the package. */
function stageProject(name, version) {
  const folder = join(staged, 'project');
  cpSync(join(root, 'hack/package/project'), folder, { recursive: true });
  cpSync(join(root, example, 'fischer.yaml'), join(folder, 'fischer.yaml'));
  const server = readFileSync(join(root, example, 'server.ts'), 'utf8');
  writeFileSync(join(folder, 'server.ts'), server.replace("'vestibule/apiserver'", `'${name}'`));
  const { dependencies, devDependencies } = repository;
  const manifest = {
    private: true,
    type: 'module',
    engines: repository.engines,
    scripts: { start: 'node server.ts', check: 'tsc' },
    dependencies: { [name]: `file:${name}-${version}.tgz`, zod: dependencies.zod },
    devDependencies: {
      '@types/node': devDependencies['@types/node'],
      typescript: devDependencies.typescript,
    },
  };
  writeFileSync(join(folder, 'package.json'), asJSON(manifest));
}

/** Compiles the core and writes the content of the package to a folder. */
function stage() {
  run('npx', ['--no-install', 'tsc', '-p', 'hack/package/tsconfig.json', '--outDir', built]);
  const programs = reachedFrom(entry, '.js');
  const declarations = reachedFrom(entry, '.d.ts');
  for (const file of [...programs.files, ...declarations.files]) {
    mkdirSync(dirname(join(staged, file)), { recursive: true });
    cpSync(join(built, file), join(staged, file));
  }
  const { version, license, engines } = repository;
  const name = 'vestibule-apiserver';
  const manifest = {
    name,
    version,
    description: 'A library for Kubernetes-style API servers: kinds from schemas, a store included',
    license,
    type: 'module',
    engines,
    exports: { '.': { types: `./${entry}.d.ts`, default: `./${entry}.js` } },
    bin: { [name]: 'command.mjs' },
    dependencies: dependenciesOf(programs, declarations),
    peerDependencies: peers,
  };
  writeFileSync(join(staged, 'package.json'), asJSON(manifest));
  for (const file of ['command.mjs', 'README.md']) {
    cpSync(join(root, 'hack/package', file), join(staged, file));
  }
  cpSync(join(root, 'LICENSE'), join(staged, 'LICENSE'));
  stageProject(name, version);
}

/** Writes the package into a folder; returns its path. npm gives every file the same time and owner. */
function pack(folder) {
  stage();
  mkdirSync(folder, { recursive: true });
  const options = ['--ignore-scripts', '--loglevel=error', '--json', '--pack-destination', folder];
  const [{ filename }] = JSON.parse(
    run('npm', ['pack', staged, ...options], ['ignore', 'pipe', 2]),
  );
  return join(folder, filename);
}

const [from = '.', command, folder, ...more] = process.argv.slice(2);
if (!['pack', 'new'].includes(command) || folder === undefined || more.length > 0) {
  fail('write "hack/library pack OUT" or "hack/library new DIR"');
}
if (command === 'pack') {
  console.log(pack(resolve(from, folder)));
} else {
  stage();
  const copy = [join(staged, 'command.mjs'), 'new', resolve(from, folder)];
  run(process.execPath, copy, 'inherit');
}
