/**
 * Builds the gallery, every view of the pages in every state: `node test/browser/gallery/build.mjs
 * FOLDER`. The mutant that VESTIBULE_MUTANT names applies.
 */
import { join } from 'node:path';
import { build } from 'vite';
import mutant from '../../mutants/vite-plugin.mjs';

const here = import.meta.dirname;

await build({
  configFile: join(here, '../../../ui/vite.config.ts'),
  root: here,
  mode: 'gallery',
  plugins: [mutant],
  build: {
    outDir: process.argv[2],
    rolldownOptions: { input: join(here, 'gallery.html') },
  },
});
