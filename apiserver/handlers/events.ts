import type { EncodedObject } from '../../registry/encoded-object.js';
import { eventRange, idOfEvent, subjectOfKey } from '../../registry/event-source.js';
import type { AnyKind, KindObject } from '../../registry/kind.js';
import { toStatusError } from '../../registry/status/storage-errors.js';
import type { Store } from '../../registry/store/store.js';
import type { KindView } from '../../registry/versions/kind-view.js';
import type { Keys } from '../../security/keyring.js';
import type { Revision } from '../../storage/storage.js';
import type { Authorization } from '../chain/authorization.js';
import { objectForCaller } from '../codec/object-encoding.js';
import type { Query } from '../codec/query.js';
import { type Representation, wholeIn } from '../codec/representation.js';
import type { ApiResponse, AuthorizedResourceRequest, ResourceRequest } from '../http/message.js';
import type { Encoder } from '../http/response.js';
import { ContinueTokens, selectorFingerprint } from './continue-token.js';
import { type EventSelector, parseEventSelector } from './event-selector.js';
import { viewContextOf } from './list-body.js';
import type { Watcher } from './watch/watch.js';

/** How many events are listed at most, the newest ones. */
const maxEvents = 100;

interface EventsDependencies {
  readonly store: Store;
  readonly authorization: Authorization;
  readonly encoder: Encoder;
  readonly watcher: Watcher;
  readonly keys: Keys;
}

/** Names of events at one revision; `next` is the key to go on after in another request. */
interface NamePage {
  readonly names: string[];
  readonly revision: Revision;
  readonly next?: string | undefined;
}

/** How many keys are looked at in one list. */
const maxKeys = 10_000;

/**
 * Serves the events about one object, which `kubectl describe` shows below it, or about any: a view
 * of those objects of the kind with `events` that the caller may see (docs/design/kubernetes.md#events).
 */
export class Events {
  readonly #store: Store;
  readonly #authorization: Authorization;
  readonly #encoder: Encoder;
  readonly #watcher: Watcher;
  readonly #tokens: ContinueTokens;

  constructor({ store, authorization, encoder, watcher, keys }: EventsDependencies) {
    this.#store = store;
    this.#authorization = authorization;
    this.#encoder = encoder;
    this.#watcher = watcher;
    this.#tokens = new ContinueTokens(keys, 'continue events');
  }

  /** Lists or watches the events that the query selects. */
  respond(query: Query, req: ResourceRequest, res: ApiResponse): Promise<void> {
    const { authorized } = req;
    const { requestInfo } = authorized;
    const selector = parseEventSelector(query);
    if (requestInfo.verb === 'list') return this.#list(query, req, res, selector);
    const { component } = this.#store.settings;
    const { kind } = requestInfo;
    const representation = eventRepresentation(authorized.requestInfo.view, component);
    const isSelected = (object: KindObject): boolean =>
      kind.events?.subject(object) !== undefined &&
      selector.matches(toEvent(kind, object, component));
    req.authorized = { ...authorized, requestInfo: { ...requestInfo, representation, isSelected } };
    return this.#watcher.watch(req, res);
  }

