import { decisionCountKey } from '../../kinds/policy/decision-count-key.js';
import { type DecisionObject, PolicyDecision } from '../../kinds/policy/policy-decision.js';
import { refusalKey } from '../../kinds/policy/refusal-event.js';
import { encodedObjectOf, objectKey } from '../../registry/encoded-object.js';
import type { Transaction } from '../../registry/kind.js';
import { indexRows } from '../../registry/store/lifecycle/index-rows.js';
import { countOwned } from '../../registry/store/owned-count.js';
import type { Store } from '../../registry/store/store.js';
import { singleEventRange } from './names.js';

/** Counts a decision of an account in the commit that writes it; the oldest above the limit go. */
export function countDecision(tx: Transaction, store: Store, account: string): Promise<void> {
  const { start, end } = singleEventRange(account);
  const { limits } = store.settings;
  return countOwned(tx, store.storage, {
    range: { start: objectKey(PolicyDecision, start), end: objectKey(PolicyDecision, end) },
    countKey: decisionCountKey(account),
    max: limits.decisionsPerAccount,
    retentionMs: Math.max(
      limits.decisionRetention,
      limits.readDecisionRetention,
      limits.signInRetention,
    ),
    dependentKeys(entry) {
      const object = encodedObjectOf(PolicyDecision, entry).object as DecisionObject;
      return [...indexRows(PolicyDecision, object), ...[refusalKey(object) ?? []].flat()];
    },
  });
}
