import { z } from 'zod';
import { refusalMessage } from '../../registry/authorizer.js';
import { defineAction } from '../../registry/action.js';
import type { Call, ObjectOf, Transaction } from '../../registry/kind.js';
import { expired, forbidden, invalid, type Cause } from '../../registry/status.js';
import { toTimestamp } from '../../registry/timestamp.js';
import { Account } from '../account/account.js';
import { Client } from '../client/client.js';
import { Grant, grantName } from '../grant.js';
import { isSessionValid } from '../account/end-sessions.js';
import { scopesRequiredBy, type Scope } from '../claims/scopes.js';
import { Session } from '../session/session.js';
import { Interaction, type InteractionObject } from './interaction.js';
import { sessionFacts } from '../account/policy-facts.js';
import { assertPhase } from './preconditions.js';

/**
 * POST consent: records the scopes agreed to. Optional scopes left out are rejected for this Grant
 * (docs/design/api.md#consent).
 */
export const consent = defineAction({
  of: Interaction,
  subresource: 'consent',
  verb: 'create',
  kind: 'Consent',
  description: 'Records the scopes agreed to.',
  spec: z.object({
    scopes: z.array(z.string().min(1).max(128)).max(50).describe('The scopes agreed to.'),
  }),
  async run(call, { metadata }, { spec }) {
    const { name } = metadata;
    return call.change(async (tx) => {
      const interaction = (await tx.get(Interaction, name))!;
      assertPhase('ConsentRequired', interaction, call);
      refuseRefused(interaction);
      const person = await personOf(tx, interaction, call);
      const agreed = [...new Set(spec.scopes)];
      const { causes, shares } = await judgeScopes(call, tx, { interaction, person }, spec.scopes);
      if (causes.length > 0) throw invalid({ ...Interaction, kind: 'Consent' }, name, causes);
      const rejected = interaction.spec.scopes.filter((scope) => !agreed.includes(scope));
      await remember(tx, call, { interaction, person }, { scopes: agreed, rejected, shares });
      return tx.update(Interaction, name, async (next) => {
        next.status.phase = 'Completed';
        next.internal.consent = { scopes: agreed, rejected };
        next.internal.isHandedOver = await call.ports.stageResult(next, tx);
      });
    });
  },
});

/** 403 with the rule's words where policy refuses the sign-in itself. */
function refuseRefused({ metadata, status: { refusal } }: InteractionObject): void {
  if (refusal)
    throw forbidden(refusal.message, Interaction, metadata.name, {
      ...(refusal.policyDecision && { policyDecision: refusal.policyDecision }),
    });
}

/** Who agrees, and to what. */
interface Agreeing {
  readonly interaction: InteractionObject;
  readonly person: {
    readonly account: ObjectOf<typeof Account>;
    readonly session: ObjectOf<typeof Session>;
  };
}

/**
 * 410 where the session that asks has ended, or the account: nothing is agreed to after a sign-out.
 */
async function personOf(
  tx: Transaction,
  { internal, metadata }: InteractionObject,
  call: Call,
): Promise<Agreeing['person']> {
  const session = await tx.get(Session, internal.session!);
  if (!session || session.metadata.deletionTimestamp || session.internal.expires <= call.now)
    throw expired('the session this sign-in continued has ended', Interaction, metadata.name);
  const account = await tx.get(Account, internal.account!);
  if (!account || account.status.disabledTimestamp)
    throw expired('the account is gone', Interaction, metadata.name);
  if (
    !isSessionValid(
      account.internal.signedOut,
      session.metadata.name,
      session.internal.loginSeconds,
    )
  )
    throw expired('the session this sign-in continued has ended', Interaction, metadata.name);
  return { account, session };
}

type Shares = NonNullable<ObjectOf<typeof Grant>['status']['shareDecisions']>;

/**
 * Returns a cause for each scope that was not requested or that policy refuses, at its index, and
 * one at spec.scopes for a required scope that is missing; and the decisions by which the others
 * are shared.
 */
