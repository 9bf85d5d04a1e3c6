import { z } from 'zod';
import { defineAction } from '../../registry/action.js';
import { refusalMessage } from '../../registry/authorizer.js';
import type { Call, ObjectOf, Transaction } from '../../registry/kind.js';
import { setList } from '../../registry/schema/list-type.js';
import { toTimestamp } from '../../registry/schema/timestamp.js';
import {
  forbiddenField,
  invalidValue,
  requiredValue,
  unsupportedValue,
} from '../../registry/status/field-errors.js';
import { type Cause, expired, forbidden, invalid } from '../../registry/status/status.js';
import { Audience } from '../apps/audience/audience.js';
import { scopeFinder } from '../apps/audience/audience-scope.js';
import {
  type AudienceConsent,
  grantedScopeIDs,
  recordAudiences,
} from '../apps/audience/grant-audiences.js';
import { parseAudienceScopeID } from '../apps/claims/scope-id.js';
import { type Scope, scopesRequiredBy } from '../apps/claims/scopes.js';
import { Client } from '../apps/client/client.js';
import { Grant, grantName } from '../apps/grant.js';
import { Account } from '../people/account/account.js';
import { isSessionValid } from '../people/account/end-sessions.js';
import { requestedFacts, sessionFacts } from '../people/account/policy-facts.js';
import { Session } from '../people/session/session.js';
import { grantInForce } from './agreed-before.js';
import { Interaction, type InteractionObject } from './interaction.js';
import { assertPhase } from './preconditions.js';

/**
 * POST consent: records the scopes the person agreed to. Requested optional scopes that are left
 * out are rejected for this Grant (docs/design/api.md#consent).
 */
export const consent = defineAction({
  of: Interaction,
  subresource: 'consent',
  verb: 'create',
  kind: 'Consent',
  description: 'Records the scopes the person agrees to.',
  spec: z.object({
    scopes: setList(z.array(z.string().min(1).max(256)).max(50)).describe(
      'The scopes the person agrees to; those of an Audience as <audience>/<scope>.',
    ),
  }),
  async run(call, { metadata }, { spec }) {
    const { name } = metadata;
    return call.change(async (tx) => {
      const interaction = (await tx.get(Interaction, name))!;
      assertPhase('ConsentRequired', interaction, call);
      assertNotRefused(interaction);
      const person = await loadPerson(tx, interaction, call);
      const agreedScopes = spec.scopes;
      const requested = await requestedScopes(call, tx, interaction);
      const context = { interaction, person, requested };
      const { causes, shareDecisions } = await checkScopes(call, tx, context, agreedScopes);
      if (causes.length > 0) throw invalid({ ...Interaction, kind: 'Consent' }, name, causes);
      const isOfClaims = (scope: string): boolean => !requested.get(scope)?.audience;
      const rejected = interaction.spec.scopes.filter((scope) => !agreedScopes.includes(scope));
      await saveGrant(tx, call, context, {
        scopes: agreedScopes.filter(isOfClaims),
        rejected: rejected.filter(isOfClaims),
        audiences: await audienceConsents(tx, requested, agreedScopes),
        shareDecisions,
      });
      return tx.update(Interaction, name, (next) => {
        next.status.phase = 'Completed';
        next.internal.consent = { scopes: agreedScopes, rejected };
      });
    });
  },
});

/** Throws 403 with the rule's message if policy refuses the sign-in itself. */
function assertNotRefused({ metadata, status: { refusal } }: InteractionObject): void {
  if (refusal) {
    throw forbidden(refusal.message, Interaction, metadata.name, {
      ...(refusal.policyDecision && { policyDecision: refusal.policyDecision }),
      ...(refusal.messages && { messages: refusal.messages }),
    });
  }
}

/** The interaction, the person who consents, and the requested scopes that still exist, by id. */
interface ConsentContext {
  readonly interaction: InteractionObject;
  readonly person: {
    readonly account: ObjectOf<typeof Account>;
    readonly session: ObjectOf<typeof Session>;
  };
  readonly requested: ReadonlyMap<string, Scope>;
}

/** Returns the requested scopes that still exist, by id. */
async function requestedScopes(
  call: Call,
  tx: Transaction,
  { spec }: InteractionObject,
): Promise<ConsentContext['requested']> {
  const client = await tx.get(Client, spec.client);
  const find = scopeFinder(call.ports.scopes(), spec.client, client, (name) =>
    tx.get(Audience, name),
  );
  const found = new Map<string, Scope>();
  for (const id of spec.scopes) {
    const scope = await find(id);
    if (scope) found.set(id, scope);
  }
  return found;
}

