import { digest } from '../../registry/keys.js';
import type { Call, Transaction } from '../../registry/kind.js';

/** Wrong codes in a row for one address, over all interactions, browsers and replicas (`provider.md` 15). Times in ms since the epoch. */
interface Wrong { inRow: number; restUntil: number; rests: number }

const most = 100;
const firstRest = 15 * 60_000;
const longestRest = 24 * 3_600_000;
const keptFor = 30 * 24 * 3_600_000;

const keyOf = (address: string): string => `limits/wrongcodes/${digest(address)}`;
const read = (value: Buffer | undefined): Wrong => (value ? (JSON.parse(value.toString()) as Wrong) : { inRow: 0, restUntil: 0, rests: 0 });

/** Until when codes rest for an address, or 0. */
export async function restingUntil(tx: Transaction, address: string, call: Pick<Call, 'now'>): Promise<number> {
  const { restUntil } = read((await tx.read(keyOf(address)))?.value);
  return restUntil > call.now ? restUntil : 0;
}

/** Counts a try as wrong before it is judged; the hundredth in a row puts codes to rest for a doubling time. */
export async function countTry(tx: Transaction, address: string, call: Pick<Call, 'now'>): Promise<void> {
  const wrong = read((await tx.read(keyOf(address)))?.value);
  wrong.inRow += 1;
  if (wrong.inRow >= most) {
    wrong.restUntil = call.now + Math.min(firstRest * 2 ** wrong.rests, longestRest);
    wrong.rests += 1;
    wrong.inRow = 0;
  }
  tx.write(keyOf(address), Buffer.from(JSON.stringify(wrong)), call.now + keptFor);
}

/** Any success forgets the row. */
export async function forgetTries(tx: Transaction, address: string): Promise<void> {
  if (await tx.read(keyOf(address))) tx.remove(keyOf(address));
}
