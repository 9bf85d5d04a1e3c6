import { Lazy } from '../base/lazy.js';

/** The views of requests for access. */
export const accessChunk = new Lazy(() => import('./access-requests.js'));
