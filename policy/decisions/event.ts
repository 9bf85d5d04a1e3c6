import { randomUUID } from 'node:crypto';
import { Account } from '../../kinds/people/account/account.js';
import { type DecisionObject, PolicyDecision } from '../../kinds/policy/policy-decision.js';
import { refusalKey } from '../../kinds/policy/refusal-event.js';
import { describeProgram } from '../../kinds/signin/user-agent.js';
import type { AuthorizationAttributes, Failure } from '../../registry/authorizer.js';
import { encode, encodedObjectOf, objectKey } from '../../registry/encoded-object.js';
import type { KindObject, Transaction } from '../../registry/kind.js';
import { ownerReference } from '../../registry/owner-reference.js';
import { toTimestamp } from '../../registry/schema/timestamp.js';
import { hourMs } from '../../registry/schema/units.js';
import { updateIndexRows } from '../../registry/store/lifecycle/index-rows.js';
import type { Store } from '../../registry/store/store.js';
import { nameOf } from '../../security/keyring.js';
import type { AuthorizationResponse } from '../evaluate/decision-result.js';
import { countDecision } from './decision-count.js';
import { isMutating } from './mutating-actions.js';
import { seriesName, singleEventName } from './names.js';
import { accountOf, toRecord } from './record.js';

/** The facts about where a request came from. */
type Facts = NonNullable<AuthorizationAttributes['facts']>;

/** The part of a PolicyDecision that describes the request. */
type DecisionRecord = Pick<DecisionObject, 'spec' | 'internal'>;

/** One decision, or several of one series, to be written to a PolicyDecision. */
export interface DecisionEvent {
  readonly name: string;
  readonly account: string | undefined;
  /** Whether the object counts all decisions of a series. */
  readonly isSeries: boolean;
  /** Called only if the object does not exist yet. */
  readonly record: () => DecisionRecord;
  /** How the requests failed, if they did. */
  readonly outcome?: DecisionObject['status']['outcome'];
  /** The latest response, and the facts of its request. */
  response: AuthorizationResponse;
  facts: Facts;
  /** The count, and the first and the last time in milliseconds since the epoch. */
  count: number;
  first: number;
  last: number;
}

/** Returns the event of a decision with an object of its own. */
export function singleEvent(
  attributes: AuthorizationAttributes,
  response: AuthorizationResponse,
): DecisionEvent {
  const now = Date.now();
  const record = toRecord(attributes, response);
  const { account } = record.spec;
  return {
    name: singleEventName(account, now),
    account,
    isSeries: false,
    record: () => record,
    response,
    facts: originOf(attributes),
    count: 1,
    first: now,
    last: now,
  };
}

/** Returns where a request came from, without its other facts. */
export const originOf = ({ facts = {} }: AuthorizationAttributes): Facts => {
  const { auditID, network, userAgent } = facts;
  return { auditID, network, userAgent };
};

/**
 * Returns the event of a decision in a series; `subjectAccount` is the account that a change
 * concerns.
 */
export function seriesEvent(
  attributes: AuthorizationAttributes,
  response: AuthorizationResponse,
  subjectAccount?: string,
): DecisionEvent {
  const now = Date.now();
  const account = isOfBrowsers(attributes)
    ? subjectAccount
    : accountOf(attributes, response.allowed);
  // Not the attributes: they have the whole request.
  const record = seriesRecord(attributes, response, account);
  return {
    name: seriesName(account, nameOf(seriesKey(attributes, response, subjectAccount))),
    account,
    isSeries: true,
    record: () => record,
    response,
    facts: originOf(attributes),
    count: 1,
    first: now,
    last: now,
  };
}

/**
 * Returns the event of permitted requests that failed: of an account, or without one, those of an hour
 * share it, so that no one can fill the store with them. An attempt to sign in is found as a sign-in.
 */
export function failureEvent(
  attributes: AuthorizationAttributes,
  response: AuthorizationResponse,
  failure: Failure,
): DecisionEvent {
  const { outcome, account, client } = failure;
  const event = seriesEvent(attributes, response, account);
  const { spec, internal } = event.record();
  const isSignIn = attributes.action === 'interactions/login' && client !== undefined;
  const what = isSignIn
    ? { action: 'signIn', resource: { kind: 'Client', name: client } }
    : { ...(client !== undefined && { client }) };
  const principal = account === undefined ? 'Anonymous' : `Account::${JSON.stringify(account)}`;
  return {
    ...event,
    name: seriesName(account, nameOf(failureKey(attributes, failure))),
    record: () => ({ internal, spec: { ...spec, principal, ...what } }),
    outcome: outcome as NonNullable<DecisionEvent['outcome']>,
  };
}

/** Returns the key of the series that a failed request belongs to. */
export const failureKey = (
  { action }: AuthorizationAttributes,
  { outcome, account = '' }: Failure,
): string => `Failure ${account} ${action} ${outcome} ${Math.floor(Date.now() / hourMs)}`;

/** Returns what the decisions of a series have in common. */
function seriesRecord(
  attributes: AuthorizationAttributes,
  response: AuthorizationResponse,
  account: string | undefined,
): DecisionRecord {
  const {
    spec: { account: _, principal, resource, ...spec },
    internal,
  } = toRecord(attributes, response);
  return {
    internal,
    spec: {
      ...(account !== undefined && { account }),
      principal: isOfBrowsers(attributes) ? 'Browser' : principal,
      ...(resource && {
        resource: {
          kind: resource.kind,
          ...(attributes.action === 'signIn' && { name: resource.name }),
          ...(resource.subresource && { subresource: resource.subresource }),
        },
      }),
      ...spec,
    },
  };
}

