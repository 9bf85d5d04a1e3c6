import { CompactedError, type Revision } from '../../storage/storage.js';
import { group, version, type AnyKind } from '../../registry/kind.js';
import type { WatchCacheEvent } from '../../registry/watchcache/event.js';
import type { Subscription } from '../../registry/watchcache/watch-cache.js';
import { expired, StatusError, unavailable } from '../../registry/status.js';
import { toStatusError } from '../../registry/storage-errors.js';
import type { Store } from '../../registry/store.js';
import { isLive, EncodedObject } from '../../registry/encoded-object.js';
import type { Authorization } from '../chain/authorization.js';
import type { AuthorizedRequest, ApiResponse } from '../http/message.js';
import { WatchFrame } from './watch-frame.js';
import { rangeOf } from './list.js';
import { qualified } from '../chain/metrics.js';
import type { Metrics } from '../../observability/metrics/metrics.js';
import type { ResourceRequestInfo } from '../request/request-info.js';
import { staleRevision } from './resource-version.js';
import { whole, type Representation } from '../codec/representation.js';
import type { WatchOptions } from './watch-options.js';

const bounds = {
  bytes: 1 << 20,
  bookmark: 60_000,
  heartbeat: 25_000,
  recheck: 2_000,
  patience: 60_000,
};

/** One open watch. */
export class WatchStream {
  readonly #store: Store;
  readonly #authorization: Authorization;
  readonly #authorized: AuthorizedRequest;
  readonly #start: WatchOptions;
  readonly #res: ApiResponse;
  readonly #stays: () => Promise<boolean>;
  readonly #metrics: Metrics | undefined;
  readonly #prefix: string;
  readonly #exact: string | undefined;
  #subscription: Subscription | undefined;
  #taken: Revision = 0;
  #cut = false;
  #told = false;
  #finish: () => void = () => {};

  constructor(
    store: Store,
    authorization: Authorization,
    authorized: AuthorizedRequest,
    start: WatchOptions,
    res: ApiResponse,
    stays: () => Promise<boolean>,
    metrics?: Metrics,
  ) {
    this.#store = store;
    this.#authorization = authorization;
    this.#authorized = authorized;
    this.#start = start;
    this.#res = res;
    this.#stays = stays;
    this.#metrics = metrics;
    const range = rangeOf(this.#kind, authorized.owner, start.selector.name);
    this.#prefix = range.start.slice(`objects/${this.#kind.resource}/`.length);
    this.#exact = range.end === `${range.start}!` ? this.#prefix : undefined;
  }

  /** Whether a GET of these objects shows more than a watch. */
  get viewed(): boolean {
    return this.#kind.strategy.decorate !== undefined;
  }

  /** Runs the stream; resolves when it has ended. */
  async run(): Promise<void> {
    if (this.#res.destroyed) return;
    const ended = new Promise<void>((resolve) => {
      this.#finish = resolve;
      this.#res.once('close', resolve);
    });
    const timers = [
      setTimeout(() => this.finish(), this.#start.ms),
      this.#every(bounds.recheck, () => this.#recheck()),
      this.#every(bounds.heartbeat, () => {
        this.#res.write('\n');
      }),
      this.#every(bounds.bookmark * (0.9 + Math.random() / 5), () => this.#bookmark()),
    ];
    try {
      await this.#begin();
      await ended;
    } catch (error) {
      this.#error(statusOf(error));
    } finally {
      for (const timer of timers) clearTimeout(timer);
      this.#subscription?.leave();
      this.#res.end();
    }
  }

  /** Ends the stream, with a last bookmark if the client asked for bookmarks. */
  finish(): void {
    this.#bookmark();
    this.#finish();
  }

  get #kind(): AnyKind {
    return (this.#authorized.requestInfo as ResourceRequestInfo).kind;
  }
  get #view(): Representation {
    return (this.#authorized.requestInfo as ResourceRequestInfo).view;
  }

  /** Whether no event was sent yet. */
  #isFirst(): boolean {
    const first = !this.#told;
    this.#told = true;
    return first;
  }

  #every(milliseconds: number, work: () => unknown): NodeJS.Timeout {
    return setInterval(() => {
      if (!this.#res.destroyed) void work();
    }, milliseconds);
  }

