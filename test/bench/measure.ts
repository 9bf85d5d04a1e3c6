import type { Row, Sample, Side } from './row.js';

/** The samples of each side, one a round. */
export type Rounds = ReadonlyMap<string, readonly Sample[]>;

const agreement = 0.05;
const mostWindows = 60;

/** Runs windows until two in a row agree and the side's least is done, or until sixty did not agree. */
export async function warmUp({ warm, sample }: Side): Promise<void> {
  if (!warm) return;
  let last: number | undefined;
  let [seconds, operations] = [0, 0];
  for (let i = 0; i < mostWindows; i += 1) {
    const window = await sample(1);
    seconds += window.seconds;
    operations += window.operations;
    const cost = window.cpuMicros / window.operations;
    const agrees = last !== undefined && Math.abs(cost - last) <= last * agreement;
    if (agrees && seconds >= (warm.seconds ?? 0) && operations >= (warm.operations ?? 0)) return;
    last = cost;
  }
}

/** So many rounds, each running every side once, the order turned each time. */
export async function measure({ seconds = 3 }: Row, sides: readonly Side[], { rounds, quick }: { rounds: number; quick: boolean }): Promise<Rounds> {
  const samples = new Map<string, Sample[]>(sides.map(({ name }) => [name, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const side of round % 2 === 0 ? sides : [...sides].reverse()) samples.get(side.name)!.push(await side.sample(quick ? 1 : seconds));
  }
  return samples;
}
