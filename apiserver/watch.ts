import { Compacted, type Revision } from '../storage/storage.js';
import type { AnyKind } from '../registry/kind.js';
import type { HubEvent, Subscription } from '../registry/hub.js';
import { badRequest, expired, invalid, StatusError, unavailable } from '../registry/status.js';
import { guard } from '../registry/guard.js';
import type { Store } from '../registry/store.js';
import { counts, Stored } from '../registry/stored.js';
import type { Admission } from './admission.js';
import type { Admitted, Req, Res } from './classes.js';
import type { Encoder } from './encode.js';
import { Line } from './line.js';
import type { ServerMeter } from './meter.js';
import { rangeOf } from './list.js';
import { Places } from './places.js';
import { flag, timeoutMsOf, versionOf, wholeNumber } from './query.js';
import type { ResourceAsk } from './request.js';
import { parseSelector, type Selector } from './selectors.js';
import { shortOf } from './version.js';
import { whole, type View } from './view.js';

const bounds = {
  bytes: 1 << 20,
  bookmark: 60_000,
  heartbeat: 25_000,
  recheck: 2_000,
  patience: 60_000,
  ms: 2_000_000_000,
};

/** Streams of changes, one JSON event a line (`kubernetes.md` 5). */
export class Watcher {
  readonly #store: Store;
  readonly #admission: Admission;
  readonly #encoder: Encoder;
  readonly #again: (req: Req) => Promise<Admitted>;
  readonly #places: Places;
  readonly #streams = new Set<Stream>();
  readonly #meter: ServerMeter | undefined;

  /**
   * `again` asks anew who sent a request and whether it may stay; `meter` counts, where somebody
   * wants to know.
   */
  constructor(
    store: Store,
    admission: Admission,
    encoder: Encoder,
    again: (req: Req) => Promise<Admitted>,
    meter?: ServerMeter,
  ) {
    this.#store = store;
    this.#places = new Places(store.settings.limits);
    this.#admission = admission;
    this.#encoder = encoder;
    this.#again = again;
    this.#meter = meter;
  }

  async watch(req: Req, res: Res): Promise<void> {
    const admitted = req.admitted!;
    const start = parseStart(
      admitted.ask as ResourceAsk,
      admitted.target?.name ?? (admitted.ask as ResourceAsk).name,
      this.#store.settings.limits.watchTimeout,
    );
    const release = this.#places.take(admitted.caller, req.network);
    const series = this.#meter?.of(admitted.ask, req.method!);
    if (series) series.open += 1;
    try {
      this.#encoder.begin(req, res, 200);
      const stream = new Stream(
        this.#store,
        this.#admission,
        admitted,
        start,
        res,
        () => this.#stays(req),
        this.#meter,
      );
      this.#streams.add(stream);
      await stream.run().finally(() => this.#streams.delete(stream));
    } finally {
      release();
      if (series) series.open -= 1;
    }
  }

  /**
   * Ends every stream cleanly, spread over up to five seconds so that not all come back at once.
   */
  stop(): Promise<void> {
    return this.#end([...this.#streams], 5_000);
  }

  /**
   * Ends the streams of kinds that `view` completes, over up to a second: what it would say may be
   * another thing now, and an ended stream leads to a GET.
   */
  renewViews(): void {
    void this.#end(
      [...this.#streams].filter(({ viewed }) => viewed),
      1_000,
    );
  }

  async #end(all: readonly Stream[], most: number): Promise<void> {
    const spread = Math.min(most, all.length * 10);
    await Promise.all(
      all.map(async (stream, i) => {
        await new Promise((resolve) => {
          setTimeout(resolve, spread * (i / all.length));
        });
        stream.finish();
      }),
    );
  }

  async #stays(req: Req): Promise<boolean> {
    const { caller, owner } = req.admitted!;
    const now = await this.#again(req).catch(() => undefined);
    return (
      now !== undefined &&
      JSON.stringify([now.caller, now.owner]) === JSON.stringify([caller, owner])
    );
  }
}

