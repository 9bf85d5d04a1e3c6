import { setTimeout as pause } from 'node:timers/promises';
import { pathOf } from './discovery.js';
import { CommandError, ApiRefusalError, SignedOut } from '../terminal/errors.js';
import type { FlagValues } from '../terminal/flags.js';
import {
  accepts,
  itemsOf,
  readAll,
  readOne,
  selection,
  type TableColumn,
  type Form,
  type ListItem,
  type ListResult,
} from './list.js';
import { lines } from './http.js';
import { refusal, type ApiClient, type Thing } from './api-client.js';
import type { ResourceArgs } from './resource-args.js';

/** A change to objects of one type; existing objects come first, as ADDED. */
export interface WatchedChange {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly items: readonly ListItem[];
  readonly columns: readonly TableColumn[];
}

/** The smallest and largest backoff between watches, in milliseconds. */
const waits = { least: 250, most: 5_000 };

/**
 * Lists, then watches, across restarts of the service and expired resourceVersions, without losing
 * or repeating a change. Once it has begun, only a refusal ends it. `lost` is called with the
 * reason of an interruption.
 */
export async function* changes(
  service: ApiClient,
  target: ResourceArgs,
  form: Form,
  flags: FlagValues,
  lost: (why: string) => void,
): AsyncGenerator<WatchedChange> {
  const { resource } = target;
  const chosen =
    target.name === undefined
      ? flags
      : {
          ...flags,
          'field-selector': `metadata.name=${(await readOne(service, resource, target.name, form)).items[0]!.object.metadata.name}`,
        };
  const list = (): Promise<ListResult> => readAll(service, resource, form, chosen);
  const held = new Held(await list());
  yield { type: 'ADDED', items: [...held.items], columns: held.columns };
  let isLost = false;
  for (let tries = 0; ; tries += 1) {
    const begun = Date.now();
    try {
      if (held.version === undefined) yield* held.become(await list());
      const query = selection(chosen);
      query.set('watch', 'true');
      query.set('allowWatchBookmarks', 'true');
      query.set('resourceVersion', held.version!);
      const stream = await service.stream(`${pathOf(resource)}?${query}`, accepts[form]);
      isLost = false;
      for await (const line of lines(stream)) {
        yield* held.take(JSON.parse(line) as Event);
        tries = 0;
      }
      if (Date.now() - begun > 1_000) tries = 0;
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (error instanceof ApiRefusalError && error.status === 410) held.version = undefined;
      else if (!isLost) {
        lost(error.message);
        isLost = true;
      }
    }
    await pause(
      Math.min(waits.most, waits.least * 2 ** Math.min(tries, 10)) * (0.5 + Math.random() / 2),
    );
  }
}

/** Reports whether a retry may succeed. */
const isPassing = (error: unknown): error is CommandError =>
  error instanceof CommandError &&
  !(error instanceof SignedOut) &&
  (!(error instanceof ApiRefusalError) || error.status >= 500 || [410, 429].includes(error.status));

interface Event {
  readonly type: WatchedChange['type'] | 'BOOKMARK' | 'ERROR';
  readonly object: Thing & { readonly code?: number };
}

/** The last known objects, and the resourceVersion that they reflect. */
class Held {
  /** The resourceVersion where the watch continues; undefined if a list is needed first. */
  version: string | undefined;
  columns: readonly TableColumn[];
  readonly #items: Map<string, ListItem>;

  constructor({ items, columns, version }: ListResult) {
    this.#items = new Map(items.map((item) => [idOf(item), item]));
    this.columns = columns;
    this.version = version;
  }

  get items(): Iterable<ListItem> {
    return this.#items.values();
  }

  /** Applies one event of the stream. */
  *take({ type, object }: Event): Generator<WatchedChange> {
    if (type === 'ERROR') throw refusal(object.code ?? 500, object as never);
    if (type === 'BOOKMARK') return void (this.version = object.metadata.resourceVersion!);
    const { items, columns } = itemsOf(object);
    if (columns.length > 0) this.columns = columns;
    for (const item of items) {
      this.version = item.object.metadata.resourceVersion!;
      yield this.#tell(type, item);
    }
  }

  /** Yields the changes between the last known objects and a new list. */
  *become({ items, columns, version }: ListResult): Generator<WatchedChange> {
    const now = new Set(items.map(idOf));
    if (columns.length > 0) this.columns = columns;
    for (const [id, item] of this.#items) {
      if (!now.has(id)) yield this.#tell('DELETED', item);
    }
    for (const item of items) {
      const former = this.#items.get(idOf(item));
      if (former?.object.metadata.resourceVersion !== item.object.metadata.resourceVersion)
        yield this.#tell(former ? 'MODIFIED' : 'ADDED', item);
    }
    this.version = version;
  }

  #tell(type: WatchedChange['type'], item: ListItem): WatchedChange {
    if (type === 'DELETED') this.#items.delete(idOf(item));
    else this.#items.set(idOf(item), item);
    return { type, items: [item], columns: this.columns };
  }
}

const idOf = ({ object: { metadata } }: ListItem): string => `${metadata.name} ${metadata.uid}`;