/** Returns what the person decided about each Audience of the request. */
async function audienceConsents(
  tx: Transaction,
  requested: ConsentContext['requested'],
  agreedScopes: readonly string[],
): Promise<AudienceConsent[]> {
  const ids = [...requested].filter(([, { audience }]) => audience).map(([id]) => id);
  const names = new Set(ids.map((id) => parseAudienceScopeID(id)!.audience));
  const consents = [...names].map(async (name): Promise<AudienceConsent> => {
    const audience = (await tx.get(Audience, name))!;
    const scopes = ids.filter((id) => parseAudienceScopeID(id)!.audience === name);
    const namesOf = (some: readonly string[]): string[] =>
      some.map((id) => parseAudienceScopeID(id)!.scope);
    return {
      audience,
      scopes: namesOf(scopes.filter((id) => agreedScopes.includes(id))),
      rejected: namesOf(scopes.filter((id) => !agreedScopes.includes(id))),
    };
  });
  return Promise.all(consents);
}

/**
 * Returns the person of the session. Throws 410 if the session or the account has ended, so that no
 * consent is recorded after a sign-out.
 */
async function loadPerson(
  tx: Transaction,
  { internal, metadata }: InteractionObject,
  call: Call,
): Promise<ConsentContext['person']> {
  const session = await tx.get(Session, internal.session!);
  if (!session || session.metadata.deletionTimestamp || session.internal.expires <= call.now) {
    throw expired('the session this sign-in continued has ended', Interaction, metadata.name);
  }
  const account = await tx.get(Account, internal.account!);
  if (!account || account.status.disabledTimestamp) {
    throw expired('the account was deleted or disabled', Interaction, metadata.name);
  }
  if (!isSessionValid(account, session.metadata.name, session.internal.loginSeconds)) {
    throw expired('the session this sign-in continued has ended', Interaction, metadata.name);
  }
  return { account, session };
}

type ShareDecisions = NonNullable<ObjectOf<typeof Grant>['status']['shareDecisions']>;

/**
 * Returns a cause at its index for each scope that was not requested or that policy refuses, a
 * cause at spec.scopes for missing required scopes, and the decisions that permit sharing the
 * others.
 */
async function checkScopes(
  call: Call,
  tx: Transaction,
  { interaction, person, requested }: ConsentContext,
  agreedScopes: readonly string[],
): Promise<{ causes: Cause[]; shareDecisions: ShareDecisions }> {
  const facts = await sessionFacts(call, person.account, person.session);
  const causes: Cause[] = [];
  const shareDecisions: ShareDecisions = [];
  for (const [i, scope] of agreedScopes.entries()) {
    const field = `spec.scopes[${i}]`;
    const requestedScope = requested.get(scope);
    if (!requestedScope) {
      causes.push(
        unsupportedValue(
          field,
          `this scope was ${interaction.spec.scopes.includes(scope) ? 'withdrawn' : 'not requested'}`,
        ),
      );
      continue;
    }
    const question = { scope, ...requestedFacts(interaction), ...facts };
    const decision = await call.decideChange('share', question);
    if (!decision.allowed) {
      await call.decide('share', question);
      causes.push(forbiddenField(field, refusalMessage(decision)));
      continue;
    }
    const notShownReason = claimsNotShownReason(interaction, requestedScope);
    if (notShownReason) {
      causes.push(invalidValue(field, `${notShownReason}; get the interaction again`));
    } else {
      if (decision.name && !call.dryRun) {
        shareDecisions.push({ scope, policyDecision: decision.name });
      }
      await decision.recordIn?.(tx); // after its name was read, so that an object of it exists
    }
  }
  const client = await tx.get(Client, interaction.spec.client);
  const missing = [...scopesRequiredBy(interaction.spec.client, client)].filter(
    (scope) => requested.has(scope) && !agreedScopes.includes(scope),
  );
  if (missing.length > 0) causes.push(requiredValue('spec.scopes', missing.join(', ')));
  return { causes, shareDecisions };
}

/**
 * Returns why the consent to a scope of a claims provider is invalid: its claims were not shown to
 * the person.
 */
function claimsNotShownReason(
  { internal }: InteractionObject,
  { name, provider, values }: Scope,
): string | undefined {
  if (values) return undefined;
  const shown = internal.shown?.[name];
  if (!shown) return 'the claims it shares were not shown yet';
  return shown.provider === provider.name ? undefined : 'another claims provider supplies it now';
}

