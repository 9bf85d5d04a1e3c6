import { addMessages } from '../base/i18n.js';
import { Lazy } from '../base/lazy.js';

/** The views for the code and the emailed link, loaded while the address is typed. */
export const proofChunk = new Lazy(() => import('./proof-chunk.js'));

/** The views for setup and consent, loaded after that. */
export const consentChunk = new Lazy(() => import('./consent-chunk.js'));

/** The views for errors and the ends, loaded after that. */
export const endsChunk = new Lazy(() => import('./ends-chunk.js'));

/** Adds the messages of a chunk that was loaded. */
function withMessages<T extends { messages: Parameters<typeof addMessages>[0] }>(part: T): T {
  addMessages(part.messages);
  return part;
}

/** Why a session is not enough, loaded when one is not. */
export const stepUpChunk = new Lazy(() => import('./step-up.js').then(withMessages));

/** Follows the other tabs of the browser, loaded after the page is usable. */
export const otherTabsChunk = new Lazy(() => import('./other-tabs.js'));

/** The rows of the decision behind a refusal, loaded when policy refuses. */
export const refusalChunk = new Lazy(() => import('./refusal-facts.js').then(withMessages));
