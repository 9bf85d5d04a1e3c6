import { Floor } from './floor.js';
import { type History, placed } from './history.js';

/**
 * (1) A write that was answered before another began has the smaller revision; equal ones are of
 * different keys.
 */
export function order(history: History): string[] {
  const writes = placed(history);
  const floor = new Floor(writes);
  const faults = writes
    .filter(({ start, revision }) => floor.before(start) >= revision)
    .map(
      ({ verb, key, start, revision }) =>
        `${verb} of ${key} has revision ${revision}, though ${floor.before(start)} had been answered before it began`,
    );
  const taken = new Set<string>();
  for (const { key, revision } of writes) {
    if (taken.has(`${revision} ${key}`)) {
      faults.push(`two writes of ${key} have revision ${revision}`);
    }
    taken.add(`${revision} ${key}`);
  }
  return faults;
}
