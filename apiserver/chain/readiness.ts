import { unavailable } from '../../registry/status/status.js';
import type { ParsedRequest } from '../http/message.js';
import type { Step } from './step.js';

/** Refuses everything but health checks until the server is ready. */
export const refuseUntilReady =
  (isReady: () => boolean): Step<ParsedRequest> =>
  ({ requestInfo }) => {
    if (!isReady() && requestInfo.type !== 'health') throw unavailable('starting');
  };
