import type { Policy } from '../api.js';

/** All policies, newest first, and the one in force. */
export interface History {
  readonly all: readonly Policy[];
  readonly inForce: Policy | undefined;
}

const numberOf = ({ metadata: { name } }: Policy): number => Number(name.slice(2));

/** Sorts policies. While one replaces another, the newest known is the one in force. */
export function historyOf(items: readonly Policy[]): History {
  const all = [...items].sort((a, b) => numberOf(b) - numberOf(a));
  return { all, inForce: all.find(({ status }) => status.inForce) ?? all[0] };
}

/** Returns a policy by name. */
export const policyNamed = ({ all }: History, name: string): Policy | undefined =>
  all.find(({ metadata }) => metadata.name === name);

/** Returns the policy before this one. */
export const previousPolicy = ({ all }: History, policy: Policy): Policy | undefined =>
  all[all.indexOf(policy) + 1];

/** Returns the lines of a text. A final newline adds no line. */
export const linesOf = (text: string): string[] => text.replace(/\n$/, '').split('\n');
