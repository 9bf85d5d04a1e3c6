import { BoundedMap } from '../security/bounded-map.js';
import type { Storage } from '../storage/storage.js';
import { toStatusError } from './storage-errors.js';
import { defaultLimits, type Limits } from './limit-settings.js';
import { limitKey, raised, type Limit } from './rate-limit.js';
import { prefixesOf, type Prefixes, type Width } from './prefixes.js';
import { tooManyRequests } from './status.js';

/** So many networks' blocks are held in memory. */
const held = 20_000;

/** What this replica has drawn for one network in one window, and how much of it is not used. */
interface Block {
  left: number;
  readonly window: number;
  readonly drawn: number;
}

/**
 * What stands in the store for one wide network: all that was drawn in its window, and by whom
 * within it.
 */
interface Counted {
  readonly window: number;
  readonly drawn: number;
  readonly within?: Readonly<Record<string, number>>;
}

/** Where a limit is counted: the key of its record, the network and those around it. */
interface Place {
  readonly key: string;
  readonly block: string;
  readonly prefixes: Prefixes;
}

/** What the whole store is called among networks. */
const everybody = 'everybody';

/**
 * New records of limits, of all sorts together: what counts strangers must not become what they
 * fill the store with.
 */
const recordsOf = ({ limitRecords }: Limits): Limit => ({
  name: 'limitrecords',
  max: limitRecords,
  seconds: 60,
});

/**
 * Limits by client network: whole windows, drawn from the store in blocks, so that most
 * requests cost no commit. A network counts with those around it, in one record and one commit;
 * `inAll` of a limit is the ceiling for everybody together.
 */
export class NetworkLimits {
  readonly #storage: Storage;
  readonly #factor: number;
  readonly #limits: Limits;
  readonly #blocks = new BoundedMap<string, Block>(held);
  /** Blocks of the ceilings for everybody, which nothing displaces. */
  readonly #common = new Map<string, Block>();
  readonly #drawing = new Map<string, Promise<void>>();
  readonly #places = new BoundedMap<string, Place>(held);
  readonly #ratios = new Map<string, { readonly at: number; readonly ratio: Promise<number> }>();

  constructor(storage: Storage, factor = 1, limits: Limits = defaultLimits) {
    this.#storage = storage;
    this.#factor = factor;
    this.#limits = limits;
  }

