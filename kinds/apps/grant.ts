import { z } from 'zod';
import type { Call, ObjectOf } from '../../registry/kind.js';
import { mapList } from '../../registry/schema/list-type.js';
import { dayMs } from '../../registry/schema/units.js';
import {
  duplicateValue,
  forbiddenField,
  requiredValue,
} from '../../registry/status/field-errors.js';
import type { Cause } from '../../registry/status/status.js';
import { nameOf } from '../../security/keyring.js';
import { defineKind } from '../define-kind.js';
import {
  declaredName,
  displayed,
  displayedAudience,
  statusTexts,
  timestamp,
} from '../signin/schema-types.js';
import { updateLimit } from '../signin/update-limit.js';
import { narrowAudiences, onlyRemoved, wideningAudiences } from './audience/grant-audiences.js';
import { isDocumentURL } from './client/document-url.js';

/**
 * A person's consent to share data with one Client. The library's grants are copies of it
 * (docs/design/provider.md#grants).
 */
export const Grant = defineKind({
  kind: 'Grant',
  resource: 'grants',
  owner: 'status.account',
  nameSource: 'service',
  changeLimit: updateLimit,
  description: 'What a person agreed to share with a Client.',
  verbs: ['get', 'list', 'watch', 'patch', 'update', 'delete', 'deletecollection'],
  spec: z.object({
    scopes: z
      .array(z.string().max(128))
      .max(50)
      .describe('The granted scopes; a patch may only remove scopes.'),
    audiences: mapList(
      z.array(
        z.object({
          name: z.string().max(100).describe('The Audience.'),
          scopes: z.array(z.string().max(128)).min(1).max(32).describe('Its granted scopes.'),
        }),
      ),
      'name',
    )
      .max(100)
      .optional()
      .describe(
        'The granted scopes of each Audience; a patch may only remove Audiences and scopes.',
      ),
  }),
  status: z.object({
    account: z.string().describe('The Account that agreed.'),
    client: z
      .object({
        ...displayed('The Client.'),
        declaredName: declaredName(),
      })
      .describe('The Client that receives the data.'),
    audiences: z
      .array(
        z.object({
          ...displayedAudience('The Audience.'),
          scopes: z
            .array(
              z.object({
                name: z.string().describe('The scope.'),
                title: z.string().describe('A short title.'),
                titles: statusTexts('The title'),
              }),
            )
            .describe('Its granted scopes.'),
        }),
      )
      .optional()
      .describe(
        'The Audiences that the Client gets access tokens for, as the consent showed them.',
      ),
    grantedTimestamp: timestamp().describe('When the person agreed.'),
    firstUsedTimestamp: timestamp()
      .optional()
      .describe('When tokens were first issued or claims first disclosed.'),
    lastUsedTimestamp: timestamp().optional().describe('The last use, accurate to five minutes.'),
    disclosures: z
      .array(
        z.object({
          scope: z.string().describe('Scope.'),
          claims: z
            .array(z.string())
            .describe('The names of the disclosed claims, never their values.'),
          provider: z.string().describe('The claims provider that supplied them.'),
          firstTimestamp: timestamp().describe('The first disclosure, accurate to five minutes.'),
          lastTimestamp: timestamp().describe('The last disclosure, accurate to five minutes.'),
        }),
      )
      .describe(
        'The claims disclosed in ID tokens, userinfo, introspection and logout tokens. Claims of a ' +
          'scope that were disclosed at different times have separate entries.',
      ),
    policyDecision: z.string().optional().describe('The PolicyDecision that allowed the consent.'),
    shareDecisions: z
      .array(
        z.object({
          scope: z.string().describe('Scope.'),
          policyDecision: z.string().describe('The PolicyDecision that allowed sharing it.'),
        }),
      )
      .max(1000)
      .optional()
      .describe(
        'The decisions that allowed sharing each scope at the time of consent. A decision is kept ' +
          'for limits.decisionRetention after it was last made, for a first-party Client ' +
          'for limits.readDecisionRetention.',
      ),
  }),
  internal: z.object({
    /**
     * Identifies the consent decision. Starts at the creation time (ms since the epoch), so that a
     * recreated Grant never reuses a number; each consent and each narrowing increments it. Each
     * copy stores the number it was made from.
     */
    decision: z.number().int(),
    /**
     * Requested scopes that the person left out; not asked again until the Client sends
     * prompt=consent.
     */
    rejected: z.array(z.string()),
    clientUID: z.string(),
    /**
     * True if it was created for a first-party Client without consent; invalid once the Client is
     * no longer first-party.
     */
    firstParty: z.boolean().optional(),
    /**
     * The agreed claims of claims providers, by scope; no others are released. Absent for a
     * first-party Client, which has no such restriction.
     */
    claims: z
      .record(z.string(), z.object({ provider: z.string(), claims: z.array(z.string()) }))
      .optional(),
    /**
     * The Audiences that the person decided about, by name: the uid of each, so that a new one of the
     * same name is asked for again, and its requested scopes that the person left out.
     */
    audiences: z
      .record(z.string(), z.object({ uid: z.string(), rejected: z.array(z.string()) }))
      .optional(),
    /** The time of the consent in ms since the epoch; it expires after 365 days. */
    decided: z.number().int(),
  }),
  selectableFields: { 'status.client.name': ({ status }) => status.client.name },
  columns: {
    Account: (grant) => grant.status.account,
    Client: (grant) => grant.status.client.name,
    Scopes: (grant) => grant.spec.scopes.join(','),
  },
  strategy: {
    validate: (next, old, call) =>
      old && mayOnlyNarrow(call)
        ? [
            ...wideningCauses(next.spec.scopes, old.spec.scopes),
            ...wideningAudiences(next.spec.audiences, old.spec.audiences),
          ]
        : [],
    /**
     * A removal of scopes or a deletion revokes the copies that tokens depend on, in the same commit.
     * Tokens for an Audience depend on the Grant itself, so its removal leaves the others.
     */
    async beforeCommit(tx, next, old, call) {
      if (!old || (next && !mayOnlyNarrow(call))) return;
      const removed = old.spec.scopes.filter((scope) => !next?.spec.scopes.includes(scope));
      if (next && narrowAudiences(next, old)) next.internal.decision = old.internal.decision + 1;
      if (next && removed.length === 0) return;
      tx.add(await call.ports.revokeGrants([old.metadata.name]));
      if (!next) return;
      const { internal } = next;
      internal.decision = old.internal.decision + 1;
      if (next.status.shareDecisions) {
        next.status.shareDecisions = next.status.shareDecisions.filter(
          ({ scope }) => !removed.includes(scope),
        );
      }
      internal.rejected = [...new Set([...old.internal.rejected, ...removed])];
      for (const scope of removed) delete internal.claims?.[scope];
    },
  },
});

