import { Lazy } from '../base/api/lazy.js';
import { withMessages } from './store/lazy-refusal.js';

/** The views for the code and the emailed link, loaded while the address is typed. */
export const proofChunk = new Lazy(() => import('./proof-chunk.js'));

/** The views for setup and consent, loaded after that. */
export const consentChunk = new Lazy(() => import('./consent-chunk.js'));

/** The views for errors and the ends, loaded after that. */
export const endsChunk = new Lazy(() => import('./ends-chunk.js'));

/** Why a session is not enough, loaded when one is not. */
export const stepUpChunk = new Lazy(() => import('./store/step-up.js').then(withMessages));

/** Follows the other tabs of the browser, loaded after the page is usable. */
export const otherTabsChunk = new Lazy(() => import('./store/other-tabs.js'));
