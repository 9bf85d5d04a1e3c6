import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** Every mutant: its name, what it changes (in `file` the text `find`, which stands there once, becomes `replace`), and the test that catches it. */
export const mutants = JSON.parse(readFileSync(join(import.meta.dirname, 'mutants.json'), 'utf8'));

const wanted = process.env.VESTIBULE_MUTANT;
const chosen = wanted ? mutants.find(({ name }) => name === wanted) : undefined;
if (wanted && !chosen) throw new Error(`there is no mutant called ${wanted}`);

/** The text of a source file with these changes; throws where one does not find its place, or finds two. */
export function applied(changes, text, file) {
  for (const { find, replace } of changes.filter((change) => change.file === file)) {
    const parts = text.split(find);
    if (parts.length !== 2) throw new Error(`${JSON.stringify(find)} stands ${parts.length - 1} times in ${file}`);
    text = parts.join(replace);
  }
  return text;
}

/** A source file as the mutant of this run has it. */
export const mutated = (text, path) => (chosen ? applied(chosen.changes, text, relative(root, path)) : text);