/** Returns the key of the series that a decision belongs to. */
export const seriesKey = (
  attributes: AuthorizationAttributes,
  { policy, allowed }: AuthorizationResponse,
  subjectAccount?: string,
): string =>
  `${seriesSubject(attributes, subjectAccount)} ${attributes.action} ${attributes.kind?.kind ?? ''} ${policy} ${allowed ? '+' : '-'}`;

/**
 * Returns the subject of a series. All browsers share one, since they are short-lived, unless a
 * change concerns an account.
 */
function seriesSubject(
  attributes: AuthorizationAttributes,
  subjectAccount: string | undefined,
): string {
  const { caller, facts } = attributes;
  if (isAboutPerson(attributes)) {
    return `Account ${String(facts?.account ?? (caller.type === 'Account' ? caller.account : ''))} ${String(facts?.scope ?? '')} ${String(facts?.client ?? '')}`;
  }
  switch (caller.type) {
    case 'Account':
      return `Account ${caller.account}`;
    case 'ClusterUser':
      return `ClusterUser ${caller.user}`;
    case 'Client':
      return `Client ${caller.client}`;
    default:
      return subjectAccount === undefined ? caller.type : `${caller.type} ${subjectAccount}`;
  }
}

const isAboutPerson = ({ action }: AuthorizationAttributes): boolean =>
  action === 'share' || action === 'signIn';

const isOfBrowsers = (attributes: AuthorizationAttributes): boolean =>
  attributes.caller.type === 'Browser' && !isAboutPerson(attributes);

/**
 * Writes an event in a transaction: an object of its own, or an update of a series. Skips series of
 * deleted accounts.
 */
export async function writeEvent(
  tx: Transaction,
  store: Store,
  event: DecisionEvent,
): Promise<void> {
  const { account } = event;
  if (!event.isSeries) {
    if (account !== undefined) await countDecision(tx, store, account);
    const owner = account === undefined ? undefined : store.peekCached(Account, account)?.object;
    return put(tx, store, objectOf(event, store, owner));
  }
  const key = objectKey(PolicyDecision, event.name);
  const existing = await tx.read(key);
  if (existing) {
    const { object } = encodedObjectOf(PolicyDecision, { key, revision: 0, ...existing });
    const old = object as DecisionObject;
    return put(tx, store, addToSeries(old, event), old);
  }
  const owner = account === undefined ? undefined : await tx.get(Account, account);
  if (account === undefined || owner) put(tx, store, objectOf(event, store, owner));
}

function put(tx: Transaction, store: Store, object: DecisionObject, old?: DecisionObject): void {
  const { name } = object.metadata;
  const expires = PolicyDecision.expires!(object, store.settings.limits);
  tx.write(
    objectKey(PolicyDecision, name),
    encode(store.registry.storedView(PolicyDecision), object),
    expires,
    object,
  );
  const eventKey = refusalKey(object);
  if (eventKey !== undefined) tx.write(eventKey, Buffer.from(name), expires);
  updateIndexRows(tx, PolicyDecision, { next: object, old }, store.settings.limits);
}

function objectOf(
  event: DecisionEvent,
  store: Store,
  owner: KindObject | undefined,
): DecisionObject {
  const { name, record, response, outcome, count, first, last } = event;
  const { spec, internal } = record();
  return {
    metadata: {
      name,
      uid: randomUUID(),
      resourceVersion: '0',
      generation: 1,
      creationTimestamp: toTimestamp(last),
      ...(owner && { ownerReferences: [ownerReference(Account, owner)] }),
    },
    spec,
    internal: { ...internal, ...(isRead(event, store, spec.action) && { isRead: true }) },
    status: {
      allowed: response.allowed,
      reasons: [...response.reasons],
      ...alternativesOf(response),
      count,
      firstTimestamp: toTimestamp(first),
      lastTimestamp: toTimestamp(last),
      ...(outcome && { outcome }),
      ...requestOf(event),
    },
  };
}

/** Returns the request as a PolicyDecision holds it; without what is not known. */
function requestOf({ facts }: DecisionEvent): Pick<DecisionObject['status'], 'request'> {
  const { auditID, network, userAgent } = facts;
  const program = typeof userAgent === 'string' ? describeProgram(userAgent) : undefined;
  const known = Object.entries({ auditID, network, program }).filter(([, value]) => value);
  return known.length > 0 ? { request: Object.fromEntries(known) } : {};
}

/**
 * Returns whether a decision is a permitted read, or a sign-in by a live session. A single one about
 * another action that changes nothing belongs to a change: the scopes that a consent shares.
 */
const isRead = (
  { response, isSeries, outcome }: DecisionEvent,
  store: Store,
  action: string,
): boolean => isSeries && !outcome && response.allowed && !isMutating(store.registry, action);

/** Returns the alternatives as a PolicyDecision holds them: absent if there are none. */
const alternativesOf = ({
  alternatives = [],
}: AuthorizationResponse): Pick<DecisionObject['status'], 'alternatives'> =>
  alternatives.length > 0
    ? { alternatives: alternatives.map((alternative) => ({ ...alternative })) }
    : {};

/** Returns the object of a series with an event added. */
function addToSeries(object: DecisionObject, event: DecisionEvent): DecisionObject {
  const { response, count, last } = event;
  const { alternatives: _, ...status } = object.status;
  return {
    ...object,
    status: {
      ...status,
      ...alternativesOf(response),
      reasons: [...response.reasons],
      count: object.status.count + count,
      lastTimestamp: toTimestamp(last),
      ...requestOf(event),
    },
  };
}
