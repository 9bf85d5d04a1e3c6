import type { Check, Entry } from './storage.js';

/** Whether a check holds where this entry stands. */
export function isMet({ is }: Check, entry: Entry | undefined): boolean {
  if (is === 'absent') return entry === undefined;
  return is === 'present' ? entry !== undefined : entry?.revision === is;
}
