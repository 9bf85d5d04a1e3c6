import { byKey, type History, placeAt, placed } from './history.js';

/** (2) A write that named a version had exactly that predecessor. */
export function predecessor(history: History): string[] {
  const keys = byKey(history.log);
  return placed(history)
    .filter(({ expects }) => expects !== undefined)
    .flatMap(({ key, revision, expects }) => {
      const changes = keys.get(key) ?? [];
      const before = changes[placeAt(changes, revision - 1)];
      const stood = before?.value === undefined ? undefined : before.revision;
      return stood === expects
        ? []
        : [
            `a write of ${key} at ${revision} insisted on ${expects} and took the place of ${stood ?? 'nothing'}`,
          ];
    });
}
