import type { CidrList } from '../../security/cidr-list.js';
import { getTracer } from '../../observability/tracer.js';
import type { ApiRequest, ApiResponse } from '../http/message.js';
import { isFromProxy } from '../http/client-network.js';

/**
 * Serves a request, within a span where someone wants them; the trace that it says it belongs to
 * counts from a trusted proxy alone (docs/design/operations.md#traces).
 */
export function withinSpan(
  req: ApiRequest,
  trusted: CidrList | undefined,
  serve: () => Promise<void>,
): Promise<void> {
  const tracer = getTracer();
  if (!tracer) return serve();
  const { traceparent } = req.headers;
  return tracer.request(
    typeof traceparent === 'string' && isFromProxy(req, trusted) ? traceparent : undefined,
    serve,
  );
}

/** Calls the span of a request after what was asked: a verb and a kind, never a name. */
export function nameSpan({ requestInfo, method, auditID }: ApiRequest, res: ApiResponse): void {
  const name =
    requestInfo?.type === 'resource'
      ? `${requestInfo.verb} ${requestInfo.kind.resource}${requestInfo.action ? `/${requestInfo.action.subresource}` : ''}`
      : (requestInfo?.type ?? 'request');
  getTracer()?.describeRequest(name, res.statusCode, {
    'http.request.method': method!,
    'vestibule.audit_id': auditID,
  });
}
