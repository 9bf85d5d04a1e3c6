import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  errors,
  type Interaction as LibraryInteraction,
  type InteractionResults,
  type Provider,
} from 'oidc-provider';
import type { Interaction } from '../../kinds/interaction/interaction.js';
import type { ObjectOf } from '../../registry/kind.js';
import { digest, nameOf } from '../../security/keyring.js';
import { unavailable } from '../../registry/status.js';
import { Session } from '../../kinds/session/session.js';
import type { SignedIn } from '../adapter/accounts.js';
import { cookieValue } from '../context/cookies.js';
import {
  currentUnitOfWork,
  UnitOfWork,
  inUnitOfWork,
  ConflictError,
} from '../context/unit-of-work.js';
import type { ProviderServices } from '../context/context.js';
import { rememberedGrant, saveCopy } from './load-grant.js';
import { rewriteToIssuer } from '../context/normalise-request.js';
import { cleanupRow } from '../adapter/outbox-rows.js';
import { withProviderErrors } from '../context/errors.js';
import { copiesPrefix, recordKeyOf } from '../context/records.js';

type InteractionObject = ObjectOf<typeof Interaction>;

const max = 10;

/**
 * Hands the library the result that our committed record states, again where a race was lost, ten
 * times at most (503); may be repeated, and resolves where the library's half is gone.
 */
export async function finish(
  services: ProviderServices,
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
  interaction: InteractionObject,
): Promise<void> {
  const uid = cookieValue(request.headers.cookie, services.cookies.interaction);
  if (!uid || nameOf(uid) !== interaction.metadata.name || !interaction.internal.returnTo) return;
  for (let tries = 1; ; tries += 1) {
    try {
      return await handOver(
        services,
        provider,
        rewriteToIssuer(request, services.settings.baseURL),
        response,
        interaction,
      );
    } catch (error) {
      if (error instanceof errors.SessionNotFound) return;
      if (!(error instanceof ConflictError)) throw error;
      if (tries >= max) throw gaveUp(services, interaction);
    }
  }
}

/** The record stands; whoever reads it next has its result handed over again. */
function gaveUp(services: ProviderServices, { metadata }: InteractionObject): Error {
  services.log.error(
    { interaction: metadata.name },
    'the result of a sign-in could not be handed over',
  );
  return unavailable('the result of this sign-in could not be handed over yet, read it again');
}

function handOver(
  services: ProviderServices,
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
  interaction: InteractionObject,
): Promise<void> {
  const exchange = new UnitOfWork(services.store, { request });
  return inUnitOfWork(exchange, async () => {
    const held = await provider.interactionDetails(request, response);
    const result = await resultOf(services, provider, interaction, held);
    if (!result) return;
    await provider.interactionResult(request, response, result, {
      mergeWithLastSubmission: !result.error,
    });
    await exchange.commit();
  });
}

/**
 * What the record states, or undefined where there is nothing to say or it was said already; an end
 * is the last word, however late another result comes.
 */
async function resultOf(
  services: ProviderServices,
  provider: Provider,
  interaction: InteractionObject,
  held: LibraryInteraction,
): Promise<InteractionResults | undefined> {
  const { phase } = interaction.status;
  const { login, consent } = interaction.internal;
  if (held.result?.error) return undefined;
  if (phase === 'Aborted' && interaction.internal.demandedAcr !== undefined)
    return {
      error: 'unmet_authentication_requirements',
      error_description: 'the sign-in that was asked for was not made',
    };
  if (phase === 'Aborted')
    return { error: 'access_denied', error_description: 'the person declined' };
  if (phase === 'Authenticated' && login) {
    const said = held.result?.login;
    if (said?.accountId === login.account && said.ts === login.seconds) return undefined;
    return {
      login: {
        accountId: login.account,
        acr: login.acr,
        amr: login.amr,
        ts: login.seconds,
        method: login.method,
        remember: true,
      },
    };
  }
  if (phase === 'Completed' && consent)
    return held.result?.consent ? undefined : consentResult(services, provider, interaction, held);
  return undefined;
}

/**
 * Every decision makes a library Grant of its own; the session's former one is revoked, but for
 * devices: each that is connected is a sign-in of its own, whichever browser it was confirmed in.
 */
async function consentResult(
  services: ProviderServices,
  provider: Provider,
  interaction: InteractionObject,
  held: LibraryInteraction,
): Promise<InteractionResults> {
  const account = interaction.internal.account!;
  const client = interaction.spec.client;
  const remembered = await rememberedGrant(services, account, client);
  if (!remembered) return { consent: {} };
  const { spec, internal } = remembered;
  const grant = await saveCopy(services, provider, {
    account,
    client,
    scopes: spec.scopes,
    rejected: internal.rejected,
    decision: internal.decision,
    signedIn: await signedInAs(services, interaction),
  });
  if (held.grantId && held.deviceCode === undefined)
    retire(services, held.grantId, remembered.metadata.name);
  return { consent: { grantId: grant.jti } };
}

/** How the person was signed in who agreed. */
async function signedInAs(
  services: ProviderServices,
  { internal }: InteractionObject,
): Promise<SignedIn> {
  const session =
    internal.session === undefined
      ? undefined
      : await withProviderErrors(services.store.reader(Session).get(internal.session));
  return session
    ? {
        methods: session.status.methods,
        assurance: session.status.assurance,
        authenticated: session.internal.loginSeconds,
      }
    : {};
}

/**
 * Ends a library Grant in this exchange's commit; what was issued under it is cleared up after it.
 */
function retire(services: ProviderServices, grantId: string, remembered: string): void {
  const exchange = currentUnitOfWork()!;
  const hashed = digest(grantId);
  exchange.delete(recordKeyOf('Grant', hashed));
  exchange.delete(copiesPrefix(remembered) + hashed);
  const row = cleanupRow(services, { grants: [hashed] });
  exchange.put(row.put, row.value, row.expires);
}
