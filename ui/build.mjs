/**
 * Builds the pages: `node ui/build.mjs` writes dist/ui, `node ui/build.mjs gallery` writes dist/ui-gallery.
 * The manifests of the entries are merged into one, in Vite's form.
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'vite';

const here = import.meta.dirname;
const gallery = process.argv.includes('gallery');
const entries = gallery ? ['gallery'] : ['signin', 'mailbox'];
const out = join(here, '..', 'dist', gallery ? 'ui-gallery' : 'ui');

await rm(out, { recursive: true, force: true });
const manifest = {};
for (const entry of entries) {
  await build({ configFile: join(here, 'vite.config.ts'), mode: entry });
  const part = join(out, `manifest-${entry}.json`);
  Object.assign(manifest, JSON.parse(await readFile(part, 'utf8')));
  await rm(part);
}
await writeFile(join(out, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
