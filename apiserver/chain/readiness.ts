import { unavailable } from '../../registry/status.js';
import type { Step } from './step.js';

/** Refuses everything but health checks until the server is ready. */
export const refuseUntilReady =
  (isReady: () => boolean): Step =>
  ({ ask }) => {
    if (!isReady() && ask!.type !== 'health') throw unavailable('starting');
  };