  /**
   * Takes `amount` for `network`, before the work it protects; 429 when a window is spent, on all
   * replicas together. Time in ms since the epoch.
   */
  async spend(declared: Limit, network: string, now: number, amount = 1): Promise<void> {
    const limit = raised(declared, this.#factor);
    await this.#take(limit, this.#place(limit, network), now, amount);
    if (limit.inAll !== undefined)
      await this.#take(ceilingOf(limit), this.#place(ceilingOf(limit), everybody), now, amount);
  }

  /**
   * Gives back what turned out not to count; it stays with this replica, in the block that it was
   * taken from.
   */
  giveBack(declared: Limit, network: string, now: number, amount = 1): void {
    const limit = raised(declared, this.#factor);
    this.#putBack(limit, this.#place(limit, network), now, amount);
    if (limit.inAll !== undefined)
      this.#putBack(ceilingOf(limit), this.#place(ceilingOf(limit), everybody), now, amount);
  }

  /**
   * Counts a new record of a limit, before it is made; 429 where there were too many in this
   * minute.
   */
  countRecord(now: number): Promise<void> {
    return this.spend(recordsOf(this.#limits), everybody, now);
  }

  /**
   * How much of the ceiling for everybody is drawn in the window of `now`, from 0 to 1; at most a
   * second old.
   */
  ratio(declared: Limit, now: number): Promise<number> {
    const ceiling = ceilingOf(raised(declared, this.#factor));
    const known = this.#ratios.get(ceiling.name);
    if (known && Math.abs(now - known.at) < 1_000) return known.ratio;
    const ratio = this.#ratio(ceiling, now);
    this.#ratios.set(ceiling.name, { at: now, ratio });
    ratio.catch(() => this.#ratios.delete(ceiling.name));
    return ratio;
  }

  async #ratio(limit: Limit, now: number): Promise<number> {
    const { entry } = await toStatusError(this.#storage.get(this.#place(limit, everybody).key));
    const counted = entry && (JSON.parse(entry.value.toString()) as Counted);
    return counted && counted.window >= windowOf(limit, now) ? counted.drawn / limit.max : 0;
  }

  async #take(limit: Limit, place: Place, now: number, amount: number): Promise<void> {
    const window = windowOf(limit, now);
    let block = this.#block(place);
    while (!block || block.window < window || block.window > window + 1 || block.left < amount) {
      await this.#drawn(limit, place, { window, now, amount });
      block = this.#block(place);
    }
    block.left -= amount;
  }

  #putBack(limit: Limit, place: Place, now: number, amount: number): void {
    const block = this.#block(place);
    if (block && block.window >= windowOf(limit, now)) block.left += amount;
  }

  /** Where a limit is counted for a network, worked out once for as long as it is remembered. */
  #place(limit: Limit, network: string): Place {
    const block = `${limit.name} ${network}`;
    return this.#places.getOrMake(block, () => {
      const prefixes = prefixesOf(network);
      return { key: limitKey(limit, prefixes.wide), block, prefixes };
    });
  }

  /**
   * One draw at a time for a network: a crowd that comes at once shares the block, instead of
   * emptying the window with a block for each.
   */
  #drawn(limit: Limit, place: Place, asked: Asked): Promise<void> {
    let drawing = this.#drawing.get(place.block);
    if (!drawing) {
      drawing = this.#draw(limit, place, asked).finally(() => {
        this.#drawing.delete(place.block);
      });
      this.#drawing.set(place.block, drawing);
    }
    return drawing;
  }

  /**
   * A replica whose clock is behind counts on in the window that another one has begun: two clocks
   * must not open a limit twice.
   */
  async #draw(limit: Limit, place: Place, { window, now, amount }: Asked): Promise<void> {
    const { key, prefixes } = place;
    for (;;) {
      const { entry } = await toStatusError(this.#storage.get(key));
      const counted = entry && (JSON.parse(entry.value.toString()) as Counted);
      const current = counted?.window === window + 1 ? counted.window : window;
      const { drawn, within = {} } = counted?.window === current ? counted : { drawn: 0 };
      const end = (current + 1) * limit.seconds * 1000;
      const mine = this.#blockIn(place, current);
      const room = this.#room(limit, prefixes, { drawn, within });
      const block = Math.min(blockOf(limit, prefixes, mine.drawn), Math.floor(room / 4));
      const size = Math.min(Math.max(amount - mine.left, block, 1), room);
      if (size + mine.left < amount || size <= 0) {
        this.#ratios.delete(limit.name); // whoever asks next is told what stands
        throw tooManyRequests(Math.max(1, Math.ceil((end - now) / 1000)));
      }
      if (!entry && limit.name !== 'limitrecords') await this.countRecord(now);
      const value = Buffer.from(
        JSON.stringify({
          window: current,
          drawn: drawn + size,
          ...(prefixes.within.length > 0 && { within: added(within, prefixes, size) }),
        }),
      );
      const answer = await toStatusError(
        this.#storage.commit(
          [{ key, is: entry ? entry.revision : 'absent' }],
          [{ put: key, value, expires: end }],
        ),
      );
      if (!answer.committed) continue;
      const { left, drawn: drawnBefore } = this.#blockIn(place, current);
      this.#hold(place, { window: current, left: left + size, drawn: drawnBefore + size });
      return;
    }
  }

  /** How much may still be drawn for a network, by itself and by each that it is in. */
  #room(
    limit: Limit,
    prefixes: Prefixes,
    { drawn, within }: { drawn: number; within: Readonly<Record<string, number>> },
  ): number {
    const nested = prefixes.within.map(
      ([width, name]) => this.#maxOf(limit, width) - (within[name] ?? 0),
    );
    return Math.min(
      this.#maxOf(limit, prefixes.within.length > 0 ? 'wide' : 'narrow') - drawn,
      ...nested,
    );
  }

  #maxOf({ max }: Limit, width: Width): number {
    const { networkFactorMiddle, networkFactorWide } = this.#limits;
    return max * { narrow: 1, middle: networkFactorMiddle, wide: networkFactorWide }[width];
  }

  #block({ block, prefixes }: Place): Block | undefined {
    return (prefixes.wide === everybody ? this.#common : this.#blocks).get(block);
  }

  /** The block of a network in a window; an empty one where this replica has drawn none in it. */
  #blockIn(place: Place, window: number): Block {
    const block = this.#block(place);
    return block?.window === window ? block : { left: 0, window, drawn: 0 };
  }

  /**
   * The block drawn longest ago makes room, and it alone: many networks cannot make this replica
   * forget the others' windows.
   */
  #hold({ block: name, prefixes }: Place, block: Block): void {
    (prefixes.wide === everybody ? this.#common : this.#blocks).set(name, block);
  }
}

interface Asked {
  readonly window: number;
  readonly now: number;
  readonly amount: number;
}

/**
 * How much is drawn at once: as much as this replica has drawn in the window already, from a
 * hundredth (at least two) to a tenth. So a replica that is killed loses no more than it used or a
 * hundredth, a network that asks once hardly takes from those beside it, and a busy one still costs
 * few commits. Never more than a quarter of what is left, so that no replica keeps the last of it
 * from the others.
 */
function blockOf({ max, block = Infinity }: Limit, { wide }: Prefixes, drawn: number): number {
  const hundredth = Math.floor(max / 100);
  if (wide === everybody) return hundredth; // replicas must not use it up by drawing alone
  return Math.min(Math.floor(max / 10), block, Math.max(2, hundredth, drawn));
}

const windowOf = ({ seconds }: Limit, now: number): number => Math.floor(now / (seconds * 1000));

/** The ceiling of a limit for everybody together, as a limit of its own. */
const ceilingOf = ({ name, inAll = 0, seconds }: Limit): Limit => ({
  name: `${name}-all`,
  max: inAll,
  seconds,
});

function added(
  within: Readonly<Record<string, number>>,
  prefixes: Prefixes,
  size: number,
): Record<string, number> {
  return {
    ...within,
    ...Object.fromEntries(prefixes.within.map(([, name]) => [name, (within[name] ?? 0) + size])),
  };
}
