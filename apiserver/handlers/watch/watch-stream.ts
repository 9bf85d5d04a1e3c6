import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ApiServerMetrics } from '../../../observability/metrics/api-server-metrics.js';
import { EncodedObject, isLive, objectKey } from '../../../registry/encoded-object.js';
import type { AnyKind, Caller } from '../../../registry/kind.js';
import { minuteMs } from '../../../registry/schema/units.js';
import { type StatusError, unavailable } from '../../../registry/status/status.js';
import { toStatusError } from '../../../registry/status/storage-errors.js';
import type { Store } from '../../../registry/store/store.js';
import type { WatchCacheEvent } from '../../../registry/watchcache/event.js';
import type { Subscription } from '../../../registry/watchcache/watch-cache.js';
import { type Range, type Revision, startAfter } from '../../../storage/storage.js';
import type { Authorization } from '../../chain/authorization.js';
import { qualifiedResource } from '../../chain/metrics.js';
import type { Representation } from '../../codec/representation.js';
import { keepOpen } from '../../http/keep-open.js';
import type { ApiResponse, AuthorizedResourceRequest } from '../../http/message.js';
import { rangeOf, selectedName } from '../requested-range.js';
import { staleRevision } from '../resource-version.js';
import { type WaitingEvent, WaitingEvents } from './waiting-events.js';
import type { WatchAuthority } from './watch-authority.js';
import { statusOf, tooOld } from './watch-errors.js';
import { WatchFrame } from './watch-frame.js';
import type { WatchOptions } from './watch-options.js';

const limits = {
  bytes: 1 << 20,
  bookmarkMs: 25_000,
  recheckMs: 10_000,
  invalidMs: 200,
  drainTimeoutMs: minuteMs,
};

/** One open watch. */
export class WatchStream {
  readonly #store: Store;
  readonly #authorization: Authorization;
  readonly #authorized: AuthorizedResourceRequest;
  readonly #options: WatchOptions;
  readonly #res: ApiResponse;
  readonly #authority: WatchAuthority;
  readonly #metrics: ApiServerMetrics | undefined;
  readonly #prefix: string;
  readonly #exactName: string | undefined;
  #subscription: Subscription | undefined;
  #deliveredRevision: Revision = 0;
  readonly #waiting = new WaitingEvents();
  /** Pending while events wait. */
  #delivering: Promise<void> | undefined;
  /** Whether no more events are taken: the stream ends after those that wait. */
  #isClosing = false;
  /** Whether nothing more is sent. */
  #isCut = false;
  #hasSentEvent = false;
  /** Pending while the authority is checked soon. */
  #soon: NodeJS.Timeout | undefined;
  #resolveEnded: () => void = () => {};

  constructor(
    store: Store,
    authorization: Authorization,
    authorized: AuthorizedResourceRequest,
    options: WatchOptions,
    res: ApiResponse,
    authority: WatchAuthority,
    metrics?: ApiServerMetrics,
  ) {
    this.#store = store;
    this.#authorization = authorization;
    // What was loaded for the request would be old after a while.
    const { entities: _, ...current } = authorized;
    this.#authorized = current;
    this.#options = options;
    this.#res = res;
    this.#authority = authority;
    this.#metrics = metrics;
    const range = this.#range;
    this.#prefix = range.start.slice(objectKey(this.#kind, '').length);
    this.#exactName = range.end === `${range.start}!` ? this.#prefix : undefined;
  }

  get caller(): Caller {
    return this.#authorized.caller;
  }

