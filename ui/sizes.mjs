/**
 * Checks the size of the pages in bytes after gzip: `node ui/sizes.mjs` compares dist/ui with
 * ui/sizes.json and fails if something grew by more than 5 %. `--update` writes the file. Run it
 * after the build.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

const here = import.meta.dirname;
const built = join(here, '..', 'dist', 'ui');
const list = join(here, 'sizes.json');

/**
 * The maximum sizes in bytes after gzip: of a page with its script and style sheet, of the chunks
 * that it loads later, and of those with a limit of their own.
 */
const max = {
  account: 33_000,
  'account (later)': 5_000,
  'account (apps)': 6_500,
  'account (decisions)': 5_000,
  signin: 20_000,
  'signin (later)': 10_000,
  'signin (ends)': 3_500,
  'signin (rare)': 2_500,
  mailbox: 20_000,
  policy: 25_000,
  'policy (later)': 4_000,
  'policy (decisions)': 5_000,
  recovery: 16_000,
  console: 53_500,
  'console (settings)': 12_000,
  'console (appearance)': 4_500,
  'console (mail)': 3_500,
  'console (edit)': 7_000,
  'console (access)': 2_000,
  'console (groups)': 5_500,
  'console (report)': 2_500,
  'console (policy)': 10_500,
  'console (people)': 5_000,
  'console (apps)': 7_000,
  'console (later)': 14_500,
  'console (charts)': 25_000,
  'console (editor)': 110_000,
  'console (import)': 20_000,
  invitation: 16_000,
};

/** A page loads at most one catalog of another language. */
const isCatalog = (chunk) => chunk.includes('catalog:');

/** Chunks with a limit of their own: for a rare case, or with a library that one view needs. */
const own = new Map([
  ['decisions/decisions-chunk.ts', 'decisions'],
  ['signin/ends-chunk.ts', 'ends'],
  ['signin/store/other-tabs.ts', 'rare'],
  ['signin/store/refusal-facts.ts', 'rare'],
  ['signin/store/step-up.ts', 'rare'],
  ['console/policy/policy-parts.tsx', 'policy'],
  ['console/apps/apps-view.tsx', 'apps'],
  ['console/people/people-view.tsx', 'people'],
  ['console/settings/settings-view.tsx', 'settings'],
  ['console/settings/known-settings.json', 'settings'],
  ['console/appearance/appearance-view.tsx', 'appearance'],
  ['console/mail/mail-view.tsx', 'mail'],
  ['console/access/access-requests.tsx', 'access'],
  ['console/groups/group-view.tsx', 'groups'],
  ['console/apps/client-report.tsx', 'report'],
  ['console/objects/edit-parts.tsx', 'edit'],
  ['account/sections/app-sections.ts', 'apps'],
  ['console/people/people-import.tsx', 'import'],
  ['console/policy/policy-editor.ts', 'editor'],
  ['console/overview/bars.ts', 'charts'],
]);

const weight = async (file) => gzipSync(await readFile(join(built, file)), { level: 9 }).length;
const sum = async (files) =>
  (await Promise.all(files.map(weight))).reduce((all, one) => all + one, 0);

/** Returns the chunks that imports lead to, without catalogs. */
function laterChunks(manifest, imports) {
  const chunks = new Set();
  const add = (chunk) => {
    if (isCatalog(chunk) || chunks.has(chunk)) return;
    chunks.add(chunk);
    (manifest[chunk].dynamicImports ?? []).forEach(add);
  };
  imports.forEach(add);
  return chunks;
}

/** Returns the files that a page loads at once: its script and those that it imports. */
function pageFiles(manifest, shell) {
  const chunks = new Set();
  const add = (chunk) => {
    if (chunks.has(chunk)) return;
    chunks.add(chunk);
    (manifest[chunk].imports ?? []).forEach(add);
  };
  add(shell);
  return [...chunks].map((chunk) => manifest[chunk].file);
}

async function measure() {
  const manifest = JSON.parse(await readFile(join(built, 'manifest.json'), 'utf8'));
  const sizes = {};
  for (const [shell, { name, isEntry, dynamicImports = [] }] of Object.entries(manifest)) {
    if (!isEntry) continue;
    const style = manifest[`${name}.css`] ?? manifest['style.css'];
    sizes[name] = await sum([shell, ...pageFiles(manifest, shell), style.file]);
    for (const chunk of laterChunks(manifest, dynamicImports)) {
      const label = `${name} (${own.get(chunk) ?? 'later'})`;
      sizes[label] = (sizes[label] ?? 0) + (await weight(manifest[chunk].file));
    }
  }
  return Object.fromEntries(Object.entries(sizes).sort());
}

const sizes = await measure();
if (process.argv.includes('--update')) await writeFile(list, `${JSON.stringify(sizes, null, 2)}\n`);
const known = JSON.parse(await readFile(list, 'utf8'));
const faults = Object.entries(sizes).flatMap(([name, now]) => [
  ...(now > max[name] ? [`${name} weighs ${now} bytes, the limit is ${max[name]}`] : []),
  ...(now > (known[name] ?? 0) * 1.05
    ? [
        `${name} grew from ${known[name] ?? 0} to ${now} bytes; if that is meant: node ui/sizes.mjs --update`,
      ]
    : []),
]);
console.log(
  Object.entries(sizes)
    .map(([name, now]) => `${name}: ${now}`)
    .join('\n'),
);
if (faults.length) {
  console.error(faults.join('\n'));
  process.exitCode = 1;
}
