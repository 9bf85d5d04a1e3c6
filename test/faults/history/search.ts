/**
 * An operation with the span in which it took effect; without `end` it may never have, and then any
 * result will do.
 */
export interface Operation<State> {
  readonly start: number;
  readonly end?: number;
  /**
   * The states it may lead to from this one with the result that was seen; none where that result
   * is impossible.
   */
  step(state: State): readonly State[];
}

/** More operations than this are too many to search. */
export const mostOperations = 200;

/**
 * Whether some order of the operations, each within its span, explains all that was seen: the
 * search of Wing and Gong, with Lowe's memory of which sets of operations have led to which states
 * already.
 */
export function isLinearizable<State>(
  operations: readonly Operation<State>[],
  initial: State,
  nameOf: (state: State) => string = JSON.stringify,
): boolean {
  if (operations.length > mostOperations) {
    throw new RangeError(`${operations.length} operations are more than ${mostOperations}`);
  }
  const sorted = [...operations].sort((a, b) => a.start - b.start);
  const must = sorted.reduce(
    (all, { end }, i) => (end === undefined ? all : all | (1n << BigInt(i))),
    0n,
  );
  const known = new Set<string>();
  const open: { done: bigint; state: State }[] = [{ done: 0n, state: initial }];
  for (let place = open.pop(); place; place = open.pop()) {
    const { done, state } = place;
    if ((done & must) === must) return true;
    const name = `${done.toString(36)} ${nameOf(state)}`;
    if (known.has(name)) continue;
    known.add(name);
    const left = sorted.flatMap((operation, i) =>
      done & (1n << BigInt(i)) ? [] : [{ operation, i }],
    );
    const firstEnd = Math.min(...left.map(({ operation }) => operation.end ?? Infinity));
    for (const { operation, i } of left) {
      if (operation.start > firstEnd) break;
      for (const next of operation.step(state)) {
        open.push({ done: done | (1n << BigInt(i)), state: next });
      }
    }
  }
  return false;
}
