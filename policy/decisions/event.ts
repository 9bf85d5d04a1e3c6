import { randomUUID } from 'node:crypto';
import type { AuthorizationAttributes } from '../../registry/authorizer.js';
import type { StagedWrites } from '../../registry/kind.js';
import type { Store } from '../../registry/store.js';
import { encode, objectKey } from '../../registry/encoded-object.js';
import { toTimestamp } from '../../registry/timestamp.js';
import { ownerReference } from '../../registry/transaction.js';
import { Account } from '../../kinds/account/account.js';
import { PolicyDecision, type DecisionObject } from '../../kinds/policy/policy-decision.js';
import { recordOf } from './record.js';
import type { AuthorizationResponse } from '../evaluate/decision-result.js';
import { singleName } from './names.js';

/**
 * A decision that is an object of its own: its name, the account it is about, and what writes it.
 */
export interface DecisionEvent {
  readonly name: string;
  readonly account: string | undefined;
  readonly part: StagedWrites;
}

/** One decision as an object of its own and what puts it into a commit; nothing is read for it. */
export function decisionPart(
  store: Store,
  question: AuthorizationAttributes,
  judgement: AuthorizationResponse,
): DecisionEvent {
  const { spec, internal } = recordOf(question, judgement);
  const time = Date.now();
  const name = singleName(spec.account, time);
  const owner = spec.account === undefined ? undefined : store.held(Account, spec.account)?.object;
  const now = toTimestamp(time);
  const { allowed, reasons } = judgement;
  const object: DecisionObject = {
    metadata: {
      name,
      uid: randomUUID(),
      resourceVersion: '0',
      generation: 1,
      creationTimestamp: now,
      ...(owner && { ownerReferences: [ownerReference(Account, owner)] }),
    },
    spec,
    internal,
    status: {
      allowed,
      reasons: reasons.map((reason) => ({ ...reason })),
      count: 1,
      firstTimestamp: now,
      lastTimestamp: now,
    },
  };
  const expires = PolicyDecision.expires!(object)!;
  return {
    name,
    account: spec.account,
    part: {
      checks: [],
      writes: [
        { put: objectKey(PolicyDecision, name), value: encode(PolicyDecision, object), expires },
      ],
    },
  };
}
