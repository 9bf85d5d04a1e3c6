import type { Subscription } from '../../registry/watchcache/watch-cache.js';
import type { Store } from '../../registry/store.js';
import { encodedObjectOf, type EncodedObject } from '../../registry/encoded-object.js';
import { Interaction, type InteractionObject } from './interaction.js';
import { Phase } from './schema.js';

type PhaseName = InteractionObject['status']['phase'];

const retry = 1_000;

/**
 * How many Interactions the store has in each phase, followed through the hub; those that are over
 * count until they are collected.
 */
export class PhaseMetrics {
  readonly #store: Store;
  #counts = new Map<PhaseName, number>();
  #subscription: Subscription | undefined;
  #timer: NodeJS.Timeout | undefined;
  #stopped = false;

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * Counts what there is, a page at a time, and follows it from there; what cannot be read now is
   * tried again.
   */
  async start(): Promise<void> {
    try {
      const counts = new Map<PhaseName, number>();
      const revision = await this.#store.eachPage(Interaction, (page) => {
        for (const entry of page) move(counts, encodedObjectOf(Interaction, entry), 1);
      });
      if (this.#stopped) return;
      this.#counts = counts;
      this.#subscription = this.#store.watchCache.subscribe(Interaction.resource, revision, {
        event: ({ before, after }) => {
          move(this.#counts, before, -1);
          move(this.#counts, after, 1);
        },
        end: () => this.#again(),
      });
    } catch {
      this.#again();
    }
  }

  /** Follows nothing any more; before the hub stops. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#subscription?.leave();
  }

  entries(): [PhaseName, number][] {
    return Phase.options.map((phase) => [phase, this.#counts.get(phase) ?? 0]);
  }

  #again(): void {
    if (this.#stopped) return;
    this.#timer = setTimeout(() => void this.start(), retry);
    this.#timer.unref();
  }
}

function move(counts: Map<PhaseName, number>, stored: EncodedObject | undefined, by: 1 | -1): void {
  const phase = stored && phaseOf(stored);
  if (phase) counts.set(phase, (counts.get(phase) ?? 0) + by);
}

/** Undefined where an object cannot be read: whoever asks for it is told so. */
function phaseOf(stored: EncodedObject): PhaseName | undefined {
  try {
    return (stored.object as InteractionObject).status.phase;
  } catch {
    return undefined;
  }
}
