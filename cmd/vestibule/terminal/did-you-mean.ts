import { nearest } from '../../../registry/schema/nearest-name.js';

/**
 * Returns `; did you mean NAME?` for the nearest name, or nothing if none is near. All have the same
 * prefix, which is not compared.
 */
export function didYouMean(word: string, names: readonly string[], prefix = ''): string {
  const name = nearest(
    word.replace(prefix, ''),
    names.map((name) => name.replace(prefix, '')),
  );
  return name === undefined ? '' : `; did you mean ${prefix}${name}?`;
}