/**
 * Returns true if the caller may only remove scopes. Consents (Browser) and first-party grants
 * (System) may also add them.
 */
const mayOnlyNarrow = ({ caller }: Call): boolean =>
  caller.type !== 'Browser' && caller.type !== 'System';

function wideningCauses(next: readonly string[], old: readonly string[]): Cause[] {
  const causes: Cause[] = [];
  for (const [i, scope] of next.entries()) {
    if (next.indexOf(scope) < i) {
      causes.push(duplicateValue(`spec.scopes[${i}]`));
    } else if (!old.includes(scope)) {
      causes.push(forbiddenField(`spec.scopes[${i}]`, onlyRemoved));
    }
  }
  if (old.includes('openid') && !next.includes('openid')) {
    causes.push(requiredValue('spec.scopes', 'openid; delete the grant to end it'));
  }
  return causes;
}

const lifetimeMs = 365 * dayMs;

/**
 * Returns whether a Grant still counts as a decision: for 365 days, for the Client object that it was
 * made for, and without a consent only while that Client is first-party.
 */
export const isGrantValid = (
  { metadata, internal }: Pick<ObjectOf<typeof Grant>, 'metadata' | 'internal'>,
  client: { readonly uid: string | undefined; readonly firstParty: boolean | undefined },
  now: number,
): boolean =>
  metadata.deletionTimestamp === undefined &&
  now - internal.decided <= lifetimeMs &&
  internal.clientUID === client.uid &&
  (!internal.firstParty || client.firstParty === true);

/**
 * Returns the name of the Grant of an account for a Client. A URL is no part of a name, so its hash
 * is used, after a second hyphen: no name of a Client begins with one.
 */
export const grantName = (account: string, client: string): string =>
  `${account}-${isDocumentURL(client) ? `-${nameOf(client)}` : client}`;
