import type { Caller } from '../../registry/kind.js';
import type { Limits } from '../../registry/limit-settings.js';
import { prefixesOf } from '../../registry/prefixes.js';
import { tooManyRequests } from '../../registry/status.js';

type Bounds = Pick<
  Limits,
  | 'watchesPerSession'
  | 'watchesPerAccount'
  | 'watchesOfPersons'
  | 'watchesOfNetwork'
  | 'watchesOfStrangers'
  | 'networkFactorMiddle'
  | 'networkFactorWide'
>;

/**
 * Limits the open watches on this replica: by session, by account and of all persons; of sign-ins and
 * anonymous callers, by network and in total.
 */
export class WatchQuota {
  readonly #openCounts = new Map<string, number>();
  readonly #bounds: Bounds;

  constructor(bounds: Bounds) {
    this.#bounds = bounds;
  }

  /** Takes a slot and returns the function that frees it; throws 429 if none is left. */
  acquire(caller: Caller, network: string): () => void {
    const counters = countersOf(caller, network, this.#bounds);
    if (counters.some(([who, bound]) => (this.#openCounts.get(who) ?? 0) >= bound))
      throw tooManyRequests(5, 'too many watches are open');
    for (const [who] of counters) this.#openCounts.set(who, (this.#openCounts.get(who) ?? 0) + 1);
    return () => {
      for (const [who] of counters) this.#release(who);
    };
  }

  #release(who: string): void {
    const remaining = this.#openCounts.get(who)! - 1;
    if (remaining === 0) this.#openCounts.delete(who);
    else this.#openCounts.set(who, remaining);
  }
}

type Counter = [who: string, max: number];

/**
 * Returns the counters of a watch with their limits. Anyone can start interactions, so those count
 * by network too.
 */
function countersOf(caller: Caller, network: string, bounds: Bounds): Counter[] {
  const { watchesPerSession, watchesPerAccount, watchesOfPersons, watchesOfNetwork } = bounds;
  switch (caller.type) {
    case 'Account':
      return [
        [`s:${caller.session ?? caller.account}`, watchesPerSession],
        [`a:${caller.account}`, watchesPerAccount],
        ['persons', watchesOfPersons],
      ];
    case 'Browser':
      return [
        [`i:${caller.interaction}`, watchesPerSession],
        ...networkCounters('b', network, watchesOfNetwork, bounds),
      ];
    case 'Anonymous':
      return networkCounters('n', network, watchesPerSession, bounds);
    default:
      return [];
  }
}

/**
 * Returns the counters of a network, the networks around it, and all callers without an account.
 */
function networkCounters(
  prefix: string,
  network: string,
  max: number,
  { watchesOfStrangers, networkFactorMiddle, networkFactorWide }: Bounds,
): Counter[] {
  const { wide, within } = prefixesOf(network);
  const factors = { narrow: 1, middle: networkFactorMiddle, wide: networkFactorWide };
  const nested = within.map(
    ([width, name]): Counter => [`${prefix}:${wide} ${name}`, max * factors[width]],
  );
  return [
    ...nested,
    [`${prefix}:${wide}`, max * (nested.length > 0 ? networkFactorWide : 1)],
    ['everybody', watchesOfStrangers],
  ];
}
