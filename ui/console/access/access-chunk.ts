import { Lazy } from '../../base/api/lazy.js';

/** The views of requests for access. */
export const accessChunk = new Lazy(() => import('./access-requests.js'));
