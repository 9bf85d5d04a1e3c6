import { BoundedMap } from '../../security/bounded-map.js';
import type { Storage } from '../../storage/storage.js';
import { jsonValue } from '../schema/json-value.js';
import { type StatusError, tooManyRequestsUntil } from '../status/status.js';
import { toStatusError } from '../status/storage-errors.js';
import { KeyedMutex } from './keyed-mutex.js';
import { LimitRefusals } from './limit-refusals.js';
import { defaultsOf, type Limits, serverLimits } from './limit-settings.js';
import { type Prefixes, prefixesOf, type Width } from './prefixes.js';
import { type Limit, limitKey, scaleLimit } from './rate-limit.js';

/** The number of networks whose blocks are kept in memory. */
const maxNetworks = 20_000;

/** Uses that this replica reserved for a network in a window, and how many are left. */
interface Block {
  left: number;
  readonly window: number;
  readonly drawn: number;
}

/** The record of one wide network: the uses reserved in its window, by narrower network. */
interface LimitRecord {
  readonly window: number;
  readonly drawn: number;
  readonly within?: Readonly<Record<string, number>>;
}

/** The counter of a limit: the key of its record, the network and those around it. */
interface CountedNetwork {
  readonly key: string;
  readonly block: string;
  readonly prefixes: Prefixes;
}

/** The network name of a ceiling for all networks. */
const allNetworks = 'everybody';

/** The limits of limits. */
type NetworkSettings = Pick<Limits, 'limitRecords' | 'networkFactorMiddle' | 'networkFactorWide'>;

/** Limits new limit records of all kinds, so that strangers cannot fill the store with them. */
const recordLimit = ({ limitRecords }: NetworkSettings): Limit => ({
  name: 'limitrecords',
  setting: 'limitRecords',
  max: limitRecords,
  seconds: 60,
});

/**
 * Limits by client network in fixed windows. Uses are reserved from the store in blocks, so that
 * most requests need no commit. A network shares one record with the networks around it; `inAll` is
 * the ceiling for all networks.
 */
export class NetworkLimits {
  /** What this replica refused, by limit; limits that a transaction counts are among them. */
  readonly refusals = new LimitRefusals();
  readonly #storage: Storage;
  readonly #factor: number;
  readonly #limits: NetworkSettings;
  readonly #blocks = new BoundedMap<string, Block>(maxNetworks);
  /** Blocks of the ceilings for all networks; never evicted. */
  readonly #ceilingBlocks = new Map<string, Block>();
  readonly #reservations = new Map<string, Promise<void>>();
  /** Reservations that wait for their record, by its key and the window. */
  readonly #groups = new Map<string, ReservationGroup>();
  /** Serializes the changes of a record, which the networks of a wide one share. */
  readonly #recordMutex = new KeyedMutex();
  readonly #networks = new BoundedMap<string, CountedNetwork>(maxNetworks);
  readonly #ratios = new Map<string, { readonly at: number; readonly ratio: Promise<number> }>();

  constructor(storage: Storage, factor = 1, limits: NetworkSettings = defaultsOf(serverLimits)) {
    this.#storage = storage;
    this.#factor = factor;
    this.#limits = limits;
  }

  /**
   * Counts `amount` uses for `network`; throws 429 when the window is used up, over all replicas.
   * `now` in ms since the epoch.
   */
  async spend(declared: Limit, network: string, now: number, amount = 1): Promise<void> {
    const limit = scaleLimit(declared, this.#factor);
    await this.#spendFrom(limit, this.#network(limit, network), now, amount);
    if (limit.inAll !== undefined) {
      await this.#spendFrom(
        ceilingOf(limit),
        this.#network(ceilingOf(limit), allNetworks),
        now,
        amount,
      );
    }
  }

