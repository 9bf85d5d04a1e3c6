import { getTracer } from '../../observability/tracer.js';
import type { CidrList } from '../../security/cidr-list.js';
import { isFromProxy } from '../http/client-network.js';
import type { ApiRequest, ApiResponse } from '../http/message.js';

/**
 * Serves a request within a span, if tracing is on. `traceparent` is used only from a trusted proxy
 * (docs/design/operations.md#traces).
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

/** Names the span of a request by verb and kind, never by object name. */
export function nameSpan({ requestInfo, method, auditID }: ApiRequest, res: ApiResponse): void {
  const name =
    requestInfo?.type === 'resource'
      ? `${requestInfo.verb} ${requestInfo.kind.resource}${requestInfo.subresource ? `/${requestInfo.subresource}` : ''}`
      : (requestInfo?.type ?? 'request');
  getTracer()?.describeRequest(name, res.statusCode, {
    'http.request.method': method,
    'vestibule.audit_id': auditID,
  });
}
