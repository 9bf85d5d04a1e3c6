import type { Awaitable } from '../../registry/kind.js';
import type { ApiRequest, ApiResponse } from '../http/message.js';

/**
 * One step of the request chain. It throws a StatusError to refuse the request, and returns a
 * promise only if it has to wait.
 */
export type Step<Request extends ApiRequest = ApiRequest> = (
  req: Request,
  res: ApiResponse,
) => Awaitable<void>;

/** Returns the steps that run after those that read (and permit) the request, for the one chain. */
export const afterwards = <Request extends ApiRequest>(
  ...steps: readonly Step<Request>[]
): readonly Step[] => steps as readonly Step[];
