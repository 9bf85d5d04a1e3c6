/** Returns the name that is nearest to `word`, if one is near enough to be meant. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((name) => ({ name, distance: distance(name, word) }))
    .sort((a, b) => a.distance - b.distance);
  return best && best.distance <= Math.max(1, Math.floor(word.length / 3)) ? best.name : undefined;
}

/**
 * Returns `; did you mean NAME?` for the nearest name, or nothing if none is near. All have the same
 * prefix, which is not compared.
 */
export function didYouMean(word: string, names: readonly string[], prefix = ''): string {
  const name = nearest(
    word.replace(prefix, ''),
    names.map((one) => one.replace(prefix, '')),
  );
  return name === undefined ? '' : `; did you mean ${prefix}${name}?`;
}

/** Returns the Levenshtein distance. */
export function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...one].entries())
    row = row.reduce<number[]>(
      (next, above, at) => [
        ...next,
        at === 0
          ? i + 1
          : Math.min(
              above + 1,
              next[at - 1]! + 1,
              row[at - 1]! + (letter === other[at - 1] ? 0 : 1),
            ),
      ],
      [],
    );
  return row[other.length]!;
}
