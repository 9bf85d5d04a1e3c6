import type { ApiServerMetrics } from '../../observability/metrics/api-server-metrics.js';
import type { AnyKind, Verb } from '../../registry/kind.js';
import { emptyQuery } from '../codec/query.js';
import type { ApiRequest, ApiResponse } from '../http/message.js';
import { endpointName } from '../request/provider-paths.js';
import type {
  NonResourceRequestInfo,
  RequestInfo,
  ResourceRequestInfo,
} from '../request/request-info.js';

/** The verbs in kube-apiserver's metrics. */
const verbs: Readonly<Record<Verb, string>> = {
  get: 'GET',
  list: 'LIST',
  watch: 'WATCH',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETECOLLECTION',
};
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

const methodLabel = (method: string): string => (methods.has(method) ? method : 'other');

/** Counts one response, and for reads of objects its bytes, as kube-apiserver does. */
export function countRequest(
  metrics: ApiServerMetrics,
  req: ApiRequest,
  res: ApiResponse,
  durationMs: number,
): void {
  const labels = requestLabels(req.requestInfo, req.method);
  metrics.requests.inc({ ...labels, code: res.statusCode });
  if (labels.verb === 'WATCH') metrics.initializeWatchSeries(labels);
  metrics.requestDuration.observe(labels, durationMs / 1000);
  if (labels.resource !== '' && (labels.verb === 'GET' || labels.verb === 'LIST')) {
    metrics.responseSizes.observe(labels, res.bytes);
  }
}

/**
 * Returns the labels of a request, which never identify the caller, the object or the network. A
 * request that could not be parsed has only its method.
 */
export function requestLabels(requestInfo: RequestInfo | undefined, method: string) {
  if (requestInfo?.type !== 'resource') {
    return {
      verb: requestInfo?.isWatch ? verbs.watch : methodLabel(method),
      dry_run: '',
      group: '',
      version: '',
      resource: '',
      subresource: requestInfo === undefined ? '' : pathLabel(requestInfo),
      scope: '',
      component: 'apiserver',
    };
  }
  const { kind, view, verb, subresource = '', query } = requestInfo;
  return {
    verb: verbs[verb],
    dry_run: query !== emptyQuery && query.has('dryRun') ? 'All' : '',
    group: kind.group,
    version: view.version,
    resource: kind.resource,
    subresource,
    scope: scopeLabel(requestInfo),
    component: 'apiserver',
  };
}

function scopeLabel({ name, namespace, verb }: ResourceRequestInfo): string {
  if (name !== undefined || verb === 'create') return 'resource';
  return namespace === undefined ? 'cluster' : 'namespace';
}

/**
 * Returns the label of a path that is no object: the endpoint without its remainder, otherwise the
 * type.
 */
function pathLabel({ type, path }: NonResourceRequestInfo): string {
  if (type === 'provider') return endpointName(path);
  if (type === 'health') return `/${path.split('/')[1]}`;
  return type;
}

/** Returns the qualified resource name, for metrics with a single label. */
export const qualifiedResource = ({ resource, group }: AnyKind): string => `${resource}.${group}`;
