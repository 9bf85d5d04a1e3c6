import { Lazy } from '../../base/api/lazy.js';

/** What the programs of Clients were seen to do. */
export const reportChunk = new Lazy(() => import('./client-report.js'));
