import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { refusalMessage, refusalTexts } from '../../registry/authorizer.js';
import { objectKey } from '../../registry/encoded-object.js';
import type { Call, Decision } from '../../registry/kind.js';
import { toTimestamp } from '../../registry/schema/timestamp.js';
import { expired } from '../../registry/status/status.js';
import { Audience } from '../apps/audience/audience.js';
import { scopeFinder } from '../apps/audience/audience-scope.js';
import { nameFallbackOf } from '../apps/claims/name-fallback.js';
import {
  builtInProvider,
  type ClaimValue,
  type Scope,
  scopesRequiredBy,
} from '../apps/claims/scopes.js';
import { Client } from '../apps/client/client.js';
import { subjectOf } from '../apps/client/subject-identifier.js';
import { Account, accountSummary } from '../people/account/account.js';
import { requestedFacts, sessionFacts, signedInNow } from '../people/account/policy-facts.js';
import { canBeRelyingPartyId } from '../people/passkey/rp-id.js';
import { type Method, Session } from '../people/session/session.js';
import { naming } from '../signin/interaction-naming.js';
import { findAgreedScopes } from './agreed-before.js';
import { assertCurrentEpoch, assertNotExpired } from './preconditions.js';
import { type ConsentScope, endsAt, type InteractionObject } from './schema.js';

const methods: readonly Method[] = ['EmailCode', 'EmailLink', 'Passkey'];

/**
 * Completes an Interaction for the browser it is bound to: adds methods, consent, and
 * returnTo once there is a result.
 */
export async function decorateInteraction(
  interaction: InteractionObject,
  call: Call,
): Promise<void> {
  const { status } = interaction;
  if (status.phase === 'Completed' || status.phase === 'Aborted') {
    assertCurrentEpoch(interaction, call);
  } else {
    assertNotExpired(interaction, call);
  }
  const end = endsAt(interaction, call.now, call.settings.limits.signInIdle);
  status.expirationTimestamp = toTimestamp(end);
  if (status.phase === 'LoginRequired') {
    status.methods = await permittedMethods(interaction, call);
    if (interaction.internal.isResumable && call.ports.hasSessionCookie()) {
      status.resumeTo = returnToOf(interaction, call);
    }
  } else if (status.phase === 'ConsentRequired') {
    await addConsent(interaction, call);
  } else if (status.phase === 'Authenticated') {
    await addRequired(interaction, call);
  }
  if (status.phase !== 'LoginRequired' && status.phase !== 'ConsentRequired') {
    status.returnTo = returnToOf(interaction, call);
  }
}

/** Adds what the app requires of a person who has not filled it in: the name, with scope `profile`. */
async function addRequired({ spec, status }: InteractionObject, call: Call): Promise<void> {
  const { setup } = status.account ?? {};
  if (!setup?.missing.includes('displayName') || !spec.scopes.includes('profile')) return;
  const client = await call.store(Client).cached(spec.client);
  if (scopesRequiredBy(spec.client, client).has('profile')) setup.required = ['displayName'];
}

/**
 * Returns the sign-in methods that policy permits here and now. Leaves out methods that policy
 * refuses to everyone for this Client, unless no other is left: a rule may require a passkey of
 * everyone. The result does not depend on the person.
 */
async function permittedMethods(interaction: InteractionObject, call: Call): Promise<Method[]> {
  const permitted = await startableMethods(interaction, call);
  const unknownPerson = {
    ...requestedFacts(interaction),
    domain: '',
    groups: [],
  };
  const decisions = await Promise.all(
    permitted.map((method) =>
      call.decideQuietly('signIn', { ...unknownPerson, ...signedInNow(method, call.now) }),
    ),
  );
  const remaining = permitted.filter((_, i) => !decisions[i]!.appliesToEveryone);
  return remaining.length > 0 ? remaining : permitted;
}

async function startableMethods(interaction: InteractionObject, call: Call): Promise<Method[]> {
  const candidates = methods.filter((method) =>
    method === 'Passkey'
      ? canBeRelyingPartyId(call.settings.rpID)
      : !interaction.internal.passkeyOnly,
  );
  const decisions = await Promise.all(
    candidates.map((method) =>
      call.decideQuietly('interactions/login', {
        kind: { ...naming, owner: undefined },
        name: interaction.metadata.name,
        object: interaction,
        method,
      }),
    ),
  );
  return candidates.filter((_, i) => decisions[i]!.allowed);
}

/** Returns the URL of the library that ends this step; undefined after it was followed. */
const returnToOf = ({ internal, metadata }: InteractionObject, call: Call): string | undefined =>
  internal.returnTo === undefined
    ? undefined
    : call.keys
        .open(objectKey(naming, metadata.name), Buffer.from(internal.returnTo, 'base64url'))
        .toString();

