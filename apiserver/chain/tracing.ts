import type { AddressList } from '../../security/cidr-list.js';
import { tracing } from '../../observability/tracer.js';
import type { Req, Res } from '../http/message.js';
import { isFromProxy } from '../http/client-network.js';

/**
 * Serves a request, within a span where somebody wants them; the trace that it says it belongs to
 * counts from a trusted proxy alone (docs/design/operations.md#traces).
 */
export function withinSpan(
  req: Req,
  trusted: AddressList | undefined,
  serve: () => Promise<void>,
): Promise<void> {
  const tracer = tracing();
  if (!tracer) return serve();
  const { traceparent } = req.headers;
  return tracer.request(
    typeof traceparent === 'string' && isFromProxy(req, trusted) ? traceparent : undefined,
    serve,
  );
}

/** Calls the span of a request after what was asked: a verb and a kind, never a name. */
export function nameSpan({ ask, method, auditID }: Req, res: Res): void {
  const name =
    ask?.type === 'resource'
      ? `${ask.verb} ${ask.kind.resource}${ask.action ? `/${ask.action.subresource}` : ''}`
      : (ask?.type ?? 'request');
  tracing()?.answered(name, res.statusCode, {
    'http.request.method': method!,
    'vestibule.audit_id': auditID,
  });
}
