import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

const root = join(import.meta.dirname, '../..');

/**
 * Every mutant: its name, what it changes (in `file` the text `find`, which stands there once,
 * becomes `replace`), and the test that catches it.
 */
export const mutants = JSON.parse(readFileSync(join(import.meta.dirname, 'mutants.json'), 'utf8'));

const wanted = process.env.VESTIBULE_MUTANT;
const chosen = wanted ? mutants.find(({ name }) => name === wanted) : undefined;
if (wanted && !chosen) throw new Error(`there is no mutant called ${wanted}`);

/**
 * Returns the text without what a formatter decides (white space, a comma or semicolon before a
 * closing bracket or at the end),
 * and for each character that is left where it stood.
 */
function significant(text) {
  const left = [];
  const dropSeparator = () => {
    if (left.length > 0 && ',;'.includes(text[left.at(-1)])) left.pop();
  };
  for (let at = 0; at < text.length; at += 1) {
    if (/\s/.test(text[at])) continue;
    if (')]}'.includes(text[at])) dropSeparator();
    left.push(at);
  }
  dropSeparator();
  return { characters: left.map((at) => text[at]).join(''), positions: left };
}

/** Where `find` stands in `text`, as pairs of beginning and end; white space does not count. */
function placesOf(find, text) {
  const wanted = significant(find).characters;
  if (wanted === '') throw new Error('a mutant must find some text');
  const { characters, positions } = significant(text);
  const places = [];
  for (let at = characters.indexOf(wanted); at >= 0; at = characters.indexOf(wanted, at + 1)) {
    places.push([positions[at], positions[at + wanted.length - 1] + 1]);
  }
  return places;
}

/**
 * The text of a source file with these changes; throws where one does not find its place, or finds
 * two.
 */
export function applied(changes, text, file) {
  for (const { find, replace } of changes.filter((change) => change.file === file)) {
    const places = placesOf(find, text);
    if (places.length !== 1) {
      throw new Error(`${JSON.stringify(find)} stands ${places.length} times in ${file}`);
    }
    const [[begin, end]] = places;
    const separated = /[,;]\s*$/.test(find) ? replace.replace(/[,;]\s*$/, '') : replace;
    text = `${text.slice(0, begin)}${separated}${text.slice(end)}`;
  }
  return text;
}

/** A source file as the mutant of this run has it. */
export const mutated = (text, path) =>
  chosen ? applied(chosen.changes, text, relative(root, path)) : text;