/**
 * Returns the claims of claims providers that were shown for the agreed scopes, with their values
 * or by name alone.
 */
function agreedClaims(
  call: Call,
  { internal }: InteractionObject,
  agreedScopes: readonly string[],
): NonNullable<ObjectOf<typeof Grant>['internal']['claims']> {
  const externalScopes = call.ports
    .scopes()
    .filter((scope) => !scope.values && agreedScopes.includes(scope.name));
  return Object.fromEntries(externalScopes.map(({ name }) => [name, internal.shown![name]!]));
}

/** What a consent records in the Grant. */
interface Agreement {
  readonly scopes: string[];
  readonly rejected: string[];
  readonly audiences: readonly AudienceConsent[];
  readonly shareDecisions: ShareDecisions;
}

/**
 * Writes the Grant of this account to this Client. What was decided about scopes that were not
 * requested now stays. Revokes its tokens if a scope that was granted before is missing now.
 */
async function saveGrant(
  tx: Transaction,
  call: Call,
  { interaction, person: { account }, requested }: ConsentContext,
  { scopes, rejected, audiences, shareDecisions }: Agreement,
): Promise<void> {
  const { client } = interaction.spec;
  const registeredClient = await tx.get(Client, client);
  const name = grantName(account.metadata.name, client);
  const decided = {
    claims: agreedClaims(call, interaction, scopes),
    rejected,
    clientUID: registeredClient?.metadata.uid ?? '',
    decided: call.now,
  };
  const agreed = {
    client: clientSummary(client, interaction.status.client),
    grantedTimestamp: toTimestamp(call.now),
    ...policyDecisionOf(call),
  };
  const stored = await tx.get(Grant, name);
  const before = grantInForce(stored, registeredClient, call.now);
  if (stored && !before) tx.add(await call.ports.revokeGrants([name]));
  if (!stored) {
    const grant: GrantParts = {
      spec: { scopes },
      status: { account: account.metadata.name, ...agreed, disclosures: [], shareDecisions },
      internal: { ...decided, decision: call.now },
    };
    recordAudiences(grant, audiences);
    await tx.create(Grant, { metadata: { name }, ...grant });
    return;
  }
  const isOther = (scope: string): boolean => !interaction.spec.scopes.includes(scope);
  const others = before?.spec.scopes.filter(isOther) ?? [];
  const kept = new Set([...scopes, ...others]);
  if (before?.spec.scopes.some((scope) => !kept.has(scope))) {
    tx.add(await call.ports.revokeGrants([name]));
  }
  await tx.update(Grant, name, (next) => {
    if (!before) forget(next);
    decided.claims = { ...claimsOf(before, others), ...decided.claims };
    decided.rejected = [...rejected, ...(before?.internal.rejected.filter(isOther) ?? [])];
    next.spec.scopes = [...kept];
    recordAudiences(next, audiences);
    const granted = grantedScopeIDs(next.spec);
    const former = (next.status.shareDecisions ?? []).filter(
      ({ scope }) => granted.has(scope) && !requested.has(scope),
    );
    Object.assign(next.status, { ...agreed, shareDecisions: [...former, ...shareDecisions] });
    delete next.internal.firstParty;
    Object.assign(next.internal, { ...decided, decision: next.internal.decision + 1 });
  });
}

/** Removes the decisions of a Grant that no longer holds, such as one for a former Client. */
function forget({ spec, status, internal }: GrantParts): void {
  delete spec.audiences;
  delete status.audiences;
  delete status.shareDecisions;
  delete internal.audiences;
}

/** Returns the agreed claims of claims providers for these scopes of a Grant. */
const claimsOf = (
  grant: GrantParts | undefined,
  scopes: readonly string[],
): NonNullable<GrantParts['internal']['claims']> =>
  Object.fromEntries(
    Object.entries(grant?.internal.claims ?? {}).filter(([scope]) => scopes.includes(scope)),
  );

/** Returns how a Grant names its Client. */
const clientSummary = (
  name: string,
  { displayName, displayNames, declaredName }: ConsentContext['interaction']['status']['client'],
) => ({
  name,
  displayName,
  ...(displayNames && { displayNames }),
  ...(declaredName !== undefined && { declaredName }),
});

type GrantParts = Pick<ObjectOf<typeof Grant>, 'spec' | 'status' | 'internal'>;

const policyDecisionOf = ({ decision, dryRun }: Call): { policyDecision?: string } =>
  decision?.name && !dryRun ? { policyDecision: decision.name } : {};
