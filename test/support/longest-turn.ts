import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/**
 * Milliseconds of CPU that this thread used. A clock would count what other programs take, and the
 * waits for memory that another thread of this process holds.
 */
const cpuMs = (): number =>
  Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6;

/**
 * Does the work, and returns the most CPU that this thread used for it in one turn of the event
 * loop, in milliseconds.
 */
async function longestTurn(work: () => Promise<unknown>): Promise<number> {
  let longest = 0;
  let last = cpuMs();
  let isOver = false;
  const turn = (): void => {
    const now = cpuMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  await work();
  await new Promise(setImmediate);
  isOver = true;
  return longest;
}

/**
 * Does the work until its longest turn is shorter than `limitMs`, at most twelve times, and returns
 * the shortest of the longest turns in milliseconds of an idle core of 2025: what the work itself
 * takes, without the compilations and collections that happened to fall into it.
 */
export async function turnOf(work: () => Promise<unknown>, limitMs: number): Promise<number> {
  let least = Infinity;
  for (let i = 0; i < 12 && least >= limitMs; i += 1) {
    const milliseconds = await longestTurn(work);
    least = Math.min(least, milliseconds < limitMs ? milliseconds : milliseconds / slowness());
  }
  return least;
}

const referenceMs = 12;

/** How much slower than an idle core of 2025 this thread is now, by work on strings and digests. */
function slowness(): number {
  const startedAt = cpuMs();
  let text = '';
  for (let i = 0; i < 20_000; i += 1) {
    text = createHash('sha256').update(JSON.stringify({ i, text })).digest('hex');
  }
  return Math.max(1, (cpuMs() - startedAt) / referenceMs);
}
