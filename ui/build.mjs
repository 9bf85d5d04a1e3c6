/**
 * Builds the pages: `node ui/build.mjs` writes dist/ui, `node ui/build.mjs FOLDER PLUGIN` writes them
 * to a folder with the change of a Vite plugin. Merges the manifests of the entries into one in Vite's
 * form, and compresses the files once, into siblings that end in .br and .gz.
 */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { build } from 'vite';
import { listPackages } from '../hack/artefacts/runtime-packages.mjs';

const here = import.meta.dirname;
const [out = join(here, '..', 'dist', 'ui'), plugin] = process.argv.slice(2);
const entries = ['signin', 'account', 'mailbox', 'policy', 'recovery', 'console', 'invitation'];
const plugins = plugin
  ? [(await import(join(process.cwd(), plugin))).default]
  : [listPackages('pages')];

const codings = {
  br: (bytes) =>
    brotliCompressSync(bytes, {
      params: {
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  gz: (bytes) => gzipSync(bytes, { level: 9 }),
};

/** Writes the compressed siblings of a file where they are smaller than the file. */
async function compress(path) {
  const plain = await readFile(path);
  for (const [end, code] of Object.entries(codings)) {
    const bytes = code(plain);
    if (bytes.length < plain.length) await writeFile(`${path}.${end}`, bytes);
  }
}

await rm(out, { recursive: true, force: true });
const manifest = {};
for (const entry of entries) {
  await build({
    configFile: join(here, 'vite.config.ts'),
    mode: entry,
    plugins,
    build: { outDir: out },
  });
  const part = join(out, `manifest-${entry}.json`);
  const { 'style.css': style, ...rest } = JSON.parse(await readFile(part, 'utf8'));
  Object.assign(manifest, rest, {
    [/\/style-/.test(style.file) ? 'style.css' : `${entry}.css`]: style,
  });
  await rm(part);
}
await writeFile(join(out, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);

const files = await readdir(out, { recursive: true });
await Promise.all(
  files
    .filter((name) => /\.(html|js|css|svg)$/.test(name))
    .map((name) => compress(join(out, name))),
);
