/** Returns the name that is nearest to `word`, if one is near enough to be meant. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((name) => ({ name, distance: distance(name, word) }))
    .sort((a, b) => a.distance - b.distance);
  return best && best.distance <= Math.max(1, Math.floor(word.length / 3)) ? best.name : undefined;
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
