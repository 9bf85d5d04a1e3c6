import type { Action } from '../../registry/action.js';
import type { AnyKind, Verb } from '../../registry/kind.js';
import { group, version } from '../../registry/kind.js';
import { Histogram, Counter } from '../../observability/counters.js';
import type { ApiRequest, ApiResponse } from '../http/message.js';
import { endpointName } from '../request/provider-paths.js';
import { none } from '../codec/query.js';
import type {
  RequestInfo,
  NonResourceRequestInfo,
  ResourceRequestInfo,
} from '../request/request-info.js';

/** Seconds, as a kube-apiserver sorts its answers by. */
export const requestSeconds: readonly number[] = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45,
  60,
];
/** Bytes, likewise. */
export const responseBytes: readonly number[] = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

/** What tells requests apart: never who asks, for which object, or from where. */
export interface RequestLabels {
  readonly verb: string;
  readonly dry_run: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  readonly scope: string;
  readonly component: 'apiserver';
}

/** Requests of one sort. */
export class RequestSeries {
  readonly labels: RequestLabels;
  readonly codes = new Map<number, number>();
  readonly seconds = new Histogram(requestSeconds);
  /** Of reads of objects alone, as a kube-apiserver does. */
  readonly bytes: Histogram | undefined;
  /** Watches open now. */
  open = 0;

  constructor(labels: RequestLabels) {
    this.labels = labels;
    this.bytes =
      labels.resource !== '' && (labels.verb === 'GET' || labels.verb === 'LIST')
        ? new Histogram(responseBytes)
        : undefined;
  }
}

/** The verbs as a kube-apiserver's metrics name them. */
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

/** Counters of the HTTP core, made only with a metrics port. */
export class ServerMeter {
  readonly watchEvents = new Counter();
  /** Watches cut off since their reader was too slow. */
  readonly terminated = new Counter();
  readonly authentications = new Counter(['success', 'failure', 'error']);
  readonly #objects = new Map<AnyKind, Map<Action | Verb, RequestSeries[]>>();
  readonly #others = new Map<string, RequestSeries>();

  /** Counts one answer. */
  record(req: ApiRequest, res: ApiResponse, milliseconds: number): void {
    const series = this.of(req.requestInfo, req.method!);
    const code = res.statusCode;
    series.codes.set(code, (series.codes.get(code) ?? 0) + 1);
    series.seconds.observe(milliseconds / 1000);
    series.bytes?.observe(res.bytes);
  }

  /** The series that a request counts in; one that could not be read counts by its method alone. */
  of(requestInfo: RequestInfo | undefined, method: string): RequestSeries {
    return requestInfo?.type === 'resource'
      ? this.#object(requestInfo)
      : this.#other(requestInfo, methods.has(method) ? method : 'other');
  }

  /** Every series there is by now. */
  *all(): Generator<RequestSeries> {
    for (const ofKind of this.#objects.values())
      for (const slots of ofKind.values()) yield* slots.filter(Boolean);
    yield* this.#others.values();
  }

  #object(requestInfo: ResourceRequestInfo): RequestSeries {
    const { kind, verb, action, name, query } = requestInfo;
    let ofKind = this.#objects.get(kind);
    if (!ofKind) {
      ofKind = new Map();
      this.#objects.set(kind, ofKind);
    }
    let slots = ofKind.get(action ?? verb);
    if (!slots) {
      slots = [];
      ofKind.set(action ?? verb, slots);
    }
    const one = name !== undefined || verb === 'create';
    const dry = query !== none && query.has('dryRun');
    const slot = (one ? 1 : 0) + (dry ? 2 : 0);
    slots[slot] ??= new RequestSeries({
      verb: verbs[verb],
      dry_run: dry ? 'All' : '',
      group: kind.group,
      version,
      resource: kind.resource,
      subresource: action?.subresource ?? '',
      scope: one ? 'resource' : 'cluster',
      component: 'apiserver',
    });
    return slots[slot];
  }

  #other(requestInfo: NonResourceRequestInfo | undefined, verb: string): RequestSeries {
    const subresource = requestInfo === undefined ? '' : placeOf(requestInfo);
    const key = `${verb} ${subresource}`;
    const before = this.#others.get(key);
    if (before) return before;
    const series = new RequestSeries({
      verb,
      dry_run: '',
      group: '',
      version: '',
      resource: '',
      subresource,
      scope: '',
      component: 'apiserver',
    });
    this.#others.set(key, series);
    return series;
  }
}

/**
 * What a path that is no object's is called: an endpoint by its own, without what may follow it,
 * anything else by its sort.
 */
function placeOf({ type, path }: NonResourceRequestInfo): string {
  if (type === 'provider') return endpointName(path);
  if (type === 'health') return `/${path.split('/')[1]}`;
  return type;
}

/** Kubernetes' name of a kind's resource, where one label has to do. */
export const qualified = (resource: string): string => `${resource}.${group}`;
