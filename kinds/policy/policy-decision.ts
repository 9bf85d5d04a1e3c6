import { z } from 'zod';
import type { KindObject } from '../../registry/kind.js';
import type { Limits } from '../../registry/limits/limit-settings.js';
import { timeOfId } from '../../registry/schema/time-ordered-id.js';
import { fromTimestamp } from '../../registry/schema/timestamp.js';
import { minuteMs, secondMs } from '../../registry/schema/units.js';
import { defineKind } from '../define-kind.js';
import { statusTexts, timestamp } from '../signin/schema-types.js';
import { Alternatives } from './alternatives.js';
import { decisionDictionary } from './decision-dictionary.js';
import { principals } from './principals.js';
import { refusalContent, refusalKey, refusalSubject } from './refusal-event.js';

/**
 * The input of a decision, for replaying it against another text: caller, resource and facts.
 * Contains no claim values, secrets or addresses.
 */
const Input = z.object({
  caller: z
    .object({
      type: z.enum(principals).describe('The type of the caller.'),
      name: z
        .string()
        .optional()
        .describe('The name of the Account, Interaction, cluster user or Client.'),
    })
    .describe('Who sent the request.'),
  groups: z.array(z.string()).optional().describe('The groups of the principal.'),
  name: z.string().optional().describe('The object, scope, Client or path.'),
  owner: z.string().optional().describe('The owner that a collection was limited to.'),
  facts: z
    .object({
      account: z.string().optional().describe('The Account of a sign-in or scope.'),
      client: z.string().optional().describe('The Client of the request.'),
      domain: z.string().optional().describe('The domain of the person’s address.'),
      method: z.string().optional().describe('The sign-in method.'),
      methods: z.array(z.string()).optional().describe('How the person signed in.'),
      assurance: z.string().optional().describe('How strong the sign-in was (acr).'),
      authenticated: z
        .number()
        .int()
        .optional()
        .describe('When the person signed in, in seconds since the epoch.'),
      passkeys: z.number().int().optional().describe('How many passkeys the account had.'),
      invited: z.boolean().optional().describe('Whether an Invitation was pending.'),
      operatorsHavePasskeys: z.boolean().optional().describe('Whether any operator had a passkey.'),
      operatorsHaveFullPasskeys: z
        .boolean()
        .optional()
        .describe('Whether any operator had a passkey that counts in full.'),
      signedInRecently: z.boolean().optional().describe('Whether the sign-in was recent.'),
      metadataOnly: z.boolean().optional().describe('Whether only metadata was requested.'),
      newBrowser: z
        .boolean()
        .optional()
        .describe('Whether the browser had not signed in to the account before.'),
      acrRequested: z.string().optional().describe('The acr that the app requested.'),
      scopesRequested: z
        .array(z.string())
        .optional()
        .describe('The scopes that the app requested.'),
      site: z.string().optional().describe('The value of Sec-Fetch-Site.'),
    })
    .describe('The context attributes that rules may use.'),
});
export type Input = z.infer<typeof Input>;

const DecisionSpec = z.object({
  account: z
    .string()
    .optional()
    .describe('The Account that the decision concerns; it may read it.'),
  principal: z.string().describe('The principal, as rules name it.'),
  action: z.string().describe('The action.'),
  resource: z
    .object({
      kind: z.string().describe('The kind, or Path.'),
      name: z
        .string()
        .optional()
        .describe(
          'The object, or the Client of a sign-in; absent for a collection and in other series.',
        ),
      subresource: z.string().optional().describe('The subresource.'),
    })
    .optional()
    .describe('The resource; absent for a scope.'),
  scope: z.string().optional().describe('The scope to share.'),
  client: z.string().optional().describe('The Client that the scope is shared with.'),
  policy: z.string().describe('The Policy that decided.'),
  input: Input.describe('The input of the decision; in a series, of the first one.'),
});

const DecisionStatus = z.object({
  allowed: z.boolean().describe('Whether it was permitted.'),
  reasons: z
    .array(
      z.object({
        rule: z.string().describe('The id of the rule.'),
        message: z.string().describe('The message shown to people.'),
        messages: statusTexts('The message'),
      }),
    )
    .describe('The rules that determined the decision; in a series, the last one.'),
  alternatives: Alternatives,
  count: z.number().int().describe('How many decisions; more than one only in a series.'),
  firstTimestamp: timestamp().describe('When the first decision was made.'),
  lastTimestamp: timestamp().describe('When the last decision was made.'),
  outcome: z
    .enum(['Wrong', 'Expired', 'Refused', 'Limited', 'Reused', 'Failed'])
    .optional()
    .describe('How a permitted sign-in failed; absent if it did not.'),
  request: z
    .object({
      auditID: z.string().optional().describe('Its Audit-ID: the Reference that pages show.'),
      network: z
        .string()
        .optional()
        .describe('The network of the client: /32 of IPv4, /64 of IPv6.'),
      program: z.string().optional().describe('The browser or program, from its user agent.'),
    })
    .optional()
    .describe('The request; in a series, the last one.'),
});

