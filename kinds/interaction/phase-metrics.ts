import type { Subscription } from '../../registry/watchcache/watch-cache.js';
import type { Metrics } from '../../observability/metrics/metrics.js';
import type { Store } from '../../registry/store.js';
import { encodedObjectOf, type EncodedObject } from '../../registry/encoded-object.js';
import { Interaction, type InteractionObject } from './interaction.js';
import { Phase } from './schema.js';

type PhaseName = InteractionObject['status']['phase'];

const retry = 1_000;

/**
 * How many Interactions the store has in each phase, followed through the watch cache; those that are over
 * count until they are collected.
 */
export class PhaseMetrics {
  readonly #store: Store;
  readonly #gauge: Metrics['interactions'];
  #subscription: Subscription | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(store: Store, gauge: Metrics['interactions']) {
    this.#store = store;
    this.#gauge = gauge;
    this.#set(new Map());
  }

  /**
   * Counts what there is, a page at a time, and follows it from there; what cannot be read now is
   * tried again.
   */
  async start(): Promise<void> {
    try {
      const counts = new Map<PhaseName, number>();
      const revision = await this.#store.eachPage(Interaction, (page) => {
        for (const entry of page) {
          const phase = phaseOf(encodedObjectOf(Interaction, entry));
          if (phase) counts.set(phase, (counts.get(phase) ?? 0) + 1);
        }
      });
      if (this.#stopped) return;
      this.#set(counts);
      this.#subscription = this.#store.watchCache.subscribe(Interaction.resource, revision, {
        event: ({ before, after }) => {
          this.#move(before, -1);
          this.#move(after, 1);
        },
        end: () => this.#again(),
      });
    } catch {
      this.#again();
    }
  }

  /** Follows nothing any more; before the watch cache stops. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#subscription?.leave();
  }

  #set(counts: ReadonlyMap<PhaseName, number>): void {
    for (const phase of Phase.options) this.#gauge.set({ phase }, counts.get(phase) ?? 0);
  }

  #move(stored: EncodedObject | undefined, by: 1 | -1): void {
    const phase = stored && phaseOf(stored);
    if (phase) this.#gauge.inc({ phase }, by);
  }

  #again(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.start(), retry);
    this.#timer.unref();
  }
}

/** Undefined where an object cannot be read: anyone who asks for it is told so. */
function phaseOf(stored: EncodedObject): PhaseName | undefined {
  try {
    return (stored.object as InteractionObject).status.phase;
  } catch {
    return undefined;
  }
}
