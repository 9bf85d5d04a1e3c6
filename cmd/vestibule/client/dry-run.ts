import { Failure } from '../terminal/errors.js';
import type { Values } from '../terminal/flags.js';

/** Whether the service is to do all but keep it. */
export function isDryRun({ 'dry-run': how = 'none' }: Values): boolean {
  if (how !== 'none' && how !== 'server') throw new Failure('--dry-run is server or none', 2);
  return how === 'server';
}