/** How long after the time in its Audit-ID a request may still be decided about, in milliseconds. */
const longestRequestMs = 2 * minuteMs;

/** Sorts by time, the newest first: the seconds that are left until the year 2286. */
const newestFirst = (milliseconds: number): string =>
  String(9_999_999_999 - Math.floor(milliseconds / secondMs));

/**
 * A PolicyDecision as the server holds it; `internal` holds what only the object revealed, which a
 * refused caller must not learn, and whether it is a permitted sign-in or read.
 */
export type DecisionObject = KindObject<
  z.infer<typeof DecisionSpec>,
  z.infer<typeof DecisionStatus>,
  { client?: string | undefined; isRead?: boolean | undefined }
>;

/** Returns the Client that a decision concerns. */
const clientOf = ({ spec }: Pick<DecisionObject, 'spec'>): string | undefined =>
  spec.client ?? (spec.resource?.kind === 'Client' ? spec.resource.name : spec.input.facts.client);

/**
 * A recorded decision: refusals and changes one by one; reads, scopes and anonymous requests in
 * series of the same principal, action, kind and policy.
 */
export const PolicyDecision = defineKind({
  kind: 'PolicyDecision',
  resource: 'policydecisions',
  singular: 'policydecision',
  shortNames: ['pd'],
  owner: 'spec.account',
  nameSource: 'service',
  description: 'A decision of the policy about someone.',
  verbs: ['get', 'list', 'watch'],
  spec: DecisionSpec,
  status: DecisionStatus,
  dictionary: decisionDictionary,
  internal: z.object({ client: z.string().optional(), isRead: z.boolean().optional() }),
  expires: ({ spec, status, internal }, limits) =>
    fromTimestamp(status.lastTimestamp) + retentionOf({ spec, status, internal }, limits),
  events: { subject: refusalSubject, content: refusalContent },
  selectableFields: {
    'spec.action': ({ spec }) => spec.action,
    'spec.client': clientOf,
    'spec.principal': ({ spec }) => spec.principal,
    'spec.resource.kind': ({ spec }) => spec.resource?.kind,
    'spec.resource.name': ({ spec }) => spec.resource?.name,
    'status.allowed': ({ status }) => status.allowed,
    'status.reasons.rule': ({ status }) => status.reasons.map(({ rule }) => rule),
    'status.outcome': ({ status }) => status.outcome ?? (status.allowed ? 'Done' : 'Refused'),
    'status.request.network': ({ status }) => status.request?.network,
    'status.request.auditID': {
      order: 'status.lastTimestamp',
      value: ({ status }) => status.request?.auditID,
      between(auditID) {
        const time = timeOfId(auditID);
        if (time === undefined) return undefined;
        return [newestFirst(time + longestRequestMs), newestFirst(time - secondMs)];
      },
    },
  },
  orders: {
    'status.lastTimestamp': ({ status }) => newestFirst(fromTimestamp(status.lastTimestamp)),
  },
  columns: {
    Principal: ({ spec }) => spec.principal,
    Action: ({ spec }) => spec.action,
    Resource: ({ spec }) =>
      spec.scope ?? [spec.resource?.kind, spec.resource?.name].filter(Boolean).join('/'),
    Allowed: ({ status }) => status.allowed,
    Count: ({ status }) => status.count,
    Outcome: { wide: ({ status }) => status.outcome },
    Network: { wide: ({ status }) => status.request?.network },
    Program: { wide: ({ status }) => status.request?.program },
  },
  strategy: {
    beforeCommit(tx, next, old) {
      const key = next ? undefined : refusalKey(old!);
      if (key !== undefined) tx.remove(key);
    },
  },
});

/** Returns how long a decision is kept: a read, a sign-in, or anything else. */
function retentionOf(
  { spec, status, internal }: Pick<DecisionObject, 'spec' | 'status' | 'internal'>,
  limits: Limits,
): number {
  if (internal.isRead) return limits.readDecisionRetention;
  const isSignIn = spec.action === 'signIn' && status.allowed && !status.outcome;
  return isSignIn ? limits.signInRetention : limits.decisionRetention;
}
