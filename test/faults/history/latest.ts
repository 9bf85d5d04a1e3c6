import { Floor } from './floor.js';
import {
  byKey,
  type Change,
  type Get,
  type History,
  type List,
  placeAt,
  placed,
  writesOf,
} from './history.js';

/**
 * (3) A "latest" read is the newest write at or below its revision, and no older than anything
 * answered before it began.
 */
export function latest(history: History): string[] {
  const gets = history.calls.filter((call): call is Get => call.type === 'get');
  const lists = history.calls.filter((call): call is List => call.type === 'list');
  const floor = new Floor([
    ...placed(history),
    ...lists,
    ...gets.flatMap(({ end, revision }) => (revision === undefined ? [] : [{ end, revision }])),
  ]);
  const keys = byKey(history.log);
  const begun = new Map(
    writesOf(history).flatMap(({ value, start }) =>
      value === undefined ? [] : [[value, start] as const],
    ),
  );
  return [
    ...gets.flatMap((get) => faultOf(get, keys.get(get.key) ?? [], floor.before(get.start), begun)),
    ...lists.flatMap((list) => listFaults(list, keys, floor.before(list.start))),
  ];
}

function faultOf(
  { key, revision, value, end }: Get,
  changes: readonly Change[],
  floor: number,
  begun: ReadonlyMap<string, number>,
): string[] {
  if (revision === undefined) {
    return wasAbsent(changes, floor)
      ? []
      : [
          `${key} was not there for a reader, though it stood at ${floor}, which had been answered before`,
        ];
  }
  const at = placeAt(changes, revision);
  if (changes[at]?.revision !== revision || changes[at]!.value !== value) {
    return [`${key} was read as ${value} at ${revision}, which was never written`];
  }
  if ((begun.get(value!) ?? 0) > end) return [`${key} was read as ${value} before that was sent`];
  const next = changes[at + 1];
  return next && next.revision <= floor
    ? [
        `${key} was read at ${revision}, though ${next.revision} followed and ${floor} had been answered before`,
      ]
    : [];
}

/** Whether the key was absent at some revision that is not before `floor`. */
function wasAbsent(changes: readonly Change[], floor: number): boolean {
  const at = placeAt(changes, floor);
  return (
    changes[at]?.value === undefined ||
    changes.slice(at + 1).some(({ value }) => value === undefined)
  );
}

function listFaults(
  { revision, items, label }: List,
  keys: ReadonlyMap<string, readonly Change[]>,
  floor: number,
): string[] {
  if (revision < floor) {
    return [`a list is as of ${revision}, though ${floor} had been answered before it began`];
  }
  const expected = [...keys.values()]
    .map((changes) => changes[placeAt(changes, revision)])
    .filter(
      (change): change is Change =>
        change?.value !== undefined && (label === undefined || change.label === label),
    )
    .map((change) => `${change.key}=${change.value}@${change.revision}`)
    .sort();
  const listed = items.map((item) => `${item.key}=${item.value}@${item.revision}`).sort();
  return JSON.stringify(expected) === JSON.stringify(listed)
    ? []
    : [
        `a list as of ${revision}${label ? ` of ${label}` : ''} has ${listed.filter((one) => !expected.includes(one)).join(' ') || 'nothing'} too much and lacks ${expected.filter((one) => !listed.includes(one)).join(' ') || 'nothing'}`,
      ];
}
