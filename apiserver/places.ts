import type { Caller } from '../registry/kind.js';
import { tooManyRequests } from '../registry/status.js';

/** Watches open at a time: of one session, one interaction or one network of Visitors, and of all interactions of one network. */
const most = { own: 20, interactions: 200 };

/** The places there are for watches on this replica (`security.md` 1.4). */
export class Places {
  readonly #open = new Map<string, number>();

  /** Takes a place, given back by what is answered; 429 where there is none left. */
  take(caller: Caller, network: string): () => void {
    const counted = placesOf(caller, network);
    if (counted.some(([who, bound]) => (this.#open.get(who) ?? 0) >= bound)) throw tooManyRequests(5, 'too many watches are open');
    for (const [who] of counted) this.#open.set(who, (this.#open.get(who) ?? 0) + 1);
    return () => { for (const [who] of counted) this.#leave(who) };
  }

  #leave(who: string): void {
    const left = this.#open.get(who)! - 1;
    if (left === 0) this.#open.delete(who);
    else this.#open.set(who, left);
  }
}

/** What a watch counts against, and how many there may be: anybody can begin interactions, so they count by network too. */
function placesOf(caller: Caller, network: string): [who: string, most: number][] {
  switch (caller.type) {
    case 'Account': return [[`s:${caller.session ?? caller.account}`, most.own]];
    case 'Browser': return [[`i:${caller.interaction}`, most.own], [`b:${network}`, most.interactions]];
    case 'Visitor': return [[`n:${network}`, most.own]];
    default: return [];
  }
}
