import { z } from 'zod';
import type { Condition } from '../../registry/schema/conditions.js';
import { fromTimestamp, toTimestamp } from '../../registry/schema/timestamp.js';
import { entriesOf } from '../../registry/schema/typed-entries.js';
import { daySeconds } from '../../registry/schema/units.js';
import { timestamp } from '../signin/schema-types.js';

/** How long no decision may differ before `Agreed` is true, in seconds, if the spec has no value. */
const defaultMinAgreedSeconds = daySeconds;

/** The largest number of examples in each direction; the newest are kept. */
const maxExamples = 10;

const examples = (which: string) =>
  z.array(z.string()).describe(`The newest PolicyDecisions that were ${which}.`);

/** What a policy in mode Shadow would have decided (docs/design/policy.md#shadow). */
export const ShadowStatus = z.object({
  comparedWith: z.string().describe('The Policy in force that it is compared with.'),
  since: timestamp().describe('Since when it is compared.'),
  evaluated: z.number().int().describe('Recorded decisions that this text decided too.'),
  unchanged: z.number().int().describe('Decisions that stay the same.'),
  nowRefused: z.number().int().describe('Decisions that were permitted and would be refused.'),
  nowAllowed: z.number().int().describe('Decisions that were refused and would be permitted.'),
  undecidable: z.number().int().describe('Decisions on which this text fails.'),
  examples: z
    .object({
      nowRefused: examples('permitted and would be refused'),
      nowAllowed: examples('refused and would be permitted'),
    })
    .describe('Some decisions that would change.'),
  lastDifferenceTimestamp: timestamp()
    .optional()
    .describe('When a decision last differed or failed.'),
  agreedTimestamp: timestamp().optional().describe('Since when the condition Agreed is true.'),
});
export type ShadowStatus = z.infer<typeof ShadowStatus>;

/** Decisions that a policy in mode Shadow evaluated: what is added to its status. */
export type ShadowCounts = Pick<
  ShadowStatus,
  'evaluated' | 'unchanged' | 'nowRefused' | 'nowAllowed' | 'undecidable' | 'examples'
> & {
  /** When a decision last differed or failed, in milliseconds since the epoch. */
  lastDifferenceMs?: number;
};

/** Returns counts at zero. */
export const zeroShadowCounts = (): ShadowCounts => ({
  evaluated: 0,
  unchanged: 0,
  nowRefused: 0,
  nowAllowed: 0,
  undecidable: 0,
  examples: { nowRefused: [], nowAllowed: [] },
});

/** Returns the status of a policy whose comparison begins at `now`. */
export const newShadow = (comparedWith: string, now: string): ShadowStatus => ({
  comparedWith,
  since: now,
  ...zeroShadowCounts(),
});

/** Adds counts to the status, and notes at `now` (ms since the epoch) whether the policies agree. */
export function addToShadow(
  shadow: ShadowStatus,
  { lastDifferenceMs, examples: added, ...counts }: ShadowCounts,
  minAgreedSeconds: number | undefined,
  now: number,
): void {
  for (const [name, count] of entriesOf(counts)) shadow[name] += count;
  for (const direction of ['nowRefused', 'nowAllowed'] as const) {
    shadow.examples[direction] = newest(shadow.examples[direction], added[direction]);
  }
  if (lastDifferenceMs !== undefined) {
    const before = shadow.lastDifferenceTimestamp;
    const last = Math.max(lastDifferenceMs, before === undefined ? 0 : fromTimestamp(before));
    shadow.lastDifferenceTimestamp = toTimestamp(last);
    delete shadow.agreedTimestamp;
  }
  if (isAgreed(shadow, minAgreedSeconds, now)) shadow.agreedTimestamp ??= toTimestamp(now);
}

/** Returns names with those added later; each once, and the newest of them. */
export const newest = (names: readonly string[], added: readonly string[]): string[] =>
  [...names.filter((name) => !added.includes(name)), ...added].slice(-maxExamples);

/** Returns whether no decision differed for as long as is asked for; false if there was none. */
export function isAgreed(
  { evaluated, since, lastDifferenceTimestamp }: ShadowStatus,
  minAgreedSeconds = defaultMinAgreedSeconds,
  now: number,
): boolean {
  const quietMs = now - fromTimestamp(lastDifferenceTimestamp ?? since);
  return evaluated > 0 && quietMs >= minAgreedSeconds * 1_000;
}

/** Returns the condition that lets `kubectl wait` go on when the policies agree. */
export function agreedCondition(shadow: ShadowStatus): Condition {
  const { agreedTimestamp, lastDifferenceTimestamp, since, evaluated, unchanged } = shadow;
  const quietSince = lastDifferenceTimestamp ?? since;
  if (agreedTimestamp !== undefined) {
    return {
      type: 'Agreed',
      status: 'True',
      reason: 'NoDifference',
      message: `No decision has differed since ${quietSince}; ${evaluated} were evaluated.`,
      lastTransitionTime: agreedTimestamp,
    };
  }
  const differ = evaluated - unchanged;
  return {
    type: 'Agreed',
    status: 'False',
    ...(differ > 0
      ? { reason: 'Differs', message: `${differ} of ${evaluated} decisions would differ.` }
      : {
          reason: 'TooEarly',
          message: `${evaluated} decisions were evaluated, none differs yet.`,
        }),
    lastTransitionTime: quietSince,
  };
}
