import { StatusError } from '../../registry/status/status.js';
import { emptyQuery, timeoutMsOf } from '../codec/query.js';
import type { ApiRequest, ApiResponse, ParsedRequest } from '../http/message.js';
import { isWatchRequest } from '../request/request-info.js';
import type { Step } from './step.js';

/**
 * Fails a request with 504 when its `timeout` parameter has passed (Kubernetes API conventions).
 * Work that is done by then may persist, and a later response is discarded. The response clears the
 * timer; a watch has its own timeout.
 */
export const startDeadline =
  (fail: (req: ApiRequest, res: ApiResponse, error: StatusError) => void): Step<ParsedRequest> =>
  (req, res) => {
    const { requestInfo } = req;
    if (
      requestInfo.query === emptyQuery ||
      requestInfo.type === 'provider' ||
      isWatchRequest(requestInfo)
    ) {
      return;
    }
    const ms = timeoutMsOf(requestInfo.query);
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
