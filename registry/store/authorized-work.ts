import type { OutcomeAuthorizer } from '../call-facts.js';
import type { Transaction } from '../kind.js';
import { StatusError } from '../status/status.js';
import type { Work } from './transaction.js';

/**
 * Returns the work of a request with what its commit depends on: that the caller has the rights
 * still, and that the request is authorized for what it makes.
 */
export function authorizedWork<T>(
  work: (tx: Transaction) => Promise<T>,
  outcome: OutcomeAuthorizer | undefined,
  assertRights: ((tx: Transaction) => Promise<void>) | undefined,
): Work<T> {
  return async (tx) => {
    await assertRights?.(tx);
    const result = await work(tx).catch(async (error: unknown) => {
      // An error says something about other objects: only who may make this one gets it.
      if (outcome && error instanceof StatusError) await tx.authorizeOutcome(outcome);
      throw error;
    });
    if (outcome) await tx.authorizeOutcome(outcome);
    return result;
  };
}
