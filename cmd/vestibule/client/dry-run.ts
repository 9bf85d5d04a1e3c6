import { CommandError } from '../terminal/errors.js';
import type { FlagValues } from '../terminal/flags.js';

/** Reports whether the request is a server-side dry run. */
export function isDryRun({ 'dry-run': how = 'none' }: FlagValues): boolean {
  if (how !== 'none' && how !== 'server') {
    throw new CommandError('--dry-run must be server or none', 2);
  }
  return how === 'server';
}
