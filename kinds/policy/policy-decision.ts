import { z } from 'zod';
import { defineKind, type KindObject } from '../../registry/kind.js';
import { fromTimestamp } from '../../registry/timestamp.js';
import { timestamp } from '../signin/schema-types.js';
import { principals } from './principals.js';

/** For how long a decision is kept after it was last made, in milliseconds. */
export const keptMs = 90 * 86_400_000;

/**
 * What a decision is put to another text with: who asked what of what, and the facts; no values of
 * claims, no secrets, no addresses.
 */
const Input = z.object({
  caller: z
    .object({
      type: z.enum(principals).describe('What kind of caller it was.'),
      name: z.string().optional().describe('Its Account, Interaction, cluster user or Client.'),
    })
    .describe('Who sent the request.'),
  groups: z.array(z.string()).optional().describe('Groups of the principal.'),
  name: z.string().optional().describe('The object, scope, Client or path.'),
  owner: z.string().optional().describe('The owner whose range a collection was narrowed to.'),
  facts: z
    .object({
      account: z.string().optional().describe('The Account a sign-in or a scope is about.'),
      client: z.string().optional().describe('The Client it is for.'),
      domain: z.string().optional().describe('The domain of the person’s address.'),
      method: z.string().optional().describe('The way to sign in.'),
      methods: z.array(z.string()).optional().describe('How the person signed in.'),
      assurance: z.string().optional().describe('How strong that was.'),
      authenticated: z
        .number()
        .int()
        .optional()
        .describe('When that was, in seconds since the epoch.'),
      passkeys: z.number().int().optional().describe('How many passkeys the account had.'),
      operatorsHavePasskeys: z.boolean().optional().describe('Whether any operator had a passkey.'),
      operatorsHaveFullPasskeys: z
        .boolean()
        .optional()
        .describe('Whether any operator had a passkey that counts in full.'),
      signedInRecently: z.boolean().optional().describe('Whether the sign-in was recent.'),
      metadataOnly: z.boolean().optional().describe('Only metadata was asked for.'),
      site: z.string().optional().describe('Where the browser said the request came from.'),
    })
    .describe('What rules may ask of it besides.'),
});
export type Input = z.infer<typeof Input>;

const DecisionSpec = z.object({
  account: z.string().optional().describe('The Account it is about, which may read it.'),
  principal: z.string().describe('Who asked, as rules name them.'),
  action: z.string().describe('What was asked.'),
  resource: z
    .object({
      kind: z.string().describe('The kind, or Path.'),
      name: z
        .string()
        .optional()
        .describe(
          'The object, or the Client of a sign-in; absent for a collection and in a series of anything else.',
        ),
      subresource: z.string().optional().describe('The action on it.'),
    })
    .optional()
    .describe('On what; absent for a scope.'),
  scope: z.string().optional().describe('The scope to be shared.'),
  client: z.string().optional().describe('With whom.'),
  policy: z.string().describe('The Policy that decided.'),
  input: Input.describe('What the decision was made from: of a series, the first time.'),
});

const DecisionStatus = z.object({
  allowed: z.boolean().describe('Whether it was permitted.'),
  reasons: z
    .array(
      z.object({
        rule: z.string().describe('The rule.'),
        message: z.string().describe('Its words for people.'),
      }),
    )
    .describe('The rules that decided, of a series the last time.'),
  count: z.number().int().describe('How often; more than once in a series alone.'),
  firstTimestamp: timestamp().describe('The first time.'),
  lastTimestamp: timestamp().describe('The last time.'),
});

/**
 * A PolicyDecision as the server holds it; `internal` has what the object told, which anyone who was
 * refused may not know.
 */
export type DecisionObject = KindObject<
  z.infer<typeof DecisionSpec>,
  z.infer<typeof DecisionStatus>,
  { client?: string | undefined }
>;

/**
 * What policy decided: each refusal and change by itself; reads, scopes and Visitors in series of
 * same principal, action, kind and policy.
 */
export const PolicyDecision = defineKind({
  kind: 'PolicyDecision',
  resource: 'policydecisions',
  singular: 'policydecision',
  shortNames: ['pd'],
  owner: 'spec.account',
  nameSource: 'service',
  description: 'What policy decided about someone.',
  verbs: ['get', 'list', 'watch'],
  spec: DecisionSpec,
  status: DecisionStatus,
  internal: z.object({ client: z.string().optional() }),
  expires: ({ status }) => fromTimestamp(status.lastTimestamp) + keptMs,
  columns: {
    Principal: ({ spec }) => spec.principal,
    Action: ({ spec }) => spec.action,
    Resource: ({ spec }) =>
      spec.scope ?? [spec.resource?.kind, spec.resource?.name].filter(Boolean).join('/'),
    Allowed: ({ status }) => status.allowed,
    Count: ({ status }) => status.count,
  },
});
