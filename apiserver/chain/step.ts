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

/** Returns steps for the one chain, in which earlier steps have set what \`Request\` has. */
export const stepsOf = <Request extends ApiRequest>(
  ...steps: readonly Step<Request>[]
): readonly Step[] => steps as readonly Step[];