  /** Notes that a change could have ended the caller's authority; ends the stream soon if it did. */
  invalidate(): void {
    this.#authority.invalidate();
    this.#soon ??= setTimeout(() => {
      this.#soon = undefined;
      if (!this.#res.destroyed) void this.#mayGoOn();
    }, Math.random() * limits.invalidMs).unref();
  }

  /** Whether a page follows these objects, of which a GET shows more than a watch. */
  get hasDecoration(): boolean {
    return this.#kind.heldBy !== undefined && this.#kind.strategy.decorate !== undefined;
  }

  /** Runs the stream; resolves when it has ended. */
  async run(): Promise<void> {
    if (this.#res.destroyed) return;
    const ended = new Promise<void>((resolve) => {
      this.#resolveEnded = resolve;
      this.#res.once('close', resolve);
    });
    const timers = [
      setTimeout(() => this.finish(), this.#options.timeoutMs),
      this.#every(limits.recheckMs, () => this.#mayGoOn()),
      this.#every(limits.bookmarkMs * (0.9 + Math.random() / 5), () => this.#bookmark()),
    ];
    const restore = keepOpen(this.#res.req.socket);
    try {
      await this.#start();
      await ended;
    } catch (error) {
      this.#error(statusOf(error));
    } finally {
      for (const timer of [...timers, this.#soon]) clearTimeout(timer);
      this.#isCut = true;
      this.#subscription?.leave();
      restore();
      this.#res.end();
    }
  }

  /**
   * Ends the stream after the events that wait, with a last bookmark if there are none and the client
   * asked for bookmarks.
   */
  finish(): void {
    this.#bookmark();
    this.#close();
  }

  get #range(): Range {
    const { requestInfo } = this.#authorized;
    return rangeOf(this.#authorized, selectedName(requestInfo, this.#options.selector.name));
  }
  get #kind(): AnyKind {
    return this.#authorized.requestInfo.kind;
  }
  get #view(): Representation {
    return this.#authorized.requestInfo.representation;
  }

  /** Whether no event was sent yet. */
  #isFirst(): boolean {
    const first = !this.#hasSentEvent;
    this.#hasSentEvent = true;
    return first;
  }

  #every(intervalMs: number, work: () => unknown): NodeJS.Timeout {
    return setInterval(() => {
      if (!this.#res.destroyed) void work();
    }, intervalMs);
  }

  /** Returns whether the caller may have what follows at once; ends the stream if not. */
  async #isCurrent(): Promise<boolean> {
    return (this.#authority.holds() || (await this.#mayGoOn())) && !this.#isCut;
  }

  /** Checks the authority again; ends the stream if it is over. */
  async #mayGoOn(): Promise<boolean> {
    if (await this.#authority.check()) return true;
    this.#isCut = true;
    this.#resolveEnded();
    return false;
  }

  async #start(): Promise<void> {
    const { from, initial } = this.#options;
    // What changed since the request was authorized was not noticed.
    if (!(await this.#isCurrent())) return;
    if (from !== undefined && (await staleRevision(this.#store, from)) !== undefined) {
      throw tooOld();
    }
    const revision =
      initial === 'none'
        ? (from ?? (await toStatusError(this.#store.storage.get('meta/hub'))).revision)
        : await this.#sendExisting();
    if (initial === 'list' && this.#options.bookmarks) {
      this.#write(
        'BOOKMARK',
        this.#bookmarkObject(revision, { 'k8s.io/initial-events-end': 'true' }),
      );
    }
    this.#subscription = this.#store.watchCache.subscribe(this.#kind.storageName, revision, {
      event: (event) => this.#onEvent(event),
      ready: async () => {
        await this.#delivering;
        await this.#waitUntilDrained();
      },
      end: (why) => {
        this.#error(why === 'Compacted' ? tooOld() : unavailable('the watch could not continue'));
        this.#resolveEnded();
      },
    });
  }

  /**
   * Sends an ADDED event for each existing object, no faster than the client reads; returns the
   * revision.
   */
  async #sendExisting(): Promise<Revision> {
    let at: Revision | undefined;
    const fullRange = this.#range;
    for (let range = fullRange; ; ) {
      const page = await toStatusError(
        this.#store.storage.list(range, { limit: 500, ...(at !== undefined && { at }) }),
      );
      at = page.revision;
      const objects = page.entries.map((entry) => new EncodedObject(this.#kind, entry));
      const prepared = await this.#authorization.loadFor(this.#authorized, objects);
      if (!(await this.#isCurrent())) return at;
      for (const stored of objects) {
        if (isLive(stored.entry, Date.now()) && this.#isVisible(stored, prepared)) {
          this.#sendAdded(stored);
        }
        if (this.#res.writableLength <= limits.bytes) continue;
        await this.#waitUntilDrained();
        if (!(await this.#isCurrent())) return at;
      }
      await this.#waitUntilDrained();
      if (page.more === 0) return at;
      range = { start: startAfter(page.entries), end: fullRange.end };
    }
  }

  /**
   * Resolves when the buffer has drained; a client that reads nothing for a minute is disconnected.
   */
  async #waitUntilDrained(): Promise<void> {
    const all = [this.#res, ...(this.#res.socket ? [this.#res.socket] : [])];
    if (this.#res.destroyed || !all.some((one) => one.writableNeedDrain)) return;
    const timer = setTimeout(() => this.#disconnect(), limits.drainTimeoutMs);
    await new Promise<void>((resolve) => {
      const onDrain = (): void => {
        for (const one of all) one.off('drain', onDrain).off('close', onDrain);
        resolve();
      };
      for (const one of all) one.on('drain', onDrain).on('close', onDrain);
    });
    clearTimeout(timer);
  }

  /**
   * Delivers an event after those before it, after the facts that the rules mention are loaded, and
   * after the authority is checked if something changed; at once if there is nothing to wait for.
   */
  #onEvent(event: WatchCacheEvent): void {
    const name = (event.after ?? event.before)!.name;
    const isOfRange =
      this.#exactName !== undefined ? name === this.#exactName : name.startsWith(this.#prefix);
    if (this.#isClosing || this.#isCut || !isOfRange) return;
    const objects = [event.after, event.before].filter((stored) => stored !== undefined);
    const loading = this.#authorization.loadFor(this.#authorized, objects);
    try {
      if (!loading && !this.#delivering && this.#authority.holds()) {
        return this.#deliverUnlessBehind(event);
      }
    } catch {
      return void this.#res.destroy();
    }
    if (!this.#waiting.push(event, loading)) return this.#terminate();
    this.#delivering ??= this.#deliverWaiting();
  }

  async #deliverWaiting(): Promise<void> {
    try {
      while (!this.#waiting.isEmpty && !this.#isCut) {
        await Promise.resolve(); // The events of a revision are received together.
        await this.#deliverAll(this.#waiting.takeAll());
      }
    } catch {
      this.#res.destroy();
    } finally {
      this.#delivering = undefined;
      if (this.#isClosing) this.#resolveEnded();
    }
  }

  /** Delivers events that waited. One check counts for all, because they were received before it. */
  async #deliverAll(events: readonly WaitingEvent[]): Promise<void> {
    const prepared = await Promise.all(events.map(({ loading }) => loading));
    if (!(await this.#isCurrent())) return;
    for (const [i, { event }] of events.entries()) {
      if (this.#res.writableLength > limits.bytes / 2) await nextTurn(); // The client reads.
      this.#deliverUnlessBehind(event, prepared[i]);
    }
  }

  /**
   * Sends an event. A client that is too far behind gets no more and resumes from its
   * resourceVersion, never within a revision, which several objects may share.
   */
  #deliverUnlessBehind(event: WatchCacheEvent, prepared?: AuthorizedResourceRequest): void {
    if (this.#isCut) return;
    if (event.revision !== this.#deliveredRevision && this.#res.writableLength > limits.bytes) {
      this.#isCut = true;
      return this.#terminate();
    }
    this.#deliveredRevision = event.revision;
    this.#deliver(event, prepared);
  }

  /** Ends the stream of a client that is too far behind, after the events that wait. */
  #terminate(): void {
    this.#countTerminated();
    this.#close();
  }

  /** Takes no more events; the stream ends after those that wait. */
  #close(): void {
    this.#isClosing = true;
    if (!this.#delivering) this.#resolveEnded();
  }

  #countEvent(): void {
    const { group, version, resource } = this.#kind;
    this.#metrics?.watchEvents.inc({ group, version, resource });
  }

  #sendAdded(stored: EncodedObject): void {
    this.#countEvent();
    this.#write('ADDED', this.#view.singleObject(stored, this.#call, this.#isFirst()));
  }

  /** Ends the connection of a client that reads nothing. */
  #disconnect(): void {
    this.#countTerminated();
    this.#res.destroy();
  }

  #countTerminated(): void {
    this.#metrics?.terminatedWatchers.inc({ resource: qualifiedResource(this.#kind) });
  }

  #deliver(event: WatchCacheEvent, prepared?: AuthorizedResourceRequest): void {
    const visible = (stored: EncodedObject | undefined): EncodedObject | undefined =>
      stored && this.#isVisible(stored, prepared) ? stored : undefined;
    const [after, before] = [visible(event.after), visible(event.before)];
    if (!after && !before) return;
    const type = eventType(before, after);
    const object = after ?? before!;
    const first = this.#isFirst();
    const makeFrame = (): WatchFrame =>
      new WatchFrame(type, this.#view.singleObject(object, this.#call, first, event.revision));
    const isShared = !this.#kind.strategy.status && (!first || this.#view.isWhole);
    this.#countEvent();
    const line = isShared
      ? event.shared(`${type} ${this.#view.cacheKey(Date.now())}`, makeFrame)
      : makeFrame();
    line.sendTo(this.#res);
  }

  #isVisible(stored: EncodedObject, prepared = this.#authorized): boolean {
    const { selector } = this.#options;
    if (selector.hasFilters && !selector.matches(stored.object)) return false;
    return this.#authorization.canSee(prepared, stored);
  }

  get #call() {
    return { caller: this.#authorized.caller, now: Date.now() };
  }

  #bookmark(): void {
    if (this.#options.bookmarks && this.#subscription && !this.#isClosing && !this.#delivering) {
      this.#write('BOOKMARK', this.#bookmarkObject(this.#subscription.position()));
    }
  }

  #bookmarkObject(revision: Revision, annotations?: Record<string, string>): Buffer {
    return Buffer.from(
      JSON.stringify(
        this.#view.bookmark(this.#kind, {
          resourceVersion: String(revision),
          ...(annotations && { annotations }),
        }),
      ),
    );
  }

  #error(error: StatusError): void {
    this.#write('ERROR', Buffer.from(JSON.stringify(error.toStatus())));
  }
  #write(type: string, object: Buffer): void {
    new WatchFrame(type, object).sendTo(this.#res);
  }
}

function eventType(
  before: EncodedObject | undefined,
  after: EncodedObject | undefined,
): 'ADDED' | 'MODIFIED' | 'DELETED' {
  if (!before) return 'ADDED';
  return after ? 'MODIFIED' : 'DELETED';
}
