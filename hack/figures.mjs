import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { parseSync } from '@swc/core';

const root = join(import.meta.dirname, '..');

const folders = [
  'apiserver',
  'cmd',
  'csv',
  'kinds',
  'mail',
  'observability',
  'policy',
  'provider',
  'registry',
  'security',
  'storage',
  'ui',
];
const isProduct = (path) =>
  /\.tsx?$/.test(path) && !/\.d\.ts$|\.test\.ts$|generated/.test(path) && !path.includes('/out/');
const filesIn = (folder) =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesIn(path) : [path];
  });
const files = folders
  .flatMap((folder) => filesIn(join(root, folder)))
  .filter(isProduct)
  .map((path) => ({ path: relative(root, path), text: readFileSync(path, 'utf8') }));

/** Calls `visit` with each node of a syntax tree. */
function walk(node, visit) {
  if (Array.isArray(node)) return node.forEach((one) => walk(one, visit));
  if (node === null || typeof node !== 'object') return;
  if (typeof node.type === 'string') visit(node);
  for (const value of Object.values(node)) walk(value, visit);
}

const functions = new Set([
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'ClassMethod',
  'PrivateMethod',
  'Constructor',
  'MethodProperty',
]);

/**
 * Returns the length of each function of a file, the number of lines that begin more than one
 * statement, and how often the compiler is overruled: by a cast, one to never, a non-null assertion.
 */
function measured({ path, text }) {
  const bytes = Buffer.from(text);
  const lineAt = new Uint32Array(bytes.length + 2);
  for (let at = 0, line = 1; at <= bytes.length; at += 1) {
    lineAt[at] = line;
    if (bytes[at] === 10) line += 1;
  }
  const module = parseSync(text, { syntax: 'typescript', tsx: path.endsWith('x') });
  // Offsets count from the last file parsed; those of this file begin at its first token.
  const first = bytes.length - Buffer.from(text.trimStart()).length;
  const offset = module.span.start - Math.max(first, beginOf(text));
  const lineOf = (position) => lineAt[Math.max(0, Math.min(bytes.length, position - offset))];
  const lengths = [];
  const begun = new Map();
  const claims = { casts: 0, nevers: 0, assertions: 0 };
  const count = (statements) => {
    for (const { span } of statements) {
      const line = lineOf(span.start);
      begun.set(line, (begun.get(line) ?? 0) + 1);
    }
  };
  count(module.body);
  walk(module.body, (node) => {
    if (Array.isArray(node.stmts)) count(node.stmts);
    if (node.type === 'SwitchCase') count(node.consequent);
    if (node.type === 'TsNonNullExpression') claims.assertions += 1;
    if (node.type === 'TsAsExpression') {
      claims.casts += 1;
      if (node.typeAnnotation.kind === 'never') claims.nevers += 1;
    }
    if (functions.has(node.type) && node.body !== null) {
      lengths.push(lineOf(node.span.end - 1) - lineOf(node.span.start) + 1);
    }
  });
  const crowded = [...begun.values()].filter((statements) => statements > 1).length;
  return { path, lengths, crowded, ...claims };
}

