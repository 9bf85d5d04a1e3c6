import type { Caller } from '../../registry/caller.js';
import { group } from '../api-version.js';

/** The names of the Interaction kind, for modules that the kind itself imports. */
export const naming = {
  kind: 'Interaction',
  resource: 'interactions',
  group,
  heldBy: (caller: Caller, name: string): boolean =>
    caller.type === 'Browser' && caller.interaction === name,
} as const;
