import type { Caller } from '../../../registry/kind.js';
import { limitFlag } from '../../../registry/limits/limit-flag.js';
import type { LimitRefusals } from '../../../registry/limits/limit-refusals.js';
import type { LimitName, Limits } from '../../../registry/limits/limit-settings.js';
import { prefixesOf } from '../../../registry/limits/prefixes.js';
import { type StatusError, tooManyRequests } from '../../../registry/status/status.js';

/**
 * Limits the open watches on this replica: by session, by owner and of all owners; of sessions without
 * an owner and anonymous callers, by network and in total.
 */
export class WatchQuota {
  readonly #openCounts = new Map<string, number>();
  readonly #limits: Limits;
  readonly #refusals: LimitRefusals;

  constructor(limits: Limits, refusals: LimitRefusals) {
    this.#limits = limits;
    this.#refusals = refusals;
  }

  /**
   * Takes a slot and returns the function that frees it; throws 429 if none is left. Operators learn
   * which flag sets the limit.
   */
  acquire(caller: Caller, network: string): () => void {
    const counters = countersOf(caller, network, this.#limits);
    for (const [who, setting, factor = 1] of counters) {
      if ((this.#openCounts.get(who) ?? 0) >= this.#limits[setting] * factor) {
        throw this.#refused(caller, setting);
      }
    }
    for (const [who] of counters) this.#openCounts.set(who, (this.#openCounts.get(who) ?? 0) + 1);
    return () => {
      for (const [who] of counters) this.#release(who);
    };
  }

  #refused(caller: Caller, setting: LimitName): StatusError {
    this.#refusals.count({ name: setting.toLowerCase(), setting }, Date.now());
    const which = caller.operator ? `: --${limitFlag(setting)} is ${this.#limits[setting]}` : '';
    return tooManyRequests(5, `too many watches are open${which}`);
  }

  #release(who: string): void {
    const remaining = this.#openCounts.get(who)! - 1;
    if (remaining === 0) {
      this.#openCounts.delete(who);
    } else {
      this.#openCounts.set(who, remaining);
    }
  }
}

type Counter = [who: string, setting: LimitName, factor?: number];

/**
 * Returns the counters of a watch with their limits. Anyone can start a session without an owner, so
 * those count by network too.
 */
function countersOf({ type, owner, session }: Caller, network: string, limits: Limits): Counter[] {
  if (owner !== undefined) {
    return [
      [`s:${session ?? owner}`, 'watchesPerSession'],
      [`a:${owner}`, 'watchesPerAccount'],
      ['persons', 'watchesOfPersons'],
    ];
  }
  if (session !== undefined) {
    return [
      [`i:${session}`, 'watchesPerSession'],
      ...networkCounters('b', network, 'watchesOfNetwork', limits),
    ];
  }
  return type === 'Anonymous' ? networkCounters('n', network, 'watchesPerSession', limits) : [];
}

/**
 * Returns the counters of a network, the networks around it, and all callers without an owner.
 */
function networkCounters(
  prefix: string,
  network: string,
  setting: LimitName,
  { networkFactorMiddle, networkFactorWide }: Limits,
): Counter[] {
  const { wide, within } = prefixesOf(network);
  const factors = { narrow: 1, middle: networkFactorMiddle, wide: networkFactorWide };
  const nested = within.map(
    ([width, name]): Counter => [`${prefix}:${wide} ${name}`, setting, factors[width]],
  );
  return [
    ...nested,
    [`${prefix}:${wide}`, setting, nested.length > 0 ? networkFactorWide : 1],
    ['everybody', 'watchesOfStrangers'],
  ];
}
