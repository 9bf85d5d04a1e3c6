import { Lazy } from '../base/lazy.js';

/** The views of the state and the settings of the service, for those who may list replicas. */
export const serviceStateChunk = new Lazy(() => import('./service-state.js'));