interface Start {
  selector: Selector;
  from: Revision | undefined;
  initial: 'synthetic' | 'list' | 'none';
  bookmarks: boolean;
  ms: number;
}

/**
 * What a watch was asked for; one that names no timeout lasts `shortest` milliseconds, or up to
 * twice that.
 */
function parseStart(ask: ResourceAsk, name: string | undefined, shortest: number): Start {
  const { query, kind } = ask;
  const wrong = (field: string, message: string): Error =>
    invalid({ ...kind, kind: 'ListOptions' }, '', [
      { reason: 'FieldValueForbidden', field, message: `Forbidden: ${message}` },
    ]);
  const version = versionOf(query, () =>
    invalid({ ...kind, kind: 'ListOptions' }, '', [
      {
        reason: 'FieldValueInvalid',
        field: 'resourceVersion',
        message: 'Invalid value: must be a decimal number',
      },
    ]),
  );
  if (query.get('continue')) throw badRequest('continue is not for watches');
  const match = query.get('resourceVersionMatch');
  const initial = query.has('sendInitialEvents') ? flag(query, 'sendInitialEvents') : undefined;
  if (initial !== undefined && match !== 'NotOlderThan')
    throw wrong(
      'resourceVersionMatch',
      'sendInitialEvents needs resourceVersionMatch=NotOlderThan',
    );
  if (initial === undefined && match !== undefined)
    throw wrong('resourceVersionMatch', 'only with sendInitialEvents');
  const selector = parseSelector(query, kind);
  return {
    selector:
      name === undefined
        ? selector
        : { ...selector, name, filters: selector.filters, matches: selector.matches },
    from: version,
    initial:
      initial === true
        ? 'list'
        : initial === false
          ? 'none'
          : version === undefined
            ? 'synthetic'
            : 'none',
    bookmarks: flag(query, 'allowWatchBookmarks'),
    ms: Math.min(
      (wholeNumber(query, 'timeoutSeconds', 2 ** 31) ?? 0) * 1000 ||
        Math.floor(shortest * (1 + Math.random())),
      timeoutMsOf(query) ?? Infinity,
      bounds.ms,
    ),
  };
}

/** One open watch. */
class Stream {
  readonly #store: Store;
  readonly #admission: Admission;
  readonly #admitted: Admitted;
  readonly #start: Start;
  readonly #res: Res;
  readonly #stays: () => Promise<boolean>;
  readonly #meter: ServerMeter | undefined;
  readonly #prefix: string;
  readonly #exact: string | undefined;
  #subscription: Subscription | undefined;
  #taken: Revision = 0;
  #cut = false;
  #told = false;
  #finish: () => void = () => {};

