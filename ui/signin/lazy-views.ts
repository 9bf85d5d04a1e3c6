import { addMessages } from '../base/i18n.js';
import { Lazy } from '../base/lazy.js';

/** Code, errors and ends: fetched while the address is typed. */
export const proofChunk = new Lazy(() => import('./proof-chunk.js'));

/** Setup and consent: fetched after that. */
export const consentChunk = new Lazy(() => import('./consent-chunk.js'));

/** The decision behind a refusal: fetched when policy refuses. */
export const refusalChunk = new Lazy(() =>
  import('./refusal-facts.js').then((part) => {
    addMessages(part.messages);
    return part;
  }),
);
