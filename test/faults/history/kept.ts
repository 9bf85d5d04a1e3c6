import { type History, writesOf } from './history.js';

/**
 * (4) Every acknowledged write is in the final log, an unknown one at most once, a refused one
 * never, and nothing that no one wrote.
 */
export function kept(history: History): string[] {
  return [...lost(history), ...unasked(history), ...deletions(history)];
}

function lost(history: History): string[] {
  const log = new Set(history.log.map(({ key, revision, value }) => `${key}@${revision}=${value}`));
  return writesOf(history)
    .filter(({ verb, outcome }) => verb !== 'delete' && outcome === 'done')
    .filter(({ key, revision, value }) => !log.has(`${key}@${revision}=${value}`))
    .map(
      ({ key, revision, value }) =>
        `${value} was acknowledged for ${key} at ${revision} and is not in the log`,
    );
}

function unasked(history: History): string[] {
  const asked = new Map(
    writesOf(history)
      .filter(({ value }) => value !== undefined)
      .map((write) => [write.value!, write]),
  );
  const faults: string[] = [];
  const seen = new Map<string, number>();
  for (const { key, value, revision } of history.log) {
    if (value === undefined) continue;
    const write = asked.get(value);
    if (write?.key !== key) {
      faults.push(`${key} got ${value} at ${revision}, which no one wrote there`);
    } else if (write.outcome === 'refused') {
      faults.push(`${key} got ${value} at ${revision}, which had been refused`);
    }
    if (seen.has(value)) {
      faults.push(`${value} was written twice, at ${seen.get(value)} and ${revision}`);
    }
    seen.set(value, revision);
  }
  return faults;
}

/**
 * A deletion is known by what it deleted; where its answer was lost, each call accounts for one at
 * most.
 */
function deletions(history: History): string[] {
  const acknowledged = writesOf(history).filter(
    ({ verb, outcome }) => verb === 'delete' && outcome === 'done',
  );
  const faults: string[] = [];
  const counted = new Map<string, number>();
  for (const { value, uid } of history.log) {
    if (value === undefined) counted.set(uid, (counted.get(uid) ?? 0) + 1);
  }
  for (const { key, uid } of acknowledged) {
    if (counted.get(uid!) !== 1) {
      faults.push(
        `the deletion of ${key} (${uid}) was acknowledged and is ${counted.get(uid!) ?? 0} times in the log`,
      );
    }
  }
  const deleted = new Set<string>();
  for (const { key, uid } of acknowledged) {
    if (deleted.has(uid!)) {
      faults.push(`${key} (${uid}) was deleted for two callers`);
    } else {
      deleted.add(uid!);
    }
  }
  const open = new Map<string, number>();
  for (const { verb, outcome, key } of writesOf(history)) {
    if (verb === 'delete' && outcome === 'unknown') open.set(key, (open.get(key) ?? 0) + 1);
  }
  for (const { key, value, uid, revision } of history.log) {
    if (value !== undefined || deleted.has(uid)) continue;
    const left = open.get(key) ?? 0;
    if (left === 0) faults.push(`${key} (${uid}) was deleted at ${revision} by no one`);
    open.set(key, left - 1);
  }
  return faults;
}