/** Returns the byte offset of the first token, after comments. */
const beginOf = (text) =>
  Buffer.byteLength(/^(?:\s|\/\*[\s\S]*?\*\/|\/\/[^\n]*\n|#![^\n]*\n)*/.exec(text)[0]);

/** Returns the files that a file imports, types included. */
const importsOf = ({ path, text }) =>
  [...text.matchAll(/(?:from|import)\s*\(?'(\.[^']+)'/g)].map(([, to]) =>
    normalize(join(dirname(path), to)).replace(/\.js$/, ''),
  );

/** Returns the strongly connected components with more than one node. */
function circles(graph) {
  let next = 0;
  const found = [];
  const stack = [];
  const at = new Map();
  const low = new Map();
  const connect = (node) => {
    at.set(node, next);
    low.set(node, next);
    next += 1;
    stack.push(node);
    for (const to of graph.get(node) ?? []) {
      if (!at.has(to)) connect(to);
      if (stack.includes(to)) low.set(node, Math.min(low.get(node), low.get(to)));
    }
    if (low.get(node) !== at.get(node)) return;
    const group = stack.splice(stack.indexOf(node));
    if (group.length > 1) found.push(group);
  };
  for (const node of graph.keys()) if (!at.has(node)) connect(node);
  return found;
}

/** Returns the number of layers of an acyclic graph. */
function layersOf(graph) {
  const depth = (node) => 1 + Math.max(0, ...[...graph.get(node)].map(depth));
  return Math.max(...[...graph.keys()].map(depth));
}

const bare = (path) => path.replace(/\.tsx?$/, '');
const known = new Set(files.map(({ path }) => bare(path)));
const fileGraph = new Map(
  files.map((file) => [bare(file.path), new Set(importsOf(file).filter((to) => known.has(to)))]),
);
const graphOf = (folderOf) => {
  const graph = new Map([...fileGraph.keys()].map((from) => [folderOf(from), new Set()]));
  for (const [from, all] of fileGraph) {
    for (const to of all) {
      if (folderOf(from) !== folderOf(to)) graph.get(folderOf(from)).add(folderOf(to));
    }
  }
  return graph;
};
/** Returns the graph of the direct children of each folder: what it draws as rooms and arrows. */
function graphsWithin() {
  const parents = new Set([...fileGraph.keys()].flatMap((path) => parentsOf(dirname(path))));
  return [...parents].map((parent) => {
    const childOf = (path) =>
      path.startsWith(`${parent}/`)
        ? path.slice(parent.length + 1).replace(/\/.*/, '/')
        : undefined;
    const graph = graphOf(childOf);
    graph.delete(undefined);
    for (const to of graph.values()) to.delete(undefined);
    return { parent, graph };
  });
}
const parentsOf = (folder) => (folder === '.' ? [] : [folder, ...parentsOf(dirname(folder))]);

const modules = graphOf((path) => path.split('/')[0]);

const withinFolders = graphsWithin();
const arrowsOf = (graph) => [...graph.values()].reduce((n, to) => n + to.size, 0);
/** Returns the largest of a measure of the graphs within folders, with the folder. */
const mostOf = (measure) =>
  withinFolders
    .map(({ parent, graph }) => ({ value: measure(graph), where: parent }))
    .reduce((most, one) => (one.value > most.value ? one : most));
/** Returns the most files of a folder of product code or tests, with the folder. */
function mostFiles() {
  const counts = new Map();
  const listed = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' }).split('\n');
  for (const path of listed) {
    if (/^test\/.*\.[jt]sx?$/.test(path) || fileGraph.has(bare(path))) {
      counts.set(dirname(path), (counts.get(dirname(path)) ?? 0) + 1);
    }
  }
  const [where, value] = [...counts].reduce((most, one) => (one[1] > most[1] ? one : most));
  return { value, where };
}

const lines = files.flatMap(({ text }) => text.split('\n').filter((line) => line.trim() !== ''));
const share = (count, all) => (100 * count) / all;
const perFile = files.map(measured);
const sumOf = (name, folder = '') =>
  perFile.reduce((n, one) => n + (one.path.startsWith(folder) ? one[name] : 0), 0);
const lengths = perFile.flatMap((one) => one.lengths).sort((a, b) => a - b);
const quantile = (part) => lengths[Math.min(lengths.length - 1, Math.floor(part * lengths.length))];

const exported =
  /^export (?:default )?(?:async )?(?:abstract )?(?:function|class|const|interface|type|enum) \*?\w+/;
const exportsOf = files.flatMap(({ text }) => {
  const all = text.split('\n');
  return all.flatMap((line, i) => (exported.test(line) ? [/\*\/\s*$/.test(all[i - 1] ?? '')] : []));
});

/**
 * Returns the subjects of the commits since the formatter was introduced, or none without the
 * history.
 */
function subjects() {
  const since = readFileSync(join(root, '.git-blame-ignore-revs'), 'utf8').match(/^[0-9a-f]{40}/m);
  try {
    return execFileSync('git', ['log', '--format=%s', `${since[0]}..`], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).split('\n');
  } catch {
    return [];
  }
}

const figures = [
  [
    'characters of a line that is not blank',
    lines.reduce((n, l) => n + l.length, 0) / lines.length,
    '≤',
    42,
  ],
  [
    'lines over 120 characters, %',
    share(lines.filter((line) => line.length > 120).length, lines.length),
    '≤',
    0.5,
  ],
  [
    'lines over 140 characters, %',
    share(lines.filter((line) => line.length > 140).length, lines.length),
    '≤',
    0.1,
  ],
  ['lines that begin several statements', sumOf('crowded'), '≤', 0],
  ['lines of a function, median', quantile(0.5), '≤', 6],
  ['lines of a function, 95th percentile', quantile(0.95), '≤', 28],
  ['lines of a function, most', lengths.at(-1), '≤', 60],
  ['circles of files, types counted', circles(fileGraph).length, '≤', 0],
  ['circles of folders', withinFolders.flatMap(({ graph }) => circles(graph)).length, '≤', 0],
  ['modules', modules.size, '≤', 15],
  ['layers of modules', layersOf(modules), '≤', 6],
  ['arrows between modules', arrowsOf(modules), '≤', 35],
  ['files of a folder, most', mostFiles(), '≤', 30],
  ['rooms in a folder, most', mostOf((graph) => graph.size), '≤', 25],
  ['floors in a folder, most', mostOf(layersOf), '≤', 9],
  ['arrows in a folder, most', mostOf(arrowsOf), '≤', 64],
  ['lines of product code', lines.length, '≤', 89_500],
  ['casts', sumOf('casts'), '≤', 350],
  ['casts to never', sumOf('nevers'), '≤', 5],
  ['casts in provider/', sumOf('casts', 'provider/'), '≤', 25],
  ['non-null assertions in provider/', sumOf('assertions', 'provider/'), '≤', 40],
  ['non-null assertions in apiserver/', sumOf('assertions', 'apiserver/'), '≤', 50],
  [
    'exported names with a doc comment, %',
    share(exportsOf.filter(Boolean).length, exportsOf.length),
    '≥',
    96,
  ],
  ['commit subjects over 72 characters', subjects().filter((s) => s.length > 72).length, '≤', 0],
];

let failed = false;
console.log(`${lines.length} lines of product code in ${files.length} files`);
for (const [name, figure, how, aim] of figures) {
  const { value, where = '' } = typeof figure === 'object' ? figure : { value: figure };
  const holds = how === '≤' ? value <= aim : value >= aim;
  failed ||= !holds;
  const shown = Number.isInteger(value) ? String(value) : value.toFixed(2);
  console.log(
    `${holds ? 'ok  ' : 'MISS'} ${name.padEnd(46)} ${shown.padStart(7)}   aim ${how} ${aim}   ${where}`,
  );
}
if (failed) process.exitCode = 1;