  /** Takes back uses that were counted just now; they stay with this replica. */
  refund(declared: Limit, network: string, now: number, amount = 1): void {
    const limit = scaleLimit(declared, this.#factor);
    this.#putBack(limit, this.#network(limit, network), now, amount);
    if (limit.inAll !== undefined) {
      this.#putBack(ceilingOf(limit), this.#network(ceilingOf(limit), allNetworks), now, amount);
    }
  }

  /**
   * Gives a use that was counted at `spentAt` back to the store, so that every replica has it; this
   * replica keeps a few, so that not each one is a commit. Without effect once the window is over.
   */
  async giveBack(declared: Limit, network: string, now: number, spentAt: number): Promise<void> {
    const limit = scaleLimit(declared, this.#factor);
    if (windowOf(limit, spentAt) !== windowOf(limit, now)) return;
    await this.#giveBack(limit, this.#network(limit, network), now);
    if (limit.inAll === undefined) return;
    const ceiling = ceilingOf(limit);
    await this.#giveBack(ceiling, this.#network(ceiling, allNetworks), now);
  }

  /** Keeps what comes back for the next use here, and returns it to the store when it is much. */
  async #giveBack(limit: Limit, network: CountedNetwork, now: number): Promise<void> {
    this.#putBack(limit, network, now, 1);
    const block = this.#block(network)!;
    const kept = blockSize(limit, network.prefixes, 0);
    if (block.left <= 2 * kept) return;
    const surplus = block.left - kept;
    block.left = kept;
    await this.#recordMutex.run(network.key, () => this.#returnUses(limit, network, now, surplus));
  }

  /** Counts a new limit record; throws 429 if too many were made this minute. */
  countRecord(now: number): Promise<void> {
    return this.spend(recordLimit(this.#limits), allNetworks, now);
  }

  /**
   * Returns the used share of the ceiling for all networks in the window of `now`, from 0 to 1; at
   * most a second old.
   */
  ratio(declared: Limit, now: number): Promise<number> {
    const ceiling = ceilingOf(scaleLimit(declared, this.#factor));
    const cached = this.#ratios.get(ceiling.name);
    if (cached && Math.abs(now - cached.at) < 1_000) return cached.ratio;
    const ratio = this.#ratio(ceiling, now);
    this.#ratios.set(ceiling.name, { at: now, ratio });
    ratio.catch(() => this.#ratios.delete(ceiling.name));
    return ratio;
  }

  async #ratio(limit: Limit, now: number): Promise<number> {
    const { entry } = await toStatusError(this.#storage.get(this.#network(limit, allNetworks).key));
    const record = entry && jsonValue<LimitRecord>(entry);
    return record && record.window >= windowOf(limit, now) ? record.drawn / limit.max : 0;
  }

  async #spendFrom(
    limit: Limit,
    network: CountedNetwork,
    now: number,
    amount: number,
  ): Promise<void> {
    const window = windowOf(limit, now);
    let block = this.#block(network);
    while (!block || block.window < window || block.window > window + 1 || block.left < amount) {
      await this.#reserveOnce(limit, network, { window, now, amount });
      block = this.#block(network);
    }
    block.left -= amount;
  }

  #putBack(limit: Limit, network: CountedNetwork, now: number, amount: number): void {
    const window = windowOf(limit, now);
    const block = this.#block(network);
    if (block && block.window >= window) {
      block.left += amount;
    }
    // What another replica reserved in this window is free here, too.
    else {
      this.#setBlock(network, { window, left: amount, drawn: 0 });
    }
  }

  /** Returns the record and networks of a limit; cached. */
  #network(limit: Limit, network: string): CountedNetwork {
    const block = `${limit.name} ${network}`;
    return this.#networks.getOrCreate(block, () => {
      const prefixes = prefixesOf(network);
      return { key: limitKey(limit, prefixes.wide), block, prefixes };
    });
  }

  /**
   * Reserves one block at a time for each network, so that concurrent requests share it, and in one
   * commit what waits for the same record (docs/design/limits.md#one-commit-for-a-record).
   */
  #reserveOnce(limit: Limit, network: CountedNetwork, reservation: Reservation): Promise<void> {
    const { key, block } = network;
    let pending = this.#reservations.get(block);
    if (!pending) {
      const group =
        this.#groups.get(`${key} ${reservation.window}`) ?? this.#newGroup(limit, key, reservation);
      group.members.set(network, reservation);
      pending = group.done
        .then(({ refused, end }) => {
          if (refused.has(network)) throw this.#refusal(limit, network, end, reservation.now);
        })
        .finally(() => this.#reservations.delete(block));
      this.#reservations.set(block, pending);
    }
    return pending;
  }

  /** Returns the reservations that a record takes next in a window, once those before are made. */
  #newGroup(limit: Limit, key: string, first: Reservation): ReservationGroup {
    const name = `${key} ${first.window}`;
    const members = new Map<CountedNetwork, Reservation>();
    const done = this.#recordMutex.run(key, () => {
      this.#groups.delete(name);
      return this.#reserve(limit, key, first, members);
    });
    const group = { members, done };
    this.#groups.set(name, group);
    return group;
  }

  #refusal(limit: Limit, network: CountedNetwork, end: number, now: number): StatusError {
    this.refusals.count(limit, now);
    this.#ratios.delete(limit.name); // the next read of the ratio must see the store
    return tooManyRequestsUntil(end, now, refusalOf(network));
  }

  /**
   * Reserves a block for each member. A replica whose clock is behind uses the newer window that
   * another one began, so that two clocks cannot open a limit twice.
   */
  async #reserve(
    limit: Limit,
    key: string,
    { window, now }: Reservation,
    members: ReservationGroup['members'],
  ): Promise<ReservationResult> {
    for (;;) {
      const { entry } = await toStatusError(this.#storage.get(key));
      const record = entry && jsonValue<LimitRecord>(entry);
      const current = record?.window === window + 1 ? record.window : window;
      let next: LimitRecord = { window: current, drawn: 0 };
      if (record?.window === current) next = record;
      const end = (current + 1) * limit.seconds * 1000;
      const sizes = new Map<CountedNetwork, number>();
      for (const [network, { amount }] of members) {
        const size = this.#sizeFor(limit, network, next, amount);
        if (size === 0) continue;
        sizes.set(network, size);
        next = withUses(next, network.prefixes, size);
      }
      const refused = new Set([...members.keys()].filter((network) => !sizes.has(network)));
      if (sizes.size === 0) return { refused, end };
      if (!entry && limit.name !== 'limitrecords') await this.countRecord(now);
      const outcome = await toStatusError(
        this.#storage.commit(
          [{ key, is: entry ? entry.revision : 'absent' }],
          [{ put: key, value: Buffer.from(JSON.stringify(next)), expires: end }],
        ),
      );
      if (!outcome.committed) continue;
      for (const [network, size] of sizes) {
        const { left, drawn } = this.#blockIn(network, current);
        this.#setBlock(network, { window: current, left: left + size, drawn: drawn + size });
      }
      return { refused, end };
    }
  }

  /** Returns how many uses to reserve for a network, or 0 if `amount` is more than what is left. */
  #sizeFor(limit: Limit, network: CountedNetwork, record: LimitRecord, amount: number): number {
    const own = this.#blockIn(network, record.window);
    const remaining = this.#remaining(limit, network.prefixes, record);
    const share = Math.floor(remaining / 4);
    const block = Math.min(blockSize(limit, network.prefixes, own.drawn), share);
    const size = Math.min(Math.max(amount - own.left, block, 1), remaining);
    return size + own.left < amount ? 0 : Math.max(0, size);
  }

  /** Takes reserved uses out of the record of a window, if it is still that of `now`. */
  async #returnUses(
    limit: Limit,
    { key, prefixes }: CountedNetwork,
    now: number,
    amount: number,
  ): Promise<void> {
    const window = windowOf(limit, now);
    for (;;) {
      const { entry } = await toStatusError(this.#storage.get(key));
      const record = entry && jsonValue<LimitRecord>(entry);
      if (record?.window !== window) return;
      const value = Buffer.from(JSON.stringify(withUses(record, prefixes, -amount)));
      const outcome = await toStatusError(
        this.#storage.commit(
          [{ key, is: entry!.revision }],
          [{ put: key, value, expires: (window + 1) * limit.seconds * 1000 }],
        ),
      );
      if (outcome.committed) return;
    }
  }

  /** Returns how many uses are left for a network and each network around it. */
  #remaining(limit: Limit, prefixes: Prefixes, { drawn, within = {} }: LimitRecord): number {
    const nested = prefixes.within.map(
      ([width, name]) => this.#maxOf(limit, width) - (within[name] ?? 0),
    );
    const width = prefixes.within.length > 0 ? 'wide' : 'narrow';
    return Math.min(this.#maxOf(limit, width) - drawn, ...nested);
  }

  #maxOf({ max }: Limit, width: Width): number {
    const { networkFactorMiddle, networkFactorWide } = this.#limits;
    return max * { narrow: 1, middle: networkFactorMiddle, wide: networkFactorWide }[width];
  }

  #block({ block, prefixes }: CountedNetwork): Block | undefined {
    return (prefixes.wide === allNetworks ? this.#ceilingBlocks : this.#blocks).get(block);
  }

  /** Returns the block of a network in a window, empty if there is none. */
  #blockIn(network: CountedNetwork, window: number): Block {
    const block = this.#block(network);
    return block?.window === window ? block : { left: 0, window, drawn: 0 };
  }

  /**
   * Keeps a block and evicts the oldest one only, so that many networks cannot make this replica
   * forget the windows of others.
   */
  #setBlock({ block: name, prefixes }: CountedNetwork, block: Block): void {
    (prefixes.wide === allNetworks ? this.#ceilingBlocks : this.#blocks).set(name, block);
  }
}

