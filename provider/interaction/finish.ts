import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  errors,
  type Interaction as LibraryInteraction,
  type InteractionResults,
  type Provider,
} from 'oidc-provider';
import type { Interaction } from '../../kinds/interaction/interaction.js';
import { Grant, grantName } from '../../kinds/grant.js';
import type { ObjectOf, Transaction } from '../../registry/kind.js';
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
import type { GrantObject, ProviderServices } from '../context/context.js';
import { rememberedGrant, saveCopy } from './load-grant.js';
import { rewriteToIssuer } from '../context/normalise-request.js';
import { cleanupRow } from '../adapter/outbox-rows.js';
import { withProviderErrors } from '../context/errors.js';
import { copiesPrefix, recordKeyOf } from '../context/records.js';

type InteractionObject = ObjectOf<typeof Interaction>;

const max = 10;

/** What is needed to speak to the library about the interaction of one request. */
export interface Submission {
  readonly services: ProviderServices;
  readonly provider: Provider;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Hands the library the result that our committed record states, again where a race was lost, ten
 * times at most (503); may be repeated, and resolves where the library's half is gone.
 */
export async function finish(
  submission: Submission,
  interaction: InteractionObject,
): Promise<void> {
  const { services, request } = submission;
  if (!isBegunBy(services, request, interaction)) return;
  for (let tries = 1; ; tries += 1) {
    try {
      const unitOfWork = new UnitOfWork(services.store, { request });
      return await inUnitOfWork(unitOfWork, async () => {
        await submit(submission, interaction, (account, client) =>
          rememberedGrant(services, account, client),
        );
        await unitOfWork.commit();
      });
    } catch (error) {
      if (error instanceof errors.SessionNotFound) return;
      if (!(error instanceof ConflictError)) throw error;
      if (tries >= max) throw gaveUp(services, interaction);
    }
  }
}

/**
 * Adds to a transaction what hands the library the result that the record states once it is
 * committed. False where this request cannot: then anyone who reads the record hands it over.
 */
export async function stageResult(
  submission: Submission,
  interaction: InteractionObject,
  tx: Transaction,
): Promise<boolean> {
  const { services, request } = submission;
  if (!isBegunBy(services, request, interaction)) return false;
  const unitOfWork = new UnitOfWork(services.store, { request });
  try {
    await inUnitOfWork(unitOfWork, () =>
      submit(submission, interaction, (account, client) =>
        tx.get(Grant, grantName(account, client)),
      ),
    );
  } catch (error) {
    if (error instanceof errors.SessionNotFound) return false;
    throw error;
  }
  for (const part of await unitOfWork.staged()) tx.add(part);
  return true;
}

/** Whether the browser that asks holds the cookie of this interaction, which is not over. */
function isBegunBy(
  { cookies }: ProviderServices,
  { headers }: IncomingMessage,
  { metadata, internal }: InteractionObject,
): boolean {
  const uid = cookieValue(headers.cookie, cookies.interaction);
  return uid !== undefined && nameOf(uid) === metadata.name && internal.returnTo !== undefined;
}

/** The record stands; anyone who reads it next has its result handed over again. */
function gaveUp(services: ProviderServices, { metadata }: InteractionObject): Error {
  services.log.error(
    { interaction: metadata.name },
    'the result of a sign-in could not be handed over',
  );
  return unavailable('the result of this sign-in could not be handed over yet, read it again');
}

/** Reads the remembered Grant that a consent is recorded in. */
type ReadGrant = (account: string, client: string) => Promise<GrantObject | undefined>;

async function submit(
  submission: Submission,
  interaction: InteractionObject,
  grantOf: ReadGrant,
): Promise<void> {
  const { services, provider, response } = submission;
  const request = rewriteToIssuer(submission.request, services.settings.baseURL);
  const held = await provider.interactionDetails(request, response);
  const result = await resultOf(submission, interaction, held, grantOf);
  if (result)
    await provider.interactionResult(request, response, result, {
      mergeWithLastSubmission: !result.error,
    });
}

/**
 * What the record states, or undefined where there is nothing to say or it was said already; an end
 * is the last word, however late another result comes.
 */
async function resultOf(
  submission: Submission,
  interaction: InteractionObject,
  held: LibraryInteraction,
  grantOf: ReadGrant,
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
    return held.result?.consent ? undefined : consentResult(submission, interaction, held, grantOf);
  return undefined;
}

/**
 * Every decision makes a library Grant of its own; the session's former one is revoked, except
 * devices: each that is connected is a sign-in of its own, whichever browser it was confirmed in.
 */
async function consentResult(
  { services, provider }: Submission,
  interaction: InteractionObject,
  held: LibraryInteraction,
  grantOf: ReadGrant,
): Promise<InteractionResults> {
  const account = interaction.internal.account!;
  const client = interaction.spec.client;
  const remembered = await grantOf(account, client);
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
 * Ends a library Grant in this unit of work's commit; what was issued under it is cleared up after it.
 */
function retire(services: ProviderServices, grantId: string, remembered: string): void {
  const unitOfWork = currentUnitOfWork()!;
  const hashed = digest(grantId);
  unitOfWork.delete(recordKeyOf('Grant', hashed));
  unitOfWork.delete(copiesPrefix(remembered) + hashed);
  const row = cleanupRow(services, { grants: [hashed] });
  unitOfWork.put(row.put, row.value, row.expires);
}
