import { median, spreadOf } from './statistics.js';

/** The outcome of one metric: gate held, stretch held, gate broken, or undecided. */
export type Verdict =
  | 'pass'
  | 'pass, stretch'
  | 'fail'
  | 'unsteady'
  | 'client-bound'
  | 'no gate'
  | 'quick'
  | 'skipped'
  | 'error';

/**
 * What a metric is held to, if to anything; without a peer the rounds are amounts and the gate a
 * budget.
 */
export interface Bounds {
  readonly is: '≤' | '≥';
  readonly gate?: number;
  readonly stretch?: number;
  readonly budget?: boolean;
}

/** The outcome of one metric's rounds. */
export interface Evaluation {
  readonly ratio: number;
  readonly spread: number;
  readonly verdict: Verdict;
}

/** A spread over this makes a metric unsteady. */
export const steady = 1.25;

/** The share of its core over which a client measured itself. */
export const busy = 0.9;

/**
 * Compares the rounds' median with gate and stretch. `clients` is how busy each window's client was;
 * `quick` yields no verdict.
 */
export function evaluate(
  bounds: Bounds,
  rounds: readonly number[],
  clients: readonly number[],
  quick = false,
): Evaluation {
  const ratio = median(rounds);
  const { gate } = bounds;
  const spread =
    bounds.budget && gate !== undefined
      ? 1 + (Math.max(...rounds) - Math.min(...rounds)) / gate
      : spreadOf(rounds);
  if (quick) return { ratio, spread, verdict: 'quick' };
  if (gate === undefined) return { ratio, spread, verdict: 'no gate' };
  const judged = { ...bounds, gate };
  const agreed = isSteady(judged, rounds, spread);
  return { ratio, spread, verdict: verdictOf(judged, ratio, agreed, clients) };
}

type Gated = Bounds & { readonly gate: number };

/** Whether rounds agree well enough; those of a budget do, too, where each of them keeps it. */
const isSteady = (
  { budget, is, gate }: Gated,
  rounds: readonly number[],
  spread: number,
): boolean =>
  spread <= steady ||
  (budget === true && rounds.every((round) => (is === '≤' ? round <= gate : round >= gate)));

function verdictOf(
  { is, gate, stretch }: Gated,
  ratio: number,
  agreed: boolean,
  clients: readonly number[],
): Verdict {
  if (clients.some((share) => share >= busy)) return 'client-bound';
  if (!agreed) return 'unsteady';
  const within = (bound: number): boolean => (is === '≤' ? ratio <= bound : ratio >= bound);
  if (!within(gate)) return 'fail';
  return stretch !== undefined && within(stretch) ? 'pass, stretch' : 'pass';
}

/** The exit code of a run: 1 a gate failed, 2 something could not be decided, 0 all gates held. */
export function exitCodeOf(verdicts: readonly Verdict[]): 0 | 1 | 2 {
  if (verdicts.includes('fail')) return 1;
  return verdicts.some(
    (verdict) => verdict === 'error' || verdict === 'unsteady' || verdict === 'client-bound',
  )
    ? 2
    : 0;
}
