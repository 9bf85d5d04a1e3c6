import { setTimeout as pause } from 'node:timers/promises';
import { ApiStatusError, CommandError, SignedOutError } from '../../terminal/errors.js';
import type { FlagValues } from '../../terminal/flags.js';
import { backoffMs } from '../backoff.js';
import { type ApiClient, type ApiObject, statusError } from './api-client.js';
import { resourcePath } from './discovery.js';
import { lines } from './http.js';
import {
  acceptHeaders,
  itemsOf,
  type ListForm,
  type ListItem,
  type ListResult,
  readAll,
  readOne,
  selectorQuery,
  type TableColumn,
} from './list.js';
import type { ResourceArgs } from './resource-args.js';

/** A change to objects of one type; existing objects come first, as ADDED. */
export interface WatchedChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly items: readonly ListItem[];
  readonly columns: readonly TableColumn[];
}

const pausesMs = { min: 250, max: 5_000 };

/**
 * Lists, then watches, across restarts of the service and expired resourceVersions, without losing
 * or repeating a change. Once it has begun, only a refusal ends it. `lost` is called with the
 * reason of an interruption.
 */
export async function* watchChanges(
  service: ApiClient,
  target: ResourceArgs,
  form: ListForm,
  flags: FlagValues,
  onInterrupt: (why: string) => void,
): AsyncGenerator<WatchedChange> {
  const { resource } = target;
  const targetFlags =
    target.name === undefined
      ? flags
      : {
          ...flags,
          'field-selector': `metadata.name=${(await readOne(service, resource, target.name, form)).items[0]!.object.metadata.name}`,
        };
  const list = (): Promise<ListResult> => readAll(service, resource, form, targetFlags);
  const known = new KnownObjects(await list());
  yield { type: 'ADDED', items: [...known.items], columns: known.columns };
  let isInterrupted = false;
  for (let failureCount = 0; ; failureCount += 1) {
    const startedAt = Date.now();
    try {
      if (known.resourceVersion === undefined) yield* known.applyList(await list());
      const query = selectorQuery(targetFlags);
      query.set('watch', 'true');
      query.set('allowWatchBookmarks', 'true');
      query.set('resourceVersion', known.resourceVersion!);
      const stream = await service.stream(
        `${resourcePath(resource)}?${query}`,
        acceptHeaders[form],
      );
      isInterrupted = false;
      for await (const line of lines(stream)) {
        yield* known.applyEvent(JSON.parse(line) as Event);
        failureCount = 0;
      }
      if (Date.now() - startedAt > 1_000) failureCount = 0;
    } catch (error) {
      if (!isRetryable(error)) throw error;
      if (error instanceof ApiStatusError && error.status === 410) {
        known.resourceVersion = undefined;
      } else if (!isInterrupted) {
        onInterrupt(error.message);
        isInterrupted = true;
      }
    }
    await pause(backoffMs(failureCount + 1, pausesMs));
  }
}

/** Reports whether a retry may succeed. */
const isRetryable = (error: unknown): error is CommandError =>
  error instanceof CommandError &&
  !(error instanceof SignedOutError) &&
  (!(error instanceof ApiStatusError) || error.status >= 500 || [410, 429].includes(error.status));

interface Event {
  readonly type: WatchedChange['type'] | 'BOOKMARK' | 'ERROR';
  readonly object: ApiObject & { readonly code?: number };
}

/** The last known objects, and the resourceVersion that they reflect. */
class KnownObjects {
  /** The resourceVersion where the watch continues; undefined if a list is needed first. */
  resourceVersion: string | undefined;
  columns: readonly TableColumn[];
  readonly #items: Map<string, ListItem>;

  constructor({ items, columns, version }: ListResult) {
    this.#items = new Map(items.map((item) => [idOf(item), item]));
    this.columns = columns;
    this.resourceVersion = version;
  }

  get items(): Iterable<ListItem> {
    return this.#items.values();
  }

  /** Applies one event of the stream. */
  *applyEvent({ type, object }: Event): Generator<WatchedChange> {
    if (type === 'ERROR') throw statusError(object.code ?? 500, object);
    if (type === 'BOOKMARK') return void (this.resourceVersion = object.metadata.resourceVersion!);
    const { items, columns } = itemsOf(object);
    if (columns.length > 0) this.columns = columns;
    for (const item of items) {
      this.resourceVersion = item.object.metadata.resourceVersion!;
      yield this.#record(type, item);
    }
  }

  /** Yields the changes between the last known objects and a new list. */
  *applyList({ items, columns, version }: ListResult): Generator<WatchedChange> {
    const ids = new Set(items.map(idOf));
    if (columns.length > 0) this.columns = columns;
    for (const [id, item] of this.#items) {
      if (!ids.has(id)) yield this.#record('DELETED', item);
    }
    for (const item of items) {
      const previous = this.#items.get(idOf(item));
      if (previous?.object.metadata.resourceVersion !== item.object.metadata.resourceVersion) {
        yield this.#record(previous ? 'MODIFIED' : 'ADDED', item);
      }
    }
    this.resourceVersion = version;
  }

  #record(type: WatchedChange['type'], item: ListItem): WatchedChange {
    if (type === 'DELETED') {
      this.#items.delete(idOf(item));
    } else {
      this.#items.set(idOf(item), item);
    }
    return { type, items: [item], columns: this.columns };
  }
}

const idOf = ({ object: { metadata } }: ListItem): string => `${metadata.name} ${metadata.uid}`;
