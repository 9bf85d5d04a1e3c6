import { guard } from './guard.js';
import { digest } from './keys.js';
import type { Storage } from '../storage/storage.js';
import { tooManyRequests } from './status.js';

/** At most so many in any window of so many seconds, by what the limit counts. Counted in the store, so it holds across replicas. */
export interface Limit { readonly name: string; readonly most: number; readonly seconds: number }

/** The storage key that a limit counts under for one subject; the subject itself stands nowhere. */
export const limitKey = (limit: Limit, subject: string): string => `limits/${limit.name}/${digest(subject)}`;

const slots = 64;

/** Adds one use at `now` (ms) to a log of uses, or throws 429: a sliding window, exact for limits of a few dozen; above, uses are counted by sixty-fourths of it, each until its last has passed, so that the log stays short. */
export function spendFrom(limit: Limit, log: Buffer | undefined, now: number): { value: Buffer; expires: number } {
  const window = limit.seconds * 1000;
  const slot = limit.most > slots ? window / slots : 1;
  const uses = (log ? (JSON.parse(log.toString()) as [time: number, count: number][]) : []).filter(([time]) => time > now - window);
  let excess = uses.reduce((sum, [, count]) => sum + count, 0) - limit.most;
  if (excess >= 0) {
    const [freeing] = uses.find(([, count]) => (excess -= count) < 0)!;
    throw tooManyRequests(Math.max(1, Math.ceil((freeing + window - now) / 1000)));
  }
  const time = Math.ceil(now / slot) * slot;
  const newest = uses.at(-1);
  if (newest && slot > 1 && newest[0] >= time) newest[1] += 1;
  else uses.push([time, 1]);
  return { value: Buffer.from(JSON.stringify(uses)), expires: time + window };
}

/** The log without its newest use, which turned out not to count. */
export function givenBack(log: Buffer): Buffer {
  const uses = JSON.parse(log.toString()) as [time: number, count: number][];
  const newest = uses.at(-1);
  if (newest && (newest[1] -= 1) === 0) uses.pop();
  return Buffer.from(JSON.stringify(uses));
}

/** A limit with `factor` times as much in it. */
export const raised = (limit: Limit, factor: number): Limit => (factor === 1 ? limit : { ...limit, most: Math.ceil(limit.most * factor) });

/** So many subjects' blocks are held in memory. */
const held = 20_000;

interface Block { left: number; window: number }

/** Limits on requests by client network: whole windows, drawn from the store in blocks of a tenth, so most requests cost no commit. */
export class NetworkLimits {
  readonly #storage: Storage;
  readonly #blocks = new Map<string, Block>();
  readonly #drawing = new Map<string, Promise<void>>();
  readonly #keys = new Map<string, string>();
  readonly #factor: number;

  constructor(storage: Storage, factor = 1) {
    this.#storage = storage;
    this.#factor = factor;
  }

  /** Takes one for `network`, before the work it protects; 429 when the window is spent on all replicas together. */
  async spend(declared: Limit, network: string, now: number): Promise<void> {
    const key = this.#key(declared, network);
    const window = Math.floor(now / (declared.seconds * 1000));
    let block = this.#blocks.get(key);
    while (!block || block.window < window || block.window > window + 1 || block.left === 0) {
      await this.#drawn(raised(declared, this.#factor), key, window, now);
      block = this.#blocks.get(key);
    }
    block.left -= 1;
  }

  /** The key of a network's window, hashed once for as long as it is remembered. */
  #key(limit: Limit, network: string): string {
    const named = `${limit.name} ${network}`;
    let key = this.#keys.get(named);
    if (key === undefined) {
      if (this.#keys.size >= held) this.#keys.clear();
      this.#keys.set(named, (key = limitKey(limit, network)));
    }
    return key;
  }

  /** One draw at a time for a network: a crowd that comes at once shares the block, instead of emptying the window with a block for each. */
  #drawn(limit: Limit, key: string, window: number, now: number): Promise<void> {
    let drawing = this.#drawing.get(key);
    if (!drawing) this.#drawing.set(key, (drawing = this.#draw(limit, key, window, now).finally(() => { this.#drawing.delete(key) })));
    return drawing;
  }

  /** A replica whose clock is behind counts on in the window that another one has begun: two clocks must not open a limit twice. */
  async #draw(limit: Limit, key: string, window: number, now: number): Promise<void> {
    for (;;) {
      const { entry } = await guard(this.#storage.get(key));
      const counted = entry && (JSON.parse(entry.value.toString()) as { window: number; drawn: number });
      const current = counted?.window === window + 1 ? counted.window : window;
      const drawn = counted?.window === current ? counted.drawn : 0;
      const end = (current + 1) * limit.seconds * 1000;
      const size = Math.min(Math.max(1, Math.floor(limit.most / 10)), limit.most - drawn);
      if (size <= 0) throw tooManyRequests(Math.max(1, Math.ceil((end - now) / 1000)));
      const value = Buffer.from(JSON.stringify({ window: current, drawn: drawn + size }));
      const answer = await guard(this.#storage.commit([{ key, is: entry ? entry.revision : 'absent' }], [{ put: key, value, expires: end }]));
      if (!answer.committed) continue;
      const block = this.#blocks.get(key);
      this.#hold(key, { window: current, left: size + (block?.window === current ? block.left : 0) });
      return;
    }
  }

  /** The block drawn longest ago makes room, and it alone: many networks cannot make this replica forget the others' windows. */
  #hold(key: string, block: Block): void {
    this.#blocks.delete(key);
    if (this.#blocks.size >= held) this.#blocks.delete(this.#blocks.keys().next().value!);
    this.#blocks.set(key, block);
  }
}