async function judgeScopes(
  call: Call,
  tx: Transaction,
  { interaction, person }: Agreeing,
  agreed: readonly string[],
): Promise<{ causes: Cause[]; shares: Shares }> {
  const offered = new Set(call.ports.scopes().map(({ name }) => name));
  const asked = interaction.spec.scopes.filter((scope) => offered.has(scope));
  const facts = await sessionFacts(call, person.account, person.session);
  const causes: Cause[] = [];
  const shares: Shares = [];
  for (const [i, scope] of agreed.entries()) {
    const field = `spec.scopes[${i}]`;
    if (!asked.includes(scope)) {
      causes.push({
        reason: 'FieldValueNotSupported',
        field,
        message: `Unsupported value: this scope was ${interaction.spec.scopes.includes(scope) ? 'withdrawn meanwhile' : 'not asked for'}`,
      });
      continue;
    }
    const question = { scope, client: interaction.spec.client, ...facts };
    const decision = await call.decide('share', { ...question, record: 'change' });
    if (!decision.allowed) {
      await call.decide('share', question);
      causes.push({
        reason: 'FieldValueForbidden',
        field,
        message: `Forbidden: ${refusalMessage(decision)}`,
      });
      continue;
    }
    const unread = notRead(interaction, call.ports.scopes().find(({ name }) => name === scope)!);
    if (unread)
      causes.push({
        reason: 'FieldValueInvalid',
        field,
        message: `Invalid value: ${unread}, read it again`,
      });
    else {
      await decision.join?.(tx);
      if (decision.name && !call.dryRun) shares.push({ scope, policyDecision: decision.name });
    }
  }
  const client = await tx.get(Client, interaction.spec.client);
  const missing = [...scopesRequiredBy(interaction.spec.client, client)].filter(
    (scope) => asked.includes(scope) && !agreed.includes(scope),
  );
  if (missing.length > 0)
    causes.push({
      reason: 'FieldValueRequired',
      field: 'spec.scopes',
      message: `Required value: ${missing.join(', ')}`,
    });
  return { causes, shares };
}

/**
 * Why another service's scope cannot be agreed to yet: no one was told which claims that would
 * share.
 */
function notRead(
  { internal }: InteractionObject,
  { name, provider, values }: Scope,
): string | undefined {
  if (values) return undefined;
  const shown = internal.shown?.[name];
  if (!shown) return 'what it would share was not shown yet';
  return shown.provider === provider.name ? undefined : 'another service supplies it now';
}

/**
 * Which claims of other services a consent is to: those that were shown, with their values or by
 * name alone.
 */
function claimsAgreed(
  call: Call,
  { internal }: InteractionObject,
  agreed: readonly string[],
): NonNullable<ObjectOf<typeof Grant>['internal']['claims']> {
  const foreign = call.ports
    .scopes()
    .filter((scope) => !scope.values && agreed.includes(scope.name));
  return Object.fromEntries(foreign.map(({ name }) => [name, internal.shown![name]!]));
}

/**
 * The Grant of this account to this Client, as decided now; what was agreed before and is not any
 * more is gone.
 */
async function remember(
  tx: Transaction,
  call: Call,
  { interaction, person: { account } }: Agreeing,
  { scopes, rejected, shares }: { scopes: string[]; rejected: string[]; shares: Shares },
): Promise<void> {
  const { client } = interaction.spec;
  const known = await tx.get(Client, client);
  const name = grantName(account.metadata.name, client);
  const summary = { name: client, displayName: interaction.status.client.displayName };
  const decided = {
    claims: claimsAgreed(call, interaction, scopes),
    rejected,
    clientUID: known?.metadata.uid ?? '',
    decided: call.now,
  };
  const before = await tx.get(Grant, name);
  if (before) {
    if (before.spec.scopes.some((scope) => !scopes.includes(scope)))
      tx.add(await call.ports.revokeGrants([name]));
    await tx.update(Grant, name, ({ spec, status, internal }) => {
      spec.scopes = scopes;
      Object.assign(status, {
        client: summary,
        grantedTimestamp: toTimestamp(call.now),
        shareDecisions: shares,
        ...decidedBy(call),
      });
      delete internal.firstParty;
      Object.assign(internal, { ...decided, decision: internal.decision + 1 });
    });
    return;
  }
  await tx.create(Grant, {
    metadata: { name },
    spec: { scopes },
    status: {
      account: account.metadata.name,
      client: summary,
      grantedTimestamp: toTimestamp(call.now),
      disclosures: [],
      shareDecisions: shares,
      ...decidedBy(call),
    },
    internal: { ...decided, decision: call.now },
  });
}

const decidedBy = ({ decision, dryRun }: Call): { policyDecision?: string } =>
  decision?.name && !dryRun ? { policyDecision: decision.name } : {};
