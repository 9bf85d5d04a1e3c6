import type { Policy } from '../api.js';

/** The policies that are or were in force, newest first, the one in force, and those in trial. */
export interface History {
  readonly policies: readonly Policy[];
  readonly inForce: Policy | undefined;
  /** Policies in mode Shadow, newest first. */
  readonly trials: readonly Policy[];
}

const numberOf = ({ metadata: { name } }: Policy): number => Number(name.slice(2));

/** Returns whether a policy only shows what it would decide. */
export const isTrial = ({ spec }: Policy): boolean => spec.mode === 'Shadow';

/** Sorts policies. While one replaces another, the newest known is the one in force. */
export function historyOf(items: readonly Policy[]): History {
  const sorted = [...items].sort((a, b) => numberOf(b) - numberOf(a));
  const policies = sorted.filter((policy) => !isTrial(policy));
  return {
    policies,
    inForce: policies.find(({ status }) => status.inForce) ?? policies[0],
    trials: sorted.filter(isTrial),
  };
}

/** Returns the policy in trial, if one is. */
export const runningTrial = ({ trials }: History): Policy | undefined =>
  trials.find(({ status }) => status.supersededTimestamp === undefined);

/** Returns a policy by name. */
export const policyNamed = ({ policies, trials }: History, name: string): Policy | undefined =>
  [...policies, ...trials].find(({ metadata }) => metadata.name === name);

/** Returns the policy before this one; of the one in trial, that in force. */
export function previousPolicy(history: History, policy: Policy): Policy | undefined {
  if (policy === runningTrial(history)) return history.inForce;
  return isTrial(policy) ? undefined : history.policies[history.policies.indexOf(policy) + 1];
}

/** Returns the lines of a text. A final newline adds no line. */
export const linesOf = (text: string): string[] => text.replace(/\n$/, '').split('\n');