/** What a reservation of a record came to: whom it refused, and when the window ends (ms). */
interface ReservationResult {
  readonly refused: ReadonlySet<CountedNetwork>;
  readonly end: number;
}

/** Networks of one record whose uses in one window are reserved in one commit. */
interface ReservationGroup {
  readonly members: Map<CountedNetwork, Reservation>;
  readonly done: Promise<ReservationResult>;
}

interface Reservation {
  readonly window: number;
  readonly now: number;
  readonly amount: number;
}

/**
 * Returns how many uses to reserve at once: as many as this replica has reserved in the window, but
 * between a hundredth (at least two) and a tenth of the limit. So a killed replica loses at most
 * what it used or a hundredth, a network with one request takes little from its neighbours, and a
 * busy one needs few commits. The caller reserves at most a quarter of the rest, so that no replica
 * takes the last uses from the others.
 */
function blockSize({ max, block = Infinity }: Limit, { wide }: Prefixes, drawn: number): number {
  const hundredth = Math.floor(max / 100);
  if (wide === allNetworks) return hundredth; // reservations alone must not use up the ceiling
  return Math.min(Math.floor(max / 10), block, Math.max(2, hundredth, drawn));
}

const windowOf = ({ seconds }: Limit, now: number): number => Math.floor(now / (seconds * 1000));

/** What used a limit up, in words. Accounts and hosts are not named. */
function refusalOf({ prefixes: { wide, within } }: CountedNetwork): string {
  const single = within.length > 0 ? ' from this network' : '';
  const subject = wide === allNetworks ? ' from all networks together' : single;
  return `too many requests${subject}, please try again later`;
}

/** Returns the ceiling of a limit for all networks, as a limit. */
const ceilingOf = ({ name, inAll = 0, seconds, inAllSetting }: Limit): Limit => ({
  name: `${name}-all`,
  max: inAll,
  seconds,
  ...(inAllSetting && { setting: inAllSetting }),
});

/** Returns the record with so many more uses of a network and those around it. */
function withUses(
  { window, drawn, within = {} }: LimitRecord,
  prefixes: Prefixes,
  size: number,
): LimitRecord {
  const added = prefixes.within.map(
    ([, name]) => [name, Math.max(0, (within[name] ?? 0) + size)] as const,
  );
  return {
    window,
    drawn: Math.max(0, drawn + size),
    ...(added.length > 0 && { within: { ...within, ...Object.fromEntries(added) } }),
  };
}