  async #recheck(): Promise<void> {
    if (!(await this.#stays())) this.#finish();
  }

  async #begin(): Promise<void> {
    const { from, initial } = this.#start;
    if (from !== undefined && (await staleRevision(this.#store, from)) !== undefined)
      throw tooOld();
    const revision =
      initial === 'none'
        ? (from ?? (await toStatusError(this.#store.storage.get('meta/hub'))).revision)
        : await this.#existing();
    if (initial === 'list' && this.#start.bookmarks)
      this.#write('BOOKMARK', this.#mark(revision, { 'k8s.io/initial-events-end': 'true' }));
    this.#subscription = this.#store.watchCache.subscribe(this.#kind.resource, revision, {
      event: (event) => this.#take(event),
      ready: () => this.#ready(),
      end: (why) => {
        this.#error(why === 'Compacted' ? tooOld() : unavailable('the watch could not go on'));
        this.#finish();
      },
    });
  }

  /**
   * Sends an ADDED event for each existing object, no faster than the client reads; returns the
   * revision.
   */
  async #existing(): Promise<Revision> {
    let at: Revision | undefined;
    const whole = rangeOf(this.#kind, this.#authorized.owner, this.#start.selector.name);
    for (let range = whole; ; ) {
      const page = await toStatusError(
        this.#store.storage.list(range, { limit: 500, ...(at !== undefined && { at }) }),
      );
      at = page.revision;
      for (const entry of page.entries) {
        const stored = new EncodedObject(this.#kind, entry);
        if (isLive(entry, Date.now()) && this.#visible(stored)) this.#added(stored);
        if (this.#res.writableLength > bounds.bytes) await this.#ready();
      }
      await this.#ready();
      if (page.more === 0) return at;
      range = { start: `${page.entries.at(-1)!.key}!`, end: whole.end };
    }
  }

  /**
   * Resolves when the buffer has drained; a client that reads nothing for a minute is disconnected.
   */
  async #ready(): Promise<void> {
    const all = [this.#res, ...(this.#res.socket ? [this.#res.socket] : [])];
    if (this.#res.destroyed || !all.some((one) => one.writableNeedDrain)) return;
    const impatience = setTimeout(() => this.#abandon(), bounds.patience);
    await new Promise<void>((resolve) => {
      const over = (): void => {
        for (const one of all) one.off('drain', over).off('close', over);
        resolve();
      };
      for (const one of all) one.on('drain', over).on('close', over);
    });
    clearTimeout(impatience);
  }

  /**
   * Sends an event. A client that is too far behind gets no more and resumes from its
   * resourceVersion, never within a revision, which several objects may share.
   */
  #take(event: WatchCacheEvent): void {
    const name = (event.after ?? event.before)!.name;
    if (
      this.#cut ||
      (this.#exact !== undefined ? name !== this.#exact : !name.startsWith(this.#prefix))
    )
      return;
    if (event.revision !== this.#taken && this.#res.writableLength > bounds.bytes) {
      this.#metrics?.terminatedWatchers.inc({ resource: qualified(this.#kind.resource) });
      this.#cut = true;
      return this.#finish();
    }
    this.#taken = event.revision;
    try {
      this.#deliver(event);
    } catch {
      this.#res.destroy();
    }
  }

  #added(stored: EncodedObject): void {
    this.#metrics?.watchEvents.inc({ group, version, resource: this.#kind.resource });
    this.#write('ADDED', this.#view.single(stored, this.#call, this.#isFirst()));
  }

  /** Ends the connection of a client that reads nothing. */
  #abandon(): void {
    this.#metrics?.terminatedWatchers.inc({ resource: qualified(this.#kind.resource) });
    this.#res.destroy();
  }

  #deliver(event: WatchCacheEvent): void {
    const after = event.after && this.#visible(event.after) ? event.after : undefined;
    const before = event.before && this.#visible(event.before) ? event.before : undefined;
    if (!after && !before) return;
    const type = eventType(before, after);
    const shown = after ?? before!;
    const first = this.#isFirst();
    const make = (): WatchFrame =>
      new WatchFrame(type, this.#view.single(shown, this.#call, first, event.revision));
    const isShared = !this.#kind.strategy.status && (!first || this.#view === whole);
    this.#metrics?.watchEvents.inc({ group, version, resource: this.#kind.resource });
    const line = isShared ? event.shared(`${type} ${this.#view.label(Date.now())}`, make) : make();
    line.sendTo(this.#res);
  }

  #visible(stored: EncodedObject): boolean {
    const { selector } = this.#start;
    if (selector.filters && !selector.matches(stored.object)) return false;
    return this.#authorization.canSee(this.#authorized, stored);
  }

  get #call() {
    return { caller: this.#authorized.caller, now: Date.now() };
  }

  #bookmark(): void {
    if (this.#start.bookmarks && this.#subscription && !this.#cut)
      this.#write('BOOKMARK', this.#mark(this.#subscription.position()));
  }

  #mark(revision: Revision, annotations?: Record<string, string>): Buffer {
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

/** Returns the Status of a watch that cannot continue. */
function statusOf(error: unknown): StatusError {
  if (error instanceof StatusError) return error;
  return error instanceof CompactedError ? tooOld() : unavailable('the watch could not go on');
}

function eventType(
  before: EncodedObject | undefined,
  after: EncodedObject | undefined,
): 'ADDED' | 'MODIFIED' | 'DELETED' {
  if (!before) return 'ADDED';
  return after ? 'MODIFIED' : 'DELETED';
}

const tooOld = (): StatusError => expired('too old resource version');
