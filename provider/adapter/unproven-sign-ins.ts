import { naming } from '../../kinds/signin/interaction-naming.js';
import type { InteractionObject } from '../../kinds/interaction/schema.js';
import { Interaction } from '../../kinds/interaction/interaction.js';
import type { Subscription } from '../../registry/watchcache/watch-cache.js';
import { digest } from '../../security/keyring.js';
import { objectKey, encodedObjectOf, type EncodedObject } from '../../registry/encoded-object.js';
import type { Size } from '../../storage/storage.js';
import type { ProviderServices } from '../context/context.js';
import { recordKeyOf } from '../context/records.js';

/**
 * One sign-in that no one has proven yet: what it takes in the store, and when its browser last
 * asked for anything.
 */
interface Unproven {
  readonly bytes: number;
  touched: number;
  isWriting?: boolean;
}

/** The quota of a store that tells none: etcd's own default. */
const assumedQuota = 2 ** 31;
const retryMs = 1_000;
const sweepMs = 15_000;
/** As many are ended in one go, so that a crowd of them does not stop everything else. */
const max = 200;

const isUnproven = (stored: EncodedObject | undefined): boolean =>
  stored !== undefined && stored.entry.value.includes('"phase":"LoginRequired"');

/**
 * The sign-ins that are begun and not proven, which anyone can make: all of them together have a
 * share of the store. Beyond it the ones go first that their browser has left alone for longest.
 * Followed through the watch cache, on every replica.
 */
export class UnprovenSignIns {
  readonly #services: ProviderServices;
  readonly #known = new Map<string, Unproven>();
  #bytes = 0;
  #quota = assumedQuota;
  #subscription: Subscription | undefined;
  #timer: NodeJS.Timeout | undefined;
  #sweeping: Promise<void> | undefined;
  #stopped = false;

  constructor(services: ProviderServices) {
    this.#services = services;
  }

  /** Begins to follow them; gives back how to stop, before the watch cache does. */
  follow(): () => Promise<void> {
    void this.#start();
    return () => this.#stop();
  }

  /**
   * Begins with what there is and follows it from there; what cannot be read now is tried again.
   */
  async #start(): Promise<void> {
    try {
      await this.#ask();
      this.#known.clear();
      this.#bytes = 0;
      const revision = await this.#services.store.eachPage(Interaction, (page) => {
        for (const entry of page) this.#first(encodedObjectOf(Interaction, entry));
      });
      if (this.#stopped) return;
      this.#subscription = this.#services.store.watchCache.subscribe(
        Interaction.resource,
        revision,
        {
          event: ({ before, after }) => this.#event(before, after),
          end: () => this.#later(() => this.#start(), retryMs),
        },
      );
      this.#later(() => this.#turn(), sweepMs);
    } catch {
      this.#later(() => this.#start(), retryMs);
    }
  }

  async #stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#subscription?.leave();
    await this.#sweeping;
  }

  /**
   * Notes that the browser of a sign-in has asked for something, and writes it down where that was
   * not known for a third of the time it may be idle.
   */
  touch(name: string): void {
    const known = this.#known.get(name);
    const idle = this.#services.settings.limits.signInIdle;
    const now = Date.now();
    if (!known || known.isWriting || now - known.touched < idle / 3 || now - known.touched > idle)
      return;
    known.isWriting = true;
    this.#services.afterwards(() =>
      this.#write(name, now).finally(() => {
        known.isWriting = false;
      }),
    );
  }

  /** Ends what was left alone for too long, and what is too much; answers when that is done. */
  sweep(): Promise<void> {
    return (this.#sweeping ??= this.#swept().finally(() => {
      this.#sweeping = undefined;
    }));
  }

  /** Bytes that unproven sign-ins may take. */
  get budget(): number {
    return Math.floor((this.#quota * this.#services.settings.limits.unprovenShare) / 100);
  }

  /** Bytes that they take, their two records together. */
  get bytes(): number {
    return this.#bytes;
  }

  async #turn(): Promise<void> {
    await this.#ask();
    await this.sweep();
    this.#later(() => this.#turn(), sweepMs);
  }

  async #ask(): Promise<void> {
    const sizes: ReadonlyMap<string, Size> =
      (await this.#services.storage.sizes?.().catch(() => new Map<string, Size>())) ??
      new Map<string, Size>();
    const quotas = [...sizes.values()].flatMap(({ quota }) => (quota ? [quota] : []));
    this.#quota = quotas.length > 0 ? Math.min(...quotas) : assumedQuota;
  }

  #first(stored: EncodedObject): void {
    if (!isUnproven(stored)) return;
    const { created, touched = created } = (stored.object as InteractionObject).internal;
    this.#add(stored, touched);
  }

  #event(before: EncodedObject | undefined, after: EncodedObject | undefined): void {
    const name = (after ?? before)!.name;
    const known = this.#known.get(name);
    if (known) {
      this.#bytes -= known.bytes;
      this.#known.delete(name);
    }
    if (!after || !isUnproven(after)) return;
    this.#add(after, Date.now());
    if (this.#bytes > this.budget) this.#services.afterwards(() => this.sweep());
  }

  /**
   * The library's half holds what was asked for again: twice its length is a good guess at both.
   */
  #add(stored: EncodedObject, touched: number): void {
    const bytes = 2 * stored.entry.value.length;
    this.#known.set(stored.name, { bytes, touched });
    this.#bytes += bytes;
  }

  async #write(name: string, now: number): Promise<void> {
    const { store } = this.#services;
    await store.change(store.systemCall(), async (tx) => {
      const held = await tx.get(Interaction, name);
      if (held?.status.phase === 'LoginRequired')
        await tx.update(Interaction, name, ({ internal }) => {
          internal.touched = now;
        });
    });
  }

  async #swept(): Promise<void> {
    const now = Date.now();
    const { signInIdle } = this.#services.settings.limits;
    const oldest = [...this.#known].sort(([, a], [, b]) => a.touched - b.touched);
    let excess = this.#bytes > this.budget ? this.#bytes - 0.9 * this.budget : 0;
    for (const [name, { bytes, touched }] of oldest.slice(0, max)) {
      const isOver = now - touched > 2 * signInIdle;
      if (!isOver && excess <= 0) return;
      excess -= bytes;
      await this.#end(name).catch(() => this.#services.count('unproven_failed'));
    }
    if (excess > 0) this.#services.afterwards(() => this.sweep());
  }

  /** Takes both halves of a sign-in away, if it is still unproven then. */
  async #end(name: string): Promise<void> {
    const { store, keys } = this.#services;
    await store.change(store.systemCall(), async (tx) => {
      const held = await tx.get(Interaction, name);
      if (held?.status.phase !== 'LoginRequired') return;
      const { returnTo } = held.internal;
      if (returnTo !== undefined) {
        const uid = keys
          .open(objectKey(naming, name), Buffer.from(returnTo, 'base64url'))
          .toString()
          .split('/')
          .at(-1)!;
        tx.remove(recordKeyOf('Interaction', digest(uid)));
      }
      await tx.erase(Interaction, name);
    });
    this.#services.count('unproven_ended');
  }

  #later(work: () => Promise<void>, ms: number): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void work(), ms);
    this.#timer.unref();
  }
}
