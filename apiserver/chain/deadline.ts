import { StatusError } from '../../registry/status.js';
import type { Req, Res } from '../http/message.js';
import { none, timeoutMsOf } from '../codec/query.js';
import type { Step } from './step.js';

/**
 * Calls `fail` with a 504 when a request is not answered within the time that its `timeout` gives
 * it (Kubernetes API conventions); what is done by then may stand. Whoever still answers afterwards
 * is heard by no one. The timer is cleared with the answer; a watch keeps its own time.
 */
export const startDeadline =
  (fail: (req: Req, res: Res, error: StatusError) => void): Step =>
  (req, res) => {
    const ask = req.ask!;
    if (
      ask.query === none ||
      ask.type === 'provider' ||
      (ask.type === 'resource' && ask.verb === 'watch')
    )
      return;
    const ms = timeoutMsOf(ask.query);
    if (ms === undefined) return;
    req.deadline = setTimeout(() => {
      if (res.writableEnded) return;
      res.on('error', () => {});
      fail(req, res, timeout());
    }, ms);
  };

const timeout = (): StatusError =>
  new StatusError(
    'Timeout',
    'the request was not answered within its timeout; it is not known whether a change was made',
    undefined,
    { Connection: 'close' },
  );
