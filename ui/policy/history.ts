import type { Policy } from '../api.js';

/** Every policy there was, the newest first, and the one in force. */
export interface History {
  readonly all: readonly Policy[];
  readonly inForce: Policy | undefined;
}

const numberOf = ({ metadata: { name } }: Policy): number => Number(name.slice(2));

/**
 * Puts policies in order; while one takes another's place, the newest that is known is the one in
 * force.
 */
export function historyOf(items: readonly Policy[]): History {
  const all = [...items].sort((a, b) => numberOf(b) - numberOf(a));
  return { all, inForce: all.find(({ status }) => status.inForce) ?? all[0] };
}

/** A policy by its name. */
export const policyNamed = ({ all }: History, name: string): Policy | undefined =>
  all.find(({ metadata }) => metadata.name === name);

/** The one before it. */
export const previousPolicy = ({ all }: History, policy: Policy): Policy | undefined =>
  all[all.indexOf(policy) + 1];

/** The lines of a text; the end of the last one is no line of its own. */
export const linesOf = (text: string): string[] => text.replace(/\n$/, '').split('\n');
