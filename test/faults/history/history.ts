import { readFileSync, writeFileSync } from 'node:fs';

/**
 * When a call was sent and answered, in milliseconds of the recorder's monotonic clock; one without
 * an answer may take effect at any time after its start.
 */
export interface Span {
  readonly start: number;
  readonly end?: number;
}

/**
 * What became of a call: it was done, it was refused and changed nothing, or no one knows
 * (time-out, reset, 503 or 504 after it was sent).
 */
export type Outcome = 'done' | 'refused' | 'unknown';

/**
 * A write of one object; every value is written by one call alone. `revision` is what was answered;
 * of a deletion the answer names the uid instead.
 */
export interface Write extends Span {
  readonly type: 'write';
  readonly verb: 'create' | 'patch' | 'delete';
  readonly key: string;
  readonly outcome: Outcome;
  readonly value?: string;
  /** The version it insisted on. */
  readonly expects?: number;
  readonly revision?: number;
  readonly uid?: string;
}

/** A "latest" read of one object that was answered; without `revision`: it was not there. */
export interface Get extends Span {
  readonly type: 'get';
  readonly key: string;
  readonly end: number;
  readonly revision?: number;
  readonly value?: string;
}

/** What a list or a log says of one object. */
export interface Item {
  readonly key: string;
  readonly revision: number;
  readonly value: string;
}

/** A "latest" list that was answered, of all or of those with one label. */
export interface List extends Span {
  readonly type: 'list';
  readonly end: number;
  readonly label?: string;
  readonly revision: number;
  readonly items: readonly Item[];
}

/**
 * A try to use something up that can be used once: by a `proof` that is right or wrong. `used`: it
 * worked; `wrong`: it was checked, with so many tries left; `over`: there was nothing left to use.
 */
export interface Use extends Span {
  readonly type: 'use';
  readonly object: string;
  readonly by: 'code' | 'link' | 'grant';
  readonly right: boolean;
  readonly answer: 'used' | 'wrong' | 'over' | 'unknown';
  readonly triesLeft?: number;
}

/** A session's end, as it was answered. */
export interface SignOut extends Span {
  readonly type: 'signout';
  readonly session: string;
  readonly outcome: Outcome;
}

/**
 * Something that was accepted: a session's cookie, or a proof that is stored with an end. Wall
 * clock in milliseconds since the epoch.
 */
export interface Accepted extends Span {
  readonly type: 'accepted';
  readonly session?: string;
  readonly sent?: number;
  readonly until?: number;
  readonly tolerance?: number;
}

export type Call = Write | Get | List | Use | SignOut | Accepted;

/** What a watcher selects. */
export interface Filter {
  readonly key?: string;
  readonly label?: string;
}

/**
 * The steps of one watcher across reconnections: it listed, received an event, opened a watch, or
 * reached a revision up to which nothing is missing.
 */
export type Step =
  | { readonly step: 'listed'; readonly revision: number }
  | {
      readonly step: 'received';
      readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
      readonly key: string;
      readonly revision: number;
      readonly value: string;
    }
  | { readonly step: 'opened'; readonly from: number; readonly at: string }
  | { readonly step: 'reached'; readonly revision: number };

/** A watcher with its steps in order. */
export interface Track {
  readonly name: string;
  readonly filter: Filter;
  readonly steps: readonly Step[];
}

/**
 * One change as the store itself has it, read when all was over; without `value`: a deletion. `uid`
 * is of the object that was made, changed or deleted.
 */
export interface Change {
  readonly revision: number;
  readonly key: string;
  readonly uid: string;
  readonly value?: string;
  readonly label?: string;
}

/** What was done to the system while it was recorded. */
export interface Fault {
  readonly what: string;
  readonly start: number;
  readonly end: number;
}

/** One complete run: enough to check it again without the system. */
export interface History {
  readonly seed: number;
  readonly about: string;
  readonly calls: readonly Call[];
  readonly tracks: readonly Track[];
  readonly log: readonly Change[];
  readonly faults: readonly Fault[];
}

export const saveHistory = (path: string, history: History): void => {
  writeFileSync(path, JSON.stringify(history));
};
export const loadHistory = (path: string): History =>
  JSON.parse(readFileSync(path, 'utf8')) as History;

export const writesOf = ({ calls }: History): Write[] =>
  calls.filter((call): call is Write => call.type === 'write');

/**
 * Acknowledged writes with the revision they were made at: a deletion's is found in the log, by
 * what it deleted.
 */
export function placed(
  history: History,
): (Write & { readonly revision: number; readonly end: number })[] {
  const deletions = new Map(
    history.log
      .filter(({ value }) => value === undefined)
      .map(({ uid, revision }) => [uid, revision]),
  );
  return writesOf(history)
    .filter(({ outcome }) => outcome === 'done')
    .flatMap((write) => {
      const revision = write.verb === 'delete' ? deletions.get(write.uid!) : write.revision;
      return revision === undefined ? [] : [{ ...write, end: write.end!, revision }];
    });
}

/** The changes of each key, in order. */
export function byKey(log: readonly Change[]): ReadonlyMap<string, readonly Change[]> {
  const keys = new Map<string, Change[]>();
  for (const change of log) {
    const changes = keys.get(change.key);
    if (changes) {
      changes.push(change);
    } else {
      keys.set(change.key, [change]);
    }
  }
  return keys;
}

/**
 * Where the last of a key's changes at or below a revision stands among them; -1 where there is
 * none.
 */
export function placeAt(changes: readonly Change[], revision: number): number {
  let [low, high] = [0, changes.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (changes[middle]!.revision <= revision) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low - 1;
}
