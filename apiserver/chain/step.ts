import type { Awaitable } from '../../registry/kind.js';
import type { ApiRequest, ApiResponse } from '../http/message.js';

/**
 * One step of the request chain. It throws a StatusError to refuse the request, and returns a
 * promise only if it has to wait.
 */
export type Step = (req: ApiRequest, res: ApiResponse) => Awaitable<void>;
