import type { History, Use } from './history.js';

/** Codes that may be tried for one challenge. */
export const mostTries = 5;

/** The uses of each object. */
export function usesOf({ calls }: History): ReadonlyMap<string, readonly Use[]> {
  const objects = new Map<string, Use[]>();
  for (const call of calls) {
    if (call.type !== 'use') continue;
    const uses = objects.get(call.object);
    if (uses) {
      uses.push(call);
    } else {
      objects.set(call.object, [call]);
    }
  }
  return objects;
}

/**
 * (6) Each single-use object has at most one use, each challenge at most five judged tries, no two
 * of which left as many.
 */
export function singleUse(history: History): string[] {
  return [...usesOf(history)].flatMap(([object, uses]) => {
    const faults: string[] = [];
    const used = uses.filter(({ answer }) => answer === 'used');
    if (used.length > 1) faults.push(`${object} was used ${used.length} times`);
    const falsely = used.filter(({ right }) => !right);
    if (falsely.length > 0) faults.push(`${object} was opened by a wrong ${falsely[0]!.by}`);
    const judged = uses.filter(
      ({ answer, by }) => answer === 'wrong' || (answer === 'used' && by === 'code'),
    );
    if (judged.length > mostTries) faults.push(`${object} had ${judged.length} tries judged`);
    const left = judged.flatMap(({ triesLeft }) => (triesLeft === undefined ? [] : [triesLeft]));
    if (new Set(left).size < left.length) {
      faults.push(`${object} had two tries that left as many: ${left.join(' ')}`);
    }
    return faults;
  });
}
