import { Interaction } from '../../kinds/interaction/interaction.js';
import type { InteractionObject } from '../../kinds/interaction/schema.js';
import { type EncodedObject, encodedObjectOf } from '../../registry/encoded-object.js';
import type { Subscription } from '../../registry/watchcache/watch-cache.js';
import type { Size } from '../../storage/storage.js';
import type { ProviderServices } from '../context/context.js';

/**
 * A sign-in in phase LoginRequired, or one that was cancelled: its size in the store and the last
 * activity of its browser (ms since the epoch).
 */
interface UnfinishedSignIn {
  readonly bytes: number;
  readonly isCancelled: boolean;
  touched: number;
  isWriting?: boolean;
}

/** The assumed quota in bytes if the store reports none: etcd's default. */
const assumedQuota = 2 ** 31;
const retryMs = 1_000;
const sweepMs = 15_000;
/**
 * The maximum number of sign-ins that one sweep ends, so that a flood does not block other work.
 */
const maxEndedAtOnce = 200;

const isCancelled = ({ entry }: EncodedObject): boolean =>
  entry.value.includes('"phase":"Aborted"');

/** Anyone can cancel what they began, so cancelled sign-ins count too. */
const isUnfinished = (stored: EncodedObject | undefined): stored is EncodedObject =>
  stored !== undefined &&
  (stored.entry.value.includes('"phase":"LoginRequired"') || isCancelled(stored));

/**
 * Limits the space of unfinished sign-ins, which anyone can create: together they may take a share
 * of the store's quota. Above it, those with the longest inactivity are ended first. Every replica
 * follows them through the watch cache.
 */
export class UnfinishedSignIns {
  readonly #services: ProviderServices;
  readonly #signIns = new Map<string, UnfinishedSignIn>();
  #bytes = 0;
  #quota = assumedQuota;
  #subscription: Subscription | undefined;
  #timer: NodeJS.Timeout | undefined;
  #runningSweep: Promise<void> | undefined;
  #stopped = false;

  constructor(services: ProviderServices) {
    this.#services = services;
  }

  /**
   * Starts following; returns the function that stops it, which must run before the watch cache
   * stops.
   */
  follow(): () => Promise<void> {
    void this.#start();
    return () => this.#stop();
  }

  /** Lists the sign-ins and follows them from that revision; retries after an error. */
  async #start(): Promise<void> {
    try {
      await this.#readQuota();
      this.#signIns.clear();
      this.#bytes = 0;
      const revision = await this.#services.store.eachPage(Interaction, (page) => {
        for (const entry of page) this.#addStored(encodedObjectOf(Interaction, entry));
      });
      if (this.#stopped) return;
      this.#subscription = this.#services.store.watchCache.subscribe(
        Interaction.resource,
        revision,
        {
          event: ({ before, after }) => this.#update(before, after),
          end: () => this.#schedule(() => this.#start(), retryMs),
        },
      );
      this.#schedule(() => this.#sweepPeriodically(), sweepMs);
    } catch {
      this.#schedule(() => this.#start(), retryMs);
    }
  }

  async #stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#subscription?.leave();
    await this.#runningSweep;
  }

  /**
   * Records activity of a sign-in's browser in memory, and in the store after a third of the idle
   * time.
   */
  touch(name: string): void {
    const known = this.#signIns.get(name);
    const idle = this.#services.settings.limits.signInIdle;
    const now = Date.now();
    if (
      !known ||
      known.isCancelled ||
      known.isWriting ||
      now - known.touched < idle / 3 ||
      now - known.touched > idle
    ) {
      return;
    }
    known.isWriting = true;
    this.#services.runtime.runInBackground(() =>
      this.#recordActivity(name, now).finally(() => {
        known.isWriting = false;
      }),
    );
  }

  /** Ends idle sign-ins and those above the budget; resolves when done. */
  sweep(): Promise<void> {
    return (this.#runningSweep ??= this.#runSweep().finally(() => {
      this.#runningSweep = undefined;
    }));
  }

  /** The number of bytes that unfinished sign-ins may take. */
  get budget(): number {
    return Math.floor((this.#quota * this.#services.settings.limits.unprovenShare) / 100);
  }

  /** The number of bytes that they take. */
  get bytes(): number {
    return this.#bytes;
  }

  async #sweepPeriodically(): Promise<void> {
    await this.#readQuota();
    await this.sweep();
    this.#schedule(() => this.#sweepPeriodically(), sweepMs);
  }

  async #readQuota(): Promise<void> {
    const sizes: ReadonlyMap<string, Size> =
      (await this.#services.store.storage.sizes?.().catch(() => new Map<string, Size>())) ??
      new Map<string, Size>();
    const quotas = [...sizes.values()].flatMap(({ quota }) => (quota ? [quota] : []));
    this.#quota = quotas.length > 0 ? Math.min(...quotas) : assumedQuota;
  }

  #addStored(stored: EncodedObject): void {
    if (!isUnfinished(stored)) return;
    const { created, touched = created } = (stored.object as InteractionObject).internal;
    this.#add(stored, touched);
  }

  #update(before: EncodedObject | undefined, after: EncodedObject | undefined): void {
    const name = after?.name ?? before?.name ?? '';
    const known = this.#signIns.get(name);
    if (known) {
      this.#bytes -= known.bytes;
      this.#signIns.delete(name);
    }
    if (!after || !isUnfinished(after)) return;
    this.#add(after, Date.now());
    if (this.#bytes > this.budget) this.#services.runtime.runInBackground(() => this.sweep());
  }

  #add(stored: EncodedObject, touched: number): void {
    const bytes = stored.entry.value.length;
    this.#signIns.set(stored.name, { bytes, touched, isCancelled: isCancelled(stored) });
    this.#bytes += bytes;
  }

  async #recordActivity(name: string, now: number): Promise<void> {
    const { store } = this.#services;
    await store.change(store.systemCall(), async (tx) => {
      const interaction = await tx.get(Interaction, name);
      if (interaction?.status.phase === 'LoginRequired') {
        await tx.update(Interaction, name, ({ internal }) => {
          internal.touched = now;
        });
      }
    });
  }

  async #runSweep(): Promise<void> {
    const now = Date.now();
    const { signInIdle } = this.#services.settings.limits;
    const oldest = [...this.#signIns].sort(([, a], [, b]) => a.touched - b.touched);
    let excess = this.#bytes > this.budget ? this.#bytes - 0.9 * this.budget : 0;
    const isIdle = ({ touched, isCancelled: hasEnded }: UnfinishedSignIn): boolean =>
      !hasEnded && now - touched > 2 * signInIdle;
    const due = excess > 0 ? oldest : oldest.filter(([, signIn]) => isIdle(signIn));
    for (const [name, signIn] of due.slice(0, maxEndedAtOnce)) {
      if (!isIdle(signIn) && excess <= 0) return;
      excess -= signIn.bytes;
      await this.#end(name).catch(() => this.#services.runtime.count('unproven_failed'));
    }
    if (excess > 0) this.#services.runtime.runInBackground(() => this.sweep());
  }

  /** Deletes a sign-in if it is still unfinished. */
  async #end(name: string): Promise<void> {
    const { store } = this.#services;
    await store.change(store.systemCall(), async (tx) => {
      const interaction = await tx.get(Interaction, name);
      const phase = interaction?.status.phase;
      if (phase !== 'LoginRequired' && phase !== 'Aborted') return;
      await tx.erase(Interaction, name);
    });
    this.#services.runtime.count('unproven_ended');
  }

  #schedule(work: () => Promise<void>, ms: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void work(), ms);
    this.#timer.unref();
  }
}
