import { refusalMessage } from '../../registry/authorizer.js';
import type { Call, Decision } from '../../registry/kind.js';
import { expired } from '../../registry/status.js';
import { objectKey } from '../../registry/encoded-object.js';
import { Account, accountSummary } from '../account/account.js';
import { Client } from '../client/client.js';
import { Grant, grantName } from '../grant.js';
import {
  builtInProvider,
  scopesRequiredBy,
  type ClaimValue,
  type Scope,
} from '../claims/scopes.js';
import { takesPasskeys } from '../passkey/rp-id.js';
import { Session, type Method } from '../session/session.js';
import { subjectOf } from '../client/subject-identifier.js';
import { assertNotExpired, assertCurrentEpoch } from './preconditions.js';
import { sessionFacts, signedInNow } from '../account/policy-facts.js';
import { naming } from '../signin/interaction-naming.js';
import type { ConsentScope, InteractionObject } from './schema.js';

const methods: readonly Method[] = ['EmailCode', 'EmailLink', 'Passkey'];

/**
 * Completes an Interaction for the browser it is bound to: methods, consent, and, once its result
 * was handed to the library, returnTo.
 */
export async function decorateInteraction(
  interaction: InteractionObject,
  call: Call,
): Promise<void> {
  const { status } = interaction;
  if (status.phase === 'Completed' || status.phase === 'Aborted')
    assertCurrentEpoch(interaction, call);
  else assertNotExpired(interaction, call);
  if (status.phase === 'LoginRequired') status.methods = await permittedMethods(interaction, call);
  else if (status.phase === 'ConsentRequired') await showConsent(interaction, call);
  else await showReturn(interaction, call);
}

/**
 * The ways to sign in that policy permits here and now, without those by which no one could sign in
 * to this Client while another way is left: a passkey may be demanded of everybody. What policy
 * thinks of a person is not told here.
 */
async function permittedMethods(interaction: InteractionObject, call: Call): Promise<Method[]> {
  const permitted = await begunBy(interaction, call);
  const unknownPerson = {
    client: interaction.spec.client,
    domain: '',
    groups: [],
    record: 'never',
  };
  const decisions = await Promise.all(
    permitted.map((method) =>
      call.decide('signIn', { ...unknownPerson, ...signedInNow(method, call.now) }),
    ),
  );
  const left = permitted.filter((_, i) => !decisions[i]!.appliesToEveryone);
  return left.length > 0 ? left : permitted;
}

async function begunBy(interaction: InteractionObject, call: Call): Promise<Method[]> {
  const enough = methods.filter((method) =>
    method === 'Passkey' ? takesPasskeys(call.settings.rpID) : !interaction.internal.passkeyOnly,
  );
  const decisions = await Promise.all(
    enough.map((method) =>
      call.decide('interactions/login', {
        kind: { ...naming, owner: undefined },
        name: interaction.metadata.name,
        object: interaction,
        method,
        record: 'never',
      }),
    ),
  );
  return enough.filter((_, i) => decisions[i]!.allowed);
}

/**
 * The result is handed over before the way on is shown, where the commit that made it could not:
 * for a request without the browser's cookie, a cancelled sign-in, a record of an earlier release.
 */
async function showReturn(interaction: InteractionObject, call: Call): Promise<void> {
  const { internal, metadata, status } = interaction;
  if (internal.returnTo === undefined) return;
  if (!internal.isHandedOver) await call.ports.finish(interaction);
  status.returnTo = call.keys
    .open(objectKey(naming, metadata.name), Buffer.from(internal.returnTo, 'base64url'))
    .toString();
}

async function showConsent(interaction: InteractionObject, call: Call): Promise<void> {
  const { internal, spec, status, metadata } = interaction;
  const [account, session] = await Promise.all([
    call.store(Account).cached(internal.account!),
    call.store(Session).cached(internal.session!),
  ]);
  if (
    !account ||
    account.status.disabledTimestamp ||
    !session ||
    session.metadata.deletionTimestamp
  )
    throw expired('the session this sign-in continued has ended', naming, metadata.name);
  status.account = accountSummary(account);
  const grant = await call.store(Grant).get(grantName(internal.account!, spec.client));
  const client = await call.store(Client).cached(spec.client);
  const facts = await sessionFacts(call, account, session);
  const asked = await Promise.all(
    spec.scopes.map((name) => judged(name, facts, interaction, call)),
  );
  const foreign = status.refusal
    ? []
    : asked.flatMap(({ scope, decision }) =>
        scope && !scope.values && decision?.allowed ? [scope] : [],
      );
  const reviewed = foreign.length > 0 ? await call.ports.preview(interaction, foreign) : undefined;
  const required = scopesRequiredBy(spec.client, client);
  const person = {
    account,
    sub: subjectOf(call.keys, account.metadata.name, client),
    groups: facts.groups,
  };
  status.consent = {
    scopes: asked.map((one) =>
      entryOf(one, {
        required: required.has(one.name),
        granted: grant?.spec.scopes.includes(one.name) ?? false,
        values: one.scope?.values ? one.scope.values(person) : reviewed?.get(one.name),
      }),
    ),
  };
}

/**
 * A scope that was asked for, unless no one supplies it any more, and what policy says to sharing
 * it.
 */
interface Judged {
  readonly name: string;
  readonly scope?: Scope;
  readonly decision?: Decision;
}

async function judged(
  name: string,
  facts: Awaited<ReturnType<typeof sessionFacts>>,
  { spec }: InteractionObject,
  call: Call,
): Promise<Judged> {
  const scope = call.ports.scopes().find((one) => one.name === name);
  return scope
    ? {
        name,
        scope,
        decision: await call.decide('share', { scope: name, client: spec.client, ...facts }),
      }
    : { name };
}

/** What is known of a scope besides: its values, undefined where they could not be fetched. */
interface Known {
  readonly required: boolean;
  readonly granted: boolean;
  readonly values: Readonly<Record<string, unknown>> | undefined;
}

function entryOf(
  { name, scope, decision }: Judged,
  { required, granted, values }: Known,
): ConsentScope {
  if (!scope || !decision)
    return {
      name,
      title: name,
      description: 'No provider supplies it any more.',
      sensitive: false,
      required: false,
      granted,
      provider: builtInProvider,
      allowed: false,
      preview: [],
    };
  const { title, description, sensitive, provider, claims, permissions } = scope;
  const { allowed } = decision;
  return {
    name,
    title,
    description,
    sensitive,
    required,
    granted,
    provider,
    allowed,
    ...(!allowed && { reason: refusalMessage(decision) }),
    preview:
      allowed && values
        ? claims.flatMap((claim) =>
            Object.hasOwn(values, claim.name)
              ? [{ claim: claim.name, title: claim.title, value: values[claim.name] as ClaimValue }]
              : [],
          )
        : [],
    ...(allowed &&
      !values && {
        previewUnavailable: true,
        claims: claims.map((claim) => ({ claim: claim.name, title: claim.title })),
      }),
    ...(permissions && { permissions: [...permissions] }),
  };
}
