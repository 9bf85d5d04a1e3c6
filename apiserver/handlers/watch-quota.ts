import type { Caller } from '../../registry/kind.js';
import type { Limits } from '../../registry/limit-settings.js';
import { prefixesOf } from '../../registry/prefixes.js';
import { tooManyRequests } from '../../registry/status.js';

type Bounds = Pick<
  Limits,
  | 'watchesPerSession'
  | 'watchesOfNetwork'
  | 'watchesOfStrangers'
  | 'networkFactorMiddle'
  | 'networkFactorWide'
>;

/**
 * Limits the open watches on this replica by session or sign-in, and without an account also by
 * network and in total.
 */
export class WatchQuota {
  readonly #open = new Map<string, number>();
  readonly #bounds: Bounds;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** Takes a slot and returns the function that frees it; throws 429 if none is left. */
  take(caller: Caller, network: string): () => void {
    const counted = placesOf(caller, network, this.#bounds);
    if (counted.some(([who, bound]) => (this.#open.get(who) ?? 0) >= bound))
      throw tooManyRequests(5, 'too many watches are open');
    for (const [who] of counted) this.#open.set(who, (this.#open.get(who) ?? 0) + 1);
    return () => {
      for (const [who] of counted) this.#leave(who);
    };
  }

  #leave(who: string): void {
    const left = this.#open.get(who)! - 1;
    if (left === 0) this.#open.delete(who);
    else this.#open.set(who, left);
  }
}

type Bound = [who: string, max: number];

/**
 * Returns the counters of a watch with their limits. Anyone can start interactions, so those count
 * by network too.
 */
function placesOf(caller: Caller, network: string, bounds: Bounds): Bound[] {
  const { watchesPerSession, watchesOfNetwork } = bounds;
  switch (caller.type) {
    case 'Account':
      return [[`s:${caller.session ?? caller.account}`, watchesPerSession]];
    case 'Browser':
      return [
        [`i:${caller.interaction}`, watchesPerSession],
        ...ofNetworks('b', network, watchesOfNetwork, bounds),
      ];
    case 'Anonymous':
      return ofNetworks('n', network, watchesPerSession, bounds);
    default:
      return [];
  }
}

/**
 * Returns the counters of a network, the networks around it, and all callers without an account.
 */
function ofNetworks(
  sort: string,
  network: string,
  max: number,
  { watchesOfStrangers, networkFactorMiddle, networkFactorWide }: Bounds,
): Bound[] {
  const { wide, within } = prefixesOf(network);
  const factors = { narrow: 1, middle: networkFactorMiddle, wide: networkFactorWide };
  const nested = within.map(
    ([width, name]): Bound => [`${sort}:${wide} ${name}`, max * factors[width]],
  );
  return [
    ...nested,
    [`${sort}:${wide}`, max * (nested.length > 0 ? networkFactorWide : 1)],
    ['everybody', watchesOfStrangers],
  ];
}