  constructor(
    store: Store,
    admission: Admission,
    admitted: Admitted,
    start: Start,
    res: Res,
    stays: () => Promise<boolean>,
    meter?: ServerMeter,
  ) {
    this.#store = store;
    this.#admission = admission;
    this.#admitted = admitted;
    this.#start = start;
    this.#res = res;
    this.#stays = stays;
    this.#meter = meter;
    const range = rangeOf(this.#kind, admitted.owner, start.selector.name);
    this.#prefix = range.start.slice(`objects/${this.#kind.resource}/`.length);
    this.#exact = range.end === `${range.start}!` ? this.#prefix : undefined;
  }

  /** Whether a GET of its objects says more than they hold. */
  get viewed(): boolean {
    return this.#kind.strategy.view !== undefined;
  }

  /** Resolves when the stream has ended, for whatever reason. */
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
      this.#error(
        error instanceof StatusError
          ? error
          : error instanceof Compacted
            ? tooOld()
            : unavailable('the watch could not go on'),
      );
    } finally {
      for (const timer of timers) clearTimeout(timer);
      this.#subscription?.leave();
      this.#res.end();
    }
  }

  /** Ends cleanly, with a last bookmark where they are wanted. */
  finish(): void {
    this.#bookmark();
    this.#finish();
  }

  get #kind(): AnyKind {
    return (this.#admitted.ask as ResourceAsk).kind;
  }
  get #view(): View {
    return (this.#admitted.ask as ResourceAsk).view;
  }

  /** Whether no object has been told yet. */
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
    if (from !== undefined && (await shortOf(this.#store, from)) !== undefined) throw tooOld();
    const revision =
      initial === 'none'
        ? (from ?? (await guard(this.#store.storage.get('meta/hub'))).revision)
        : await this.#existing();
    if (initial === 'list' && this.#start.bookmarks)
      this.#write('BOOKMARK', this.#mark(revision, { 'k8s.io/initial-events-end': 'true' }));
    this.#subscription = this.#store.hub.subscribe(this.#kind.resource, revision, {
      event: (event) => this.#take(event),
      ready: () => this.#ready(),
      end: (why) => {
        this.#error(why === 'Compacted' ? tooOld() : unavailable('the watch could not go on'));
        this.#finish();
      },
    });
  }

  /**
   * A synthetic ADDED for each object there is, as fast as they are taken; the revision they were
   * read at.
   */
  async #existing(): Promise<Revision> {
    let at: Revision | undefined;
    const whole = rangeOf(this.#kind, this.#admitted.owner, this.#start.selector.name);
    for (let range = whole; ; ) {
      const page = await guard(
        this.#store.storage.list(range, { limit: 500, ...(at !== undefined && { at }) }),
      );
      at = page.revision;
      for (const entry of page.entries) {
        const stored = new Stored(this.#kind, entry);
        if (counts(entry, Date.now()) && this.#visible(stored)) this.#added(stored);
        if (this.#res.writableLength > bounds.bytes) await this.#ready();
      }
      await this.#ready();
      if (page.more === 0) return at;
      range = { start: `${page.entries.at(-1)!.key}!`, end: whole.end };
    }
  }

  /**
   * Resolves once what was written has left; a reader that takes none of it for a minute is cut.
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
   * Tells an event; a reader too far behind is told no more and resumes from its version, therefore
   * never in the midst of a revision, which several objects may share.
   */
  #take(event: HubEvent): void {
    const name = (event.after ?? event.before)!.name;
    if (
      this.#cut ||
      (this.#exact !== undefined ? name !== this.#exact : !name.startsWith(this.#prefix))
    )
      return;
    if (event.revision !== this.#taken && this.#res.writableLength > bounds.bytes) {
      this.#meter?.terminated.add(this.#kind.resource);
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

  #added(stored: Stored): void {
    this.#meter?.watchEvents.add(this.#kind.resource);
    this.#write('ADDED', this.#view.single(stored, this.#call, this.#isFirst()));
  }

  /** Ends the connection of a reader that takes nothing any more. */
  #abandon(): void {
    this.#meter?.terminated.add(this.#kind.resource);
    this.#res.destroy();
  }

  #deliver(event: HubEvent): void {
    const after = event.after && this.#visible(event.after) ? event.after : undefined;
    const before = event.before && this.#visible(event.before) ? event.before : undefined;
    if (!after && !before) return;
    const type = !before ? 'ADDED' : !after ? 'DELETED' : 'MODIFIED';
    const shown = after ?? before!;
    const first = this.#isFirst();
    const make = (): Line =>
      new Line(type, this.#view.single(shown, this.#call, first, event.revision));
    const isShared = !this.#kind.strategy.status && (!first || this.#view === whole);
    this.#meter?.watchEvents.add(this.#kind.resource);
    const line = isShared ? event.shared(`${type} ${this.#view.label(Date.now())}`, make) : make();
    line.sendTo(this.#res);
  }

  #visible(stored: Stored): boolean {
    const { selector } = this.#start;
    if (selector.filters && !selector.matches(stored.object)) return false;
    return this.#admission.sees(this.#admitted, stored);
  }

  get #call() {
    return { caller: this.#admitted.caller, now: Date.now() };
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
    new Line(type, object).sendTo(this.#res);
  }
}

const tooOld = (): StatusError => expired('too old resource version');
