import type { Req, Res } from '../http/message.js';

/**
 * One step of the request chain. It throws a StatusError to refuse the request, and returns a
 * promise only where it has to wait.
 */
export type Step = (req: Req, res: Res) => void | Promise<void>;
