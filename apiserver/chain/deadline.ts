import { StatusError } from '../../registry/status.js';
import type { Req, Res } from '../http/message.js';
import { none, timeoutMsOf } from '../codec/query.js';
import type { Ask } from '../request/request-info.js';

/**
 * Calls `fail` with a 504 when a request is not answered within the time that its `timeout` gives
 * it (Kubernetes API conventions); what is done by then may stand. Whoever still answers afterwards
 * is heard by no one. Returns the timer, to be cleared with the answer; a watch keeps its own time.
 */
export function startDeadline(
  req: Req,
  res: Res,
  ask: Ask,
  fail: (req: Req, res: Res, error: StatusError) => void,
): NodeJS.Timeout | undefined {
  if (
    ask.query === none ||
    ask.type === 'provider' ||
    (ask.type === 'resource' && ask.verb === 'watch')
  )
    return undefined;
  const ms = timeoutMsOf(ask.query);
  if (ms === undefined) return undefined;
  return setTimeout(() => {
    if (res.writableEnded) return;
    res.on('error', () => {});
    fail(
      req,
      res,
      new StatusError(
        'Timeout',
        'the request was not answered within its timeout; it is not known whether a change was made',
        undefined,
        { Connection: 'close' },
      ),
    );
  }, ms);
}
