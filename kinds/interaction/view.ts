import type { Call, ObjectOf } from '../../registry/kind.js';
import { expired } from '../../registry/status.js';
import { objectKey } from '../../registry/stored.js';
import { Account, accountSummary } from '../account.js';
import { Client } from '../client.js';
import { Grant, grantName } from '../grant.js';
import { builtInScopes } from '../scopes.js';
import { Session, type Method } from '../session.js';
import { subjectOf } from '../subject.js';
import { refuseOver, refuseRevived } from './phase.js';
import { sessionFacts } from './person.js';
import { naming, type ConsentScope, type InteractionObject } from './record.js';

const methods: readonly Method[] = ['EmailCode', 'EmailLink'];

/** Completes an Interaction for the browser it is bound to: methods, consent, and, once its result was handed to the library, returnTo. */
export async function viewInteraction(interaction: InteractionObject, call: Call): Promise<void> {
  const { status } = interaction;
  if (status.phase === 'Completed' || status.phase === 'Aborted') refuseRevived(interaction, call);
  else refuseOver(interaction, call);
  if (status.phase === 'LoginRequired') status.methods = await permittedMethods(interaction, call);
  else if (status.phase === 'ConsentRequired') await showConsent(interaction, call);
  else await showReturn(interaction, call);
}

/** The ways to sign in that policy permits here and now. */
async function permittedMethods(interaction: InteractionObject, call: Call): Promise<Method[]> {
  const decisions = await Promise.all(methods.map((method) => call.decide('interactions/login', { kind: { ...naming, owner: undefined }, name: interaction.metadata.name, object: interaction, method, record: 'never' })));
  return methods.filter((_, i) => decisions[i]!.allowed);
}

/** A crash between our commit and the library's is healed here: the result is handed over again before the way on is shown. */
async function showReturn(interaction: InteractionObject, call: Call): Promise<void> {
  const { internal, metadata, status } = interaction;
  if (internal.returnTo === undefined) return;
  await call.ports.finish(interaction);
  status.returnTo = call.keys.open(objectKey(naming, metadata.name), Buffer.from(internal.returnTo, 'base64url')).toString();
}

async function showConsent(interaction: InteractionObject, call: Call): Promise<void> {
  const { internal, spec, status, metadata } = interaction;
  const [account, session] = await Promise.all([call.store(Account).cached(internal.account!), call.store(Session).cached(internal.session!)]);
  if (!account || account.status.disabledTimestamp || !session || session.metadata.deletionTimestamp) throw expired('the session this sign-in continued has ended', naming, metadata.name);
  status.account = accountSummary(account);
  const grant = await call.store(Grant).get(grantName(internal.account!, spec.client));
  const client = await call.store(Client).cached(spec.client);
  const required = new Set(client?.spec.scopes.filter((scope) => scope.required).map((scope) => scope.name));
  const facts = sessionFacts(call, account, session);
  const sub = subjectOf(call.keys, account.metadata.name, client);
  status.consent = { scopes: await Promise.all(spec.scopes.map((name) => scopeEntry(name, { call, client: spec.client, account, facts, sub, required: required.has(name) || name === 'openid', granted: grant?.spec.scopes.includes(name) ?? false }))) };
}

interface EntryFacts { call: Call; client: string; account: ObjectOf<typeof Account>; facts: Record<string, unknown>; sub: string; required: boolean; granted: boolean }

async function scopeEntry(name: string, { call, client, account, facts, sub, required, granted }: EntryFacts): Promise<ConsentScope> {
  const scope = builtInScopes.find((one) => one.name === name);
  const decision = await call.decide('share', { scope: name, client, ...facts });
  const values = scope?.values?.(account, sub) ?? {};
  return {
    name, title: scope?.title ?? name, description: scope?.description ?? '', sensitive: scope?.sensitive ?? false, required, granted,
    provider: scope?.provider ?? { name: 'vestibule', displayName: 'Vestibule' }, allowed: decision.allowed,
    ...(!decision.allowed && { reason: decision.reasons[0]?.message || 'Policy refuses it.' }),
    preview: (scope?.claims ?? []).flatMap(({ name: claim, title }) => { const value = values[claim]; return value === undefined ? [] : [{ claim, title, value }] }),
  };
}
