import { group } from '../define-kind.js';

/** The names of the Interaction kind, for modules that the kind itself imports. */
export const naming = {
  kind: 'Interaction',
  resource: 'interactions',
  group,
  boundToCookie: true,
} as const;
