/**
 * Prints the tables of docs/explanation/api-server-libraries.md from what hack/compare-libraries left in a
 * folder: node hack/compare-libraries.mjs FOLDER VERSION, with that of sample-apiserver.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';

const [work, version] = process.argv.slice(2);
const own = join(import.meta.dirname, '../test/library/wardle/server.ts');

/** Returns the files below a folder that match, as paths. */
const filesIn = (folder, pattern) =>
  readdirSync(folder, { recursive: true })
    .map((path) => join(folder, path))
    .filter((path) => pattern.test(path));

/** What only tests and scripts use. */
const isBeside = (path) => /_test\.go$|\/(hack|fuzzer|cmd\/models-schema)\//.test(path);
const isGenerated = (path) => /zz_generated|\/pkg\/generated\/|\.yaml$/.test(path);

/** Returns the lines of a file that are neither empty nor comments; markers for generators count. */
function linesOf(path) {
  const text = readFileSync(path, 'utf8').replaceAll(/^\s*\/\*[\s\S]*?\*\//gm, '');
  return text
    .split('\n')
    .filter((line) => /\S/.test(line) && !/^\s*(\/\/(?!\s*\+)|#|---$)/.test(line));
}

const counted = (files) => {
  const lines = files.reduce((sum, path) => sum + linesOf(path).length, 0);
  const of = files.length === 1 ? 'file' : 'files';
  return files.length === 0 ? 'none' : `${files.length} ${of}, ${lines.toLocaleString('en')} lines`;
};

const go = (folder) => filesIn(join(work, folder), /\.go$/).filter((path) => !isBeside(path));
const all = [[own], go('sample'), [...go('crd'), ...filesIn(join(work, 'crd/config'), /\.yaml$/)]];
const row = (...cells) => `| ${cells.join(' | ')} |`.replaceAll('|  |', '| |');
const heads = ['This core', 'sample-apiserver', 'CRD with controller-runtime'];
const line = `|${'---|'.repeat(heads.length + 1)}`;

console.log(`sample-apiserver ${version}, ${new Date().toISOString().slice(0, 10)}\n`);
console.log(row('', ...heads));
console.log(line);
for (const [name, belongs] of [
  ['Files and lines by hand', (path) => !isGenerated(path)],
  [
    'Of these, to convert between versions',
    (path) => /conversion\.go|defaults\.go/.test(path) && !isGenerated(path),
  ],
  ['Files and lines generated', isGenerated],
]) {
  console.log(row(name, ...all.map((files) => counted(files.filter(belongs)))));
}

const measured = JSON.parse(readFileSync(join(work, 'measured.json'), 'utf8'));
const range = (values) => {
  const sorted = values.map(Math.round).sort((a, b) => a - b);
  return `${sorted[sorted.length >> 1]} ms (${sorted[0]} to ${sorted.at(-1)})`;
};
console.log(`\nOn ${cpus().length} cores: ${cpus()[0].model}\n`);
console.log(row('', 'Start, median (all)', 'CPU until then', 'Memory'));
console.log('|---|---|---|---|');
for (const [name, { starts, cpu, declared, memory }] of Object.entries(measured)) {
  const isCRD = declared.length > 0;
  console.log(
    row(
      isCRD ? `${name}: the webhooks` : name,
      range(starts),
      range(cpu),
      `${Math.round(memory)} MB`,
    ),
  );
  if (!isCRD) continue;
  console.log(row(`${name}: declared until listed`, range(declared), '–', '–'));
}

console.log(`\n${row('', ...heads)}`);
console.log(line);
const features = ['This core, embedded', 'sample-apiserver', 'CRD'].map(
  (name) => measured[name].features,
);
for (const feature of Object.keys(features[0])) {
  console.log(row(feature, ...features.map((has) => (has[feature] ? 'yes' : 'no'))));
}
