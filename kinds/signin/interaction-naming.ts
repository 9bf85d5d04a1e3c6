import { group } from '../../registry/kind.js';

/** What messages and keys call the kind; pieces of the kind itself cannot import it. */
export const naming = {
  kind: 'Interaction',
  resource: 'interactions',
  group,
  boundToCookie: true,
} as const;
