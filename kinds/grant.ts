import { z } from 'zod';
import { defineKind, type Call } from '../registry/kind.js';
import type { Cause } from '../registry/status.js';
import { ownChanges } from './signin/update-limit.js';
import { timestamp } from './signin/schema-types.js';

/**
 * What an account agreed to share with one Client: the remembered decision, of which the library's
 * grants are copies (docs/design/provider.md#grants).
 */
export const Grant = defineKind({
  kind: 'Grant',
  resource: 'grants',
  owner: 'status.account',
  nameSource: 'service',
  changeLimit: ownChanges,
  description: 'What a person agreed that a service may see.',
  verbs: ['get', 'list', 'watch', 'patch', 'update', 'delete', 'deletecollection'],
  spec: z.object({
    scopes: z
      .array(z.string().max(128))
      .max(50)
      .describe('Scopes agreed to; a patch may only shrink them.'),
  }),
  status: z.object({
    account: z.string().describe('The Account that agreed.'),
    client: z
      .object({
        name: z.string().describe('The Client.'),
        displayName: z.string().describe('Its name for people.'),
      })
      .describe('Who may see it.'),
    grantedTimestamp: timestamp().describe('When it was agreed to.'),
    firstUsedTimestamp: timestamp()
      .optional()
      .describe('First use: tokens were issued, or claims left.'),
    lastUsedTimestamp: timestamp().optional().describe('Last use, to within five minutes.'),
    disclosures: z
      .array(
        z.object({
          scope: z.string().describe('Scope.'),
          claims: z
            .array(z.string())
            .describe('Names of the claims that left, never their values.'),
          provider: z.string().describe('Who supplied them.'),
          firstTimestamp: timestamp()
            .optional()
            .describe(
              'When first, to within five minutes; absent where an earlier release recorded it.',
            ),
          lastTimestamp: timestamp().describe('When last, to within five minutes.'),
        }),
      )
      .describe(
        'What left in ID tokens, userinfo, introspection and logout tokens. Claims of a scope ' +
          'that left at other times than the rest have an entry of their own.',
      ),
    policyDecision: z.string().optional().describe('The decision that allowed it.'),
    shareDecisions: z
      .array(
        z.object({
          scope: z.string().describe('Scope.'),
          policyDecision: z.string().describe('The decision that allowed sharing it.'),
        }),
      )
      .max(50)
      .optional()
      .describe(
        'The decisions that each scope rests on, as of when it was agreed to; they last 90 days ' +
          'after they were last made.',
      ),
  }),
  internal: z.object({
    /**
     * Begins with the time (ms since the epoch), so that no Grant has that of a former one; raised
     * by consent and narrowing. Each copy carries the one it was made from.
     */
    decision: z.number().int(),
    /** Scopes asked for and left out: not asked again until the Client sends prompt=consent. */
    rejected: z.array(z.string()),
    clientUID: z.string(),
    /** Agreed to by no one: made for a first party, and worth nothing once the Client is none. */
    firstParty: z.boolean().optional(),
    /**
     * What of the scopes that other services supply was agreed to, by scope: nothing else is
     * released. Absent for a first party, which is not held to it.
     */
    claims: z
      .record(z.string(), z.object({ provider: z.string(), claims: z.array(z.string()) }))
      .optional(),
    /** Milliseconds since the epoch of the decision: everybody is asked again after 365 days. */
    decided: z.number().int(),
  }),
  columns: {
    Account: (grant) => grant.status.account,
    Client: (grant) => grant.status.client.name,
    Scopes: (grant) => grant.spec.scopes.join(','),
  },
  strategy: {
    validate: (next, old, call) =>
      old && narrows(call) ? widenings(next.spec.scopes, old.spec.scopes) : [],
    /**
     * What was agreed to less, or not at all any more: the copies that tokens stand on go in the
     * same commit.
     */
    async beforeCommit(tx, next, old, call) {
      if (!old || (next && !narrows(call))) return;
      const gone = old.spec.scopes.filter((scope) => !next?.spec.scopes.includes(scope));
      if (next && gone.length === 0) return;
      tx.add(await call.ports.revokeGrants([old.metadata.name]));
      if (!next) return;
      const { internal } = next;
      internal.decision = old.internal.decision + 1;
      if (next.status.shareDecisions)
        next.status.shareDecisions = next.status.shareDecisions.filter(({ scope }) =>
          next.spec.scopes.includes(scope),
        );
      internal.rejected = [...new Set([...old.internal.rejected, ...gone])];
      for (const scope of gone) delete internal.claims?.[scope];
    },
  },
});

/**
 * A browser in a sign-in agrees again, to less or to more, and this service may for a first party;
 * anyone who writes the Grant itself can only take away.
 */
const narrows = ({ caller }: Call): boolean =>
  caller.type !== 'Browser' && caller.type !== 'System';

function widenings(next: readonly string[], old: readonly string[]): Cause[] {
  const causes: Cause[] = [];
  for (const [i, scope] of next.entries()) {
    if (next.indexOf(scope) < i)
      causes.push({
        reason: 'FieldValueDuplicate',
        field: `spec.scopes[${i}]`,
        message: 'Duplicate value',
      });
    else if (!old.includes(scope))
      causes.push({
        reason: 'FieldValueForbidden',
        field: `spec.scopes[${i}]`,
        message: 'Forbidden: scopes can only be taken away here; the service asks for more',
      });
  }
  if (old.includes('openid') && !next.includes('openid'))
    causes.push({
      reason: 'FieldValueRequired',
      field: 'spec.scopes',
      message: 'Required value: openid; delete the grant to end it',
    });
  return causes;
}

/** The name of the Grant of an account to a Client. */
export const grantName = (account: string, client: string): string => `${account}-${client}`;
