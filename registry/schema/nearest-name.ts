/**
 * Returns the name that is nearest to `word`, if one is near enough to be meant. Case counts only
 * between names that are equally near.
 */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((name) => ({
      name,
      edits: distance(name.toLowerCase(), word.toLowerCase()),
      exactEdits: distance(name, word),
    }))
    .sort((a, b) => a.edits - b.edits || a.exactEdits - b.exactEdits);
  return best && best.edits <= Math.max(1, Math.floor(word.length / 3)) ? best.name : undefined;
}

/** Returns the Levenshtein distance. */
export function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [i, letter] of [...one].entries()) {
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
  }
  return row[other.length]!;
}
