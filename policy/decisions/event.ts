import { randomUUID } from 'node:crypto';
import type { AuthorizationAttributes } from '../../registry/authorizer.js';
import type { KindObject, Transaction } from '../../registry/kind.js';
import type { Store } from '../../registry/store.js';
import { EncodedObject, encode, objectKey } from '../../registry/encoded-object.js';
import { toTimestamp } from '../../registry/timestamp.js';
import { ownerReference } from '../../registry/transaction.js';
import { nameOf } from '../../security/keyring.js';
import { Account } from '../../kinds/account/account.js';
import { PolicyDecision, type DecisionObject } from '../../kinds/policy/policy-decision.js';
import type { AuthorizationResponse } from '../evaluate/decision-result.js';
import { countDecision } from './decision-count.js';
import { seriesName, singleName } from './names.js';
import { accountOf, recordOf } from './record.js';

/** What is recorded of who asked what, and from which facts. */
type DecisionRecord = Pick<DecisionObject, 'spec' | 'internal'>;

/** A decision, or several like it, on the way into the object that records them. */
export interface DecisionEvent {
  readonly name: string;
  readonly account: string | undefined;
  /** Whether its object counts every decision of this kind. */
  readonly isSeries: boolean;
  /** Called only where there is no object yet. */
  readonly record: () => DecisionRecord;
  /** The latest answer. */
  judgement: AuthorizationResponse;
  /** How many, the first and the last of them in milliseconds since the epoch. */
  count: number;
  first: number;
  last: number;
}

/** Returns a decision that has an object to itself. */
export function singleEvent(
  question: AuthorizationAttributes,
  judgement: AuthorizationResponse,
): DecisionEvent {
  const now = Date.now();
  const record = recordOf(question, judgement);
  const { account } = record.spec;
  return {
    name: singleName(account, now),
    account,
    isSeries: false,
    record: () => record,
    judgement,
    count: 1,
    first: now,
    last: now,
  };
}

/** Returns a decision that is one more of a series; `about` is the account that a change is about. */
export function seriesEvent(
  question: AuthorizationAttributes,
  judgement: AuthorizationResponse,
  about?: string,
): DecisionEvent {
  const now = Date.now();
  const account = isOfBrowsers(question) ? about : accountOf(question, judgement.allowed);
  return {
    name: seriesName(account, nameOf(seriesKey(question, judgement, about))),
    account,
    isSeries: true,
    record: () => seriesRecord(question, judgement, account),
    judgement,
    count: 1,
    first: now,
    last: now,
  };
}

/** What the decisions of a series have in common. */
function seriesRecord(
  question: AuthorizationAttributes,
  judgement: AuthorizationResponse,
  account: string | undefined,
): DecisionRecord {
  const {
    spec: { account: _, principal, resource, ...spec },
    internal,
  } = recordOf(question, judgement);
  return {
    internal,
    spec: {
      ...(account !== undefined && { account }),
      principal: isOfBrowsers(question) ? 'Browser' : principal,
      ...(resource && {
        resource: {
          kind: resource.kind,
          ...(question.action === 'signIn' && { name: resource.name }),
          ...(resource.subresource && { subresource: resource.subresource }),
        },
      }),
      ...spec,
    },
  };
}

/** The series that a decision belongs to. */
export const seriesKey = (
  question: AuthorizationAttributes,
  { policy, allowed }: AuthorizationResponse,
  about?: string,
): string =>
  `${whose(question, about)} ${question.action} ${question.kind?.kind ?? ''} ${policy} ${allowed ? '+' : '-'}`;

/**
 * Who asks, as far as series tell them apart. Browsers come and go, so all of them share a series,
 * unless a change is about an account.
 */
function whose(question: AuthorizationAttributes, about: string | undefined): string {
  const { caller, facts } = question;
  if (isAboutPerson(question))
    return `Account ${String(facts?.account ?? (caller.type === 'Account' ? caller.account : ''))} ${String(facts?.scope ?? '')} ${String(facts?.client ?? '')}`;
  switch (caller.type) {
    case 'Account':
      return `Account ${caller.account}`;
    case 'ClusterUser':
      return `ClusterUser ${caller.user}`;
    case 'Client':
      return `Client ${caller.client}`;
    default:
      return about === undefined ? caller.type : `${caller.type} ${about}`;
  }
}

const isAboutPerson = ({ action }: AuthorizationAttributes): boolean =>
  action === 'share' || action === 'signIn';

const isOfBrowsers = (question: AuthorizationAttributes): boolean =>
  question.caller.type === 'Browser' && !isAboutPerson(question);

/**
 * Writes an event in a commit: an object of its own, or more of a series. Writes nothing to a
 * series of an account that is gone.
 */
export async function writeEvent(
  tx: Transaction,
  store: Store,
  event: DecisionEvent,
): Promise<void> {
  const { account } = event;
  if (!event.isSeries) {
    if (account !== undefined) await countDecision(tx, store, account);
    return put(
      tx,
      objectOf(
        event,
        account === undefined ? undefined : store.peekCached(Account, account)?.object,
      ),
    );
  }
  const key = objectKey(PolicyDecision, event.name);
  const held = await tx.read(key);
  if (held)
    return put(tx, added(new EncodedObject(PolicyDecision, { key, revision: 0, ...held }), event));
  const owner = account === undefined ? undefined : await tx.get(Account, account);
  if (account === undefined || owner) put(tx, objectOf(event, owner));
}

function put(tx: Transaction, object: DecisionObject): void {
  const key = objectKey(PolicyDecision, object.metadata.name);
  tx.write(key, encode(PolicyDecision, object), PolicyDecision.expires!(object));
}

function objectOf(
  { name, record, judgement, count, first, last }: DecisionEvent,
  owner: KindObject | undefined,
): DecisionObject {
  return {
    metadata: {
      name,
      uid: randomUUID(),
      resourceVersion: '0',
      generation: 1,
      creationTimestamp: toTimestamp(last),
      ...(owner && { ownerReferences: [ownerReference(Account, owner)] }),
    },
    ...record(),
    status: {
      allowed: judgement.allowed,
      reasons: [...judgement.reasons],
      count,
      firstTimestamp: toTimestamp(first),
      lastTimestamp: toTimestamp(last),
    },
  };
}

/** The object of a series with what an event adds to it. */
function added(held: EncodedObject, { judgement, count, last }: DecisionEvent): DecisionObject {
  const object = held.object as DecisionObject;
  return {
    ...object,
    status: {
      ...object.status,
      reasons: [...judgement.reasons],
      count: object.status.count + count,
      lastTimestamp: toTimestamp(last),
    },
  };
}