async function addConsent(interaction: InteractionObject, call: Call): Promise<void> {
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
  ) {
    throw expired('the session this sign-in continued has ended', naming, metadata.name);
  }
  status.account = accountSummary(account);
  const client = await call.store(Client).cached(spec.client);
  const isAgreed = await findAgreedScopes(call, internal.account!, {
    name: spec.client,
    object: client,
  });
  const facts = await sessionFacts(call, account, session);
  const find = scopeFinder(call.ports.scopes(), spec.client, client, (name) =>
    call.store(Audience).cached(name),
  );
  const requested: RequestedScope[] = [];
  for (const name of spec.scopes) {
    const decided = await decideScope(name, await find(name), { facts, interaction }, call);
    if (decided.decision?.allowed === false) await yieldToEventLoop(); // It may have been explained.
    requested.push(decided);
  }
  const externalScopes = status.refusal
    ? []
    : requested.flatMap(({ scope, decision }) =>
        scope && !scope.values && decision?.allowed ? [scope] : [],
      );
  const previews =
    externalScopes.length > 0 ? await call.ports.preview(interaction, externalScopes) : undefined;
  const required = scopesRequiredBy(spec.client, client);
  const person = {
    account,
    sub: subjectOf(call.keys, account.metadata.name, client),
    groups: facts.groups,
  };
  const nameFallback = requested.some(({ name, decision }) => name === 'email' && decision?.allowed)
    ? nameFallbackOf(account.status.email.address, call.settings.nameFallback)
    : undefined;
  status.consent = {
    scopes: await Promise.all(
      requested.map(async (item) =>
        consentScopeOf(item, {
          required: required.has(item.name),
          granted: await isAgreed(item.name, item.scope),
          values: item.scope?.values ? item.scope.values(person) : previews?.get(item.name),
          valuesWithEmail: item.scope?.values?.({ ...person, nameFallback }),
        }),
      ),
    ),
  };
}

/**
 * A requested scope, and the decision about sharing it; both are absent if no provider supplies it
 * any more.
 */
interface RequestedScope {
  readonly name: string;
  readonly scope?: Scope;
  readonly decision?: Decision;
}

async function decideScope(
  name: string,
  scope: Scope | undefined,
  {
    facts,
    interaction,
  }: {
    readonly facts: Awaited<ReturnType<typeof sessionFacts>>;
    readonly interaction: InteractionObject;
  },
  call: Call,
): Promise<RequestedScope> {
  return scope
    ? {
        name,
        scope,
        decision: await call.decide('share', {
          scope: name,
          ...requestedFacts(interaction),
          ...facts,
        }),
      }
    : { name };
}

/**
 * Further facts about a requested scope. `values` is undefined if they could not be fetched, and
 * `valuesWithEmail` are those that an app gets that gets the address as well.
 */
interface ScopeFacts {
  readonly required: boolean;
  readonly granted: boolean;
  readonly values: Readonly<Record<string, unknown>> | undefined;
  readonly valuesWithEmail?: Readonly<Record<string, unknown>> | undefined;
}

function consentScopeOf(
  { name, scope, decision }: RequestedScope,
  { required, granted, values, valuesWithEmail = values }: ScopeFacts,
): ConsentScope {
  if (!scope || !decision) {
    return {
      name,
      title: name,
      description: 'No claims provider supplies this scope any more.',
      sensitive: false,
      required: false,
      granted,
      provider: builtInProvider,
      allowed: false,
      preview: [],
    };
  }
  const { title, titles, description, descriptions, sensitive } = scope;
  const { provider, audience, claims, permissions } = scope;
  const { allowed } = decision;
  return {
    name,
    title,
    ...(titles && { titles }),
    description,
    ...(descriptions && { descriptions }),
    sensitive,
    required,
    granted,
    provider,
    ...(audience && { audience }),
    allowed,
    ...(!allowed && { reason: refusalMessage(decision), reasons: refusalTexts(decision) }),
    preview:
      allowed && values && valuesWithEmail
        ? claims.flatMap((claim) =>
            Object.hasOwn(valuesWithEmail, claim.name)
              ? [
                  {
                    ...claimTexts(claim),
                    value: valuesWithEmail[claim.name] as ClaimValue,
                    ...(!Object.hasOwn(values, claim.name) && { withScope: 'email' }),
                  },
                ]
              : [],
          )
        : [],
    ...(allowed &&
      !values && {
        previewUnavailable: true,
        claims: claims.map(claimTexts),
      }),
    ...(permissions && { permissions: [...permissions] }),
  };
}

const claimTexts = ({ name, title, titles }: Scope['claims'][number]) => ({
  claim: name,
  title,
  ...(titles && { titles }),
});
