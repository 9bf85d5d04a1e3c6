import { BoundedMap } from '../security/bounded-map.js';
import type { Storage } from '../storage/storage.js';
import { toStatusError } from './storage-errors.js';
import { defaultLimits, type Limits } from './limit-settings.js';
import { limitKey, raised, type Limit } from './rate-limit.js';
import { prefixesOf, type Prefixes, type Width } from './prefixes.js';
import { tooManyRequests } from './status.js';

/** The number of networks whose blocks are kept in memory. */
const held = 20_000;

/** Uses that this replica reserved for a network in a window, and how many are left. */
interface Block {
  left: number;
  readonly window: number;
  readonly drawn: number;
}

/** The record of one wide network: the uses reserved in its window, by narrower network. */
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

/** The network name of a ceiling for all networks. */
const everybody = 'everybody';

/** Limits new limit records of all kinds, so that strangers cannot fill the store with them. */
const recordsOf = ({ limitRecords }: Limits): Limit => ({
  name: 'limitrecords',
  max: limitRecords,
  seconds: 60,
});

/**
 * Limits by client network in fixed windows. Uses are reserved from the store in blocks, so that
 * most requests need no commit. A network shares one record with the networks around it; `inAll` is
 * the ceiling for all networks.
 */
export class NetworkLimits {
  readonly #storage: Storage;
  readonly #factor: number;
  readonly #limits: Limits;
  readonly #blocks = new BoundedMap<string, Block>(held);
  /** Blocks of the ceilings for all networks; never evicted. */
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
   * Counts `amount` uses for `network`; throws 429 when the window is used up, over all replicas.
   * `now` in ms since the epoch.
   */
  async spend(declared: Limit, network: string, now: number, amount = 1): Promise<void> {
    const limit = raised(declared, this.#factor);
    await this.#take(limit, this.#place(limit, network), now, amount);
    if (limit.inAll !== undefined)
      await this.#take(ceilingOf(limit), this.#place(ceilingOf(limit), everybody), now, amount);
  }

  /** Takes back uses; they stay with this replica, in the block they came from. */
  giveBack(declared: Limit, network: string, now: number, amount = 1): void {
    const limit = raised(declared, this.#factor);
    this.#putBack(limit, this.#place(limit, network), now, amount);
    if (limit.inAll !== undefined)
      this.#putBack(ceilingOf(limit), this.#place(ceilingOf(limit), everybody), now, amount);
  }

  /** Counts a new limit record; throws 429 if too many were made this minute. */
  countRecord(now: number): Promise<void> {
    return this.spend(recordsOf(this.#limits), everybody, now);
  }

  /**
   * Returns the used share of the ceiling for all networks in the window of `now`, from 0 to 1; at
   * most a second old.
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

  /** Returns the record and networks of a limit; cached. */
  #place(limit: Limit, network: string): Place {
    const block = `${limit.name} ${network}`;
    return this.#places.getOrCreate(block, () => {
      const prefixes = prefixesOf(network);
      return { key: limitKey(limit, prefixes.wide), block, prefixes };
    });
  }

  /** Reserves one block at a time for each network, so that concurrent requests share it. */
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
   * Reserves a block. A replica whose clock is behind uses the newer window that another one began,
   * so that two clocks cannot open a limit twice.
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

  /** Returns how many uses are left for a network and each network around it. */
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

  /** Returns the block of a network in a window, empty if there is none. */
  #blockIn(place: Place, window: number): Block {
    const block = this.#block(place);
    return block?.window === window ? block : { left: 0, window, drawn: 0 };
  }

  /**
   * Keeps a block and evicts the oldest one only, so that many networks cannot make this replica
   * forget the windows of others.
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

/** Returns the ceiling of a limit for all networks, as a limit. */
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