  async #list(
    query: Query,
    req: ResourceRequest,
    res: ApiResponse,
    selector: EventSelector,
  ): Promise<void> {
    const { authorized } = req;
    const { kind } = authorized.requestInfo;
    const items: object[] = [];
    let last: NamePage = { names: [], revision: 0 };
    for await (const page of this.#namePages(authorized, selector, query)) {
      last = page;
      for (let i = 0; i < page.names.length && items.length < maxEvents; i += maxEvents) {
        const names = page.names.slice(i, i + maxEvents);
        const found = await Promise.all(names.map((name) => this.#store.stored(kind, name)));
        const existing = found.filter((stored) => stored !== undefined);
        const events = await this.#visible(authorized, existing);
        items.push(...events.filter((event) => selector.matches(event)));
      }
      if (items.length >= maxEvents) break;
    }
    this.#encoder.json(req, res, 200, {
      kind: 'EventList',
      apiVersion: 'v1',
      metadata: {
        resourceVersion: String(last.revision),
        ...(last.next !== undefined &&
          items.length < maxEvents && {
            continue: this.#tokens.seal(authorized, {
              r: last.revision,
              k: last.next,
              q: selectorFingerprint(query),
            }),
          }),
      },
      items: items.slice(0, maxEvents),
    });
  }

  /**
   * Yields the names of selected events at one revision, the newest first, until `maxKeys` keys were
   * read; where there are more, the last page has the key to go on after. Those about one object are
   * in this order, and their pages grow; of any, all are read first.
   */
  async *#namePages(
    authorized: AuthorizedResourceRequest,
    { about, matchesKey }: EventSelector,
    query: Query,
  ): AsyncGenerator<NamePage> {
    const { owner } = authorized;
    const token = this.#tokens.open(authorized, query);
    const range = eventRange(about);
    const isOrdered = about.kind !== undefined && about.name !== undefined;
    let limit = isOrdered ? maxEvents : maxKeys;
    let from = token ? { start: `${token.k}!`, end: range.end } : range;
    let at: { at?: Revision } = token ? { at: token.r } : {};
    for (let count = 0; count < maxKeys; ) {
      const page = await toStatusError(this.#store.storage.list(from, { limit, ahead: 1, ...at }));
      const names = page.entries
        .map(({ key, value }) => ({ key, id: idOfEvent(key), name: value.toString() }))
        .filter(({ key, name }) => matchesKey(subjectOfKey(key), name))
        .filter(({ name }) => owner === undefined || name.startsWith(`${owner}-`))
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .map(({ name }) => name);
      count += page.entries.length;
      const next = page.more > 0 ? page.entries.at(-1)?.key : undefined;
      yield { names, revision: page.revision, ...(count >= maxKeys && { next }) };
      if (next === undefined) return;
      limit = Math.min(9 * count, maxKeys - count);
      at = { at: page.revision };
      from = { start: `${next}!`, end: range.end };
    }
  }

  /** Returns those of objects that the caller may see, as Events. */
  async #visible(
    authorized: AuthorizedResourceRequest,
    objects: readonly EncodedObject[],
  ): Promise<object[]> {
    const prepared = (await this.#authorization.loadFor(authorized, objects)) ?? authorized;
    const viewContext = viewContextOf(authorized);
    const { component } = this.#store.settings;
    return objects
      .filter((stored) => this.#authorization.canSee(prepared, stored))
      .map((stored) => toEvent(stored.kind, objectForCaller(stored, viewContext), component));
  }
}

/** The representation of objects of a watch as Events. */
const eventRepresentation = (view: KindView, component: string): Representation => ({
  ...wholeIn(view),
  cacheKey: () => 'event',
  singleObject: (stored, call, _first, revision = stored.revision) => {
    const { metadata, ...event } = toEvent(stored.kind, objectForCaller(stored, call), component);
    const current = { ...(metadata as object), resourceVersion: String(revision) };
    return Buffer.from(
      JSON.stringify({ kind: 'Event', apiVersion: 'v1', metadata: current, ...event }),
    );
  },
  bookmark: (_kind, metadata) => ({ kind: 'Event', apiVersion: 'v1', metadata }),
});

/** Returns an object as an Event of core/v1, in the namespace that Kubernetes uses for all of them. */
function toEvent(
  { apiVersion, events }: AnyKind,
  object: KindObject,
  component: string,
): Record<string, unknown> {
  const { name, uid, resourceVersion, creationTimestamp } = object.metadata;
  return {
    metadata: { name, namespace: 'default', uid, resourceVersion, creationTimestamp },
    involvedObject: { apiVersion, ...events?.subject(object) },
    ...events?.content(object),
    source: { component },
    reportingComponent: component,
    reportingInstance: '',
    eventTime: null,
  };
}
