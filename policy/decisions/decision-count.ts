import { decisionCountKey } from '../../kinds/policy/decision-count-key.js';
import { type DecisionObject, PolicyDecision } from '../../kinds/policy/policy-decision.js';
import { refusalKey } from '../../kinds/policy/refusal-event.js';
import { encodedObjectOf, objectKey } from '../../registry/encoded-object.js';
import type { Transaction } from '../../registry/kind.js';
import { countOwned } from '../../registry/store/owned-count.js';
import type { Store } from '../../registry/store/store.js';
import { singleEventRange } from './names.js';

/** Counts a decision of an account in the commit that writes it; the oldest above the limit go. */
export function countDecision(tx: Transaction, store: Store, account: string): Promise<void> {
  const { start, end } = singleEventRange(account);
  const { decisionsPerAccount, decisionRetention, readDecisionRetention } = store.settings.limits;
  return countOwned(tx, store.storage, {
    range: { start: objectKey(PolicyDecision, start), end: objectKey(PolicyDecision, end) },
    countKey: decisionCountKey(account),
    max: decisionsPerAccount,
    retentionMs: Math.max(decisionRetention, readDecisionRetention),
    dependentKey: (entry) =>
      refusalKey(encodedObjectOf(PolicyDecision, entry).object as DecisionObject),
  });
}
