/** Decisions that were remembered, and those that were not, be it that they cannot be. */
export interface Memo {
  readonly hits: number;
  readonly misses: number;
}

/** Counters by name. */
export type Counts = ReadonlyMap<string, number>;

/** What the counters of policy say, whose names begin alike. */
export function memoOf(counts: Counts, prefix = ''): Memo {
  const of = (name: string): number => counts.get(`${prefix}${name}`) ?? 0;
  return { hits: of('hits'), misses: of('misses') + of('bypasses') };
}

/** What was added from one moment to another. */
export const memoSince = (before: Memo | undefined, after: Memo | undefined): { memo?: Memo } =>
  after
    ? {
        memo: {
          hits: after.hits - (before?.hits ?? 0),
          misses: after.misses - (before?.misses ?? 0),
        },
      }
    : {};
