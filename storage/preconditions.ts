import type { Entry, KeyCheck } from './storage.js';

/** Returns whether a check holds for the current entry. */
export function isMet({ is }: KeyCheck, entry: Entry | undefined): boolean {
  if (is === 'absent') return entry === undefined;
  return is === 'present' ? entry !== undefined : entry?.revision === is;
}
