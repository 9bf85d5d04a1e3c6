import { z } from 'zod';
import { mapList } from './list-type.js';
import { toTimestamp } from './timestamp.js';

const Condition = z.object({
  type: z.string().describe('The type of the condition.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('The status of the condition.'),
  reason: z.string().describe('The reason as an identifier.'),
  message: z.string().describe('A description of the state.'),
  observedGeneration: z
    .number()
    .int()
    .nonnegative()
    .optional()
    .describe('The metadata.generation that the condition is about.'),
  lastTransitionTime: z.string().datetime().describe('When the status last changed.'),
});

/** A condition of an object (Kubernetes API conventions, typical status properties). */
export type Condition = z.infer<typeof Condition>;

/** What a condition says, without the time since which it says it. */
export type ConditionState = Omit<Condition, 'lastTransitionTime'>;

/**
 * Returns the schema of `status.conditions`, which `kubectl wait --for=condition=TYPE` reads.
 * `types` names the types of the kind.
 *
 * @example
 * ```ts
 * const status = z.object({ conditions: conditions('Ready').optional() });
 * ```
 */
export const conditions = (types: string) =>
  mapList(z.array(Condition), 'type').describe(`The conditions: ${types}.`);

/**
 * Returns conditions with the times of their transitions: `now` (ms since the epoch), or as in
 * `before` where the status is unchanged.
 */
export const withTransitionTimes = (
  states: readonly ConditionState[],
  before: readonly Condition[] | undefined,
  now: number,
): Condition[] =>
  states.map((state) => {
    const unchanged = before?.find(
      ({ type, status }) => type === state.type && status === state.status,
    );
    return { ...state, lastTransitionTime: unchanged?.lastTransitionTime ?? toTimestamp(now) };
  });
