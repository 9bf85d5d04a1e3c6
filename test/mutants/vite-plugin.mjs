import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { mutated } from './mutant.mjs';

/** A style sheet with those that it imports: Vite reads these without asking a plugin. */
const whole = (css, path) =>
  mutated(css, path).replaceAll(/@import ['"](\.[^'"]+)['"];/g, (_, name) => {
    const imported = join(path, '..', name);
    return whole(readFileSync(imported, 'utf8'), imported);
  });

/**
 * Builds pages after the change of the mutant that VESTIBULE_MUTANT names, if it names one
 * (`node ui/build.mjs FOLDER test/mutants/vite-plugin.mjs`).
 */
export default {
  name: 'mutant',
  enforce: 'pre',
  transform(code, id) {
    if (id.endsWith('.css')) return whole(code, id);
    return /\.tsx?$/.test(id) ? mutated(code, id) : undefined;
  },
};
