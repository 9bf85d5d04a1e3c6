import type { Journey } from '../known-accounts.js';
import { type Metric, perCPUSecond, type Row, throughput } from '../row.js';
import { vestibule } from '../sides/servers.js';
import { type SignInServer, signInSides } from '../sign-in-server.js';

/** What a sign-in row compares with, and what the service must reach of its rate, if anything. */
export interface Against {
  readonly id: string;
  /** The service as it is shipped, unless another is given. */
  readonly ours?: SignInServer;
  readonly peer: SignInServer;
  readonly gate?: number;
  readonly stretch?: number;
}

const words: Readonly<Record<Journey, string>> = {
  asked: 'consent asked',
  remembered: 'consent remembered',
};
const units = [
  ['/CPU s', perCPUSecond],
  ['/s', throughput],
] as const;

/**
 * Equal work: complete sign-ins, authorization request to verified tokens, that are durable before
 * each answer, in turns with a peer; by processor time (a, b) and by the clock (c, d).
 */
export function signInRow({ id, ours = vestibule, peer, ...bounds }: Against): Row {
  const journeys = peer.journeys;
  const metrics = units.flatMap(([unit, of], i) =>
    journeys.map((journey, j): Metric => {
      const letter = 'abcd'[i * journeys.length + j]!;
      return {
        id: `${id}${letter}`,
        workload: `sign in, ${words[journey]}`,
        unit,
        ours: `${ours.name}, ${journey}`,
        peer: `${peer.name}, ${journey}`,
        of,
        is: '≥',
        ...bounds,
      };
    }),
  );
  return {
    durable: true,
    metrics,
    seconds: 6,
    slice: 1,
    async open(bench) {
      const theirs = await signInSides(bench, peer, journeys);
      return [...(await signInSides(bench, ours, journeys)), ...theirs];
    },
  };
}
