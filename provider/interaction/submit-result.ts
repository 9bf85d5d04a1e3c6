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

const maxAttempts = 10;

/** The objects that a call of oidc-provider about one request's interaction needs. */
export interface Submission {
  readonly services: ProviderServices;
  readonly provider: Provider;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * Submits the committed result of an Interaction to oidc-provider. Retries conflicts up to ten
 * times, then throws 503. May be repeated; resolves if the library's interaction no longer exists.
 */
export async function submitResult(
  submission: Submission,
  interaction: InteractionObject,
): Promise<void> {
  const { services, request } = submission;
  if (!canResume(services, request, interaction)) return;
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
      if (tries >= maxAttempts) throw handOverError(services, interaction);
    }
  }
}

/**
 * Adds the writes to a transaction that submit its result to oidc-provider in the same commit.
 * Returns false if this request cannot do it; then the next read of the Interaction submits the
 * result.
 */
export async function stageResult(
  submission: Submission,
  interaction: InteractionObject,
  tx: Transaction,
): Promise<boolean> {
  const { services, request } = submission;
  if (!canResume(services, request, interaction)) return false;
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

/**
 * Returns true if the request has the cookie of this interaction and the interaction can still be
 * resumed.
 */
function canResume(
  { cookies }: ProviderServices,
  { headers }: IncomingMessage,
  { metadata, internal }: InteractionObject,
): boolean {
  const uid = cookieValue(headers.cookie, cookies.interaction);
  return uid !== undefined && nameOf(uid) === metadata.name && internal.returnTo !== undefined;
}

/**
 * Returns the error after too many conflicts. The next read of the Interaction submits its result
 * again.
 */
function handOverError(services: ProviderServices, { metadata }: InteractionObject): Error {
  services.log.error(
    { interaction: metadata.name },
    'the result of a sign-in could not be handed over',
  );
  return unavailable(
    'the result of this sign-in could not be handed over yet; get the interaction again',
  );
}

/** Returns the Grant object that a consent is recorded in. */
type ReadGrant = (account: string, client: string) => Promise<GrantObject | undefined>;

async function submit(
  submission: Submission,
  interaction: InteractionObject,
  grantOf: ReadGrant,
): Promise<void> {
  const { services, provider, response } = submission;
  const request = rewriteToIssuer(submission.request, services.settings.baseURL);
  const libraryInteraction = await provider.interactionDetails(request, response);
  const result = await resultOf(submission, interaction, libraryInteraction, grantOf);
  if (result)
    await provider.interactionResult(request, response, result, {
      mergeWithLastSubmission: !result.error,
    });
}

/**
 * Returns the result to submit, or undefined if there is none or it was submitted before. An error
 * that was submitted before is final.
 */
async function resultOf(
  submission: Submission,
  interaction: InteractionObject,
  libraryInteraction: LibraryInteraction,
  grantOf: ReadGrant,
): Promise<InteractionResults | undefined> {
  const { phase } = interaction.status;
  const { login, consent } = interaction.internal;
  if (libraryInteraction.result?.error) return undefined;
  if (phase === 'Aborted' && interaction.internal.demandedAcr !== undefined)
    return {
      error: 'unmet_authentication_requirements',
      error_description: 'the requested sign-in was not completed',
    };
  if (phase === 'Aborted')
    return { error: 'access_denied', error_description: 'the person declined' };
  if (phase === 'Authenticated' && login) {
    const submitted = libraryInteraction.result?.login;
    if (submitted?.accountId === login.account && submitted.ts === login.seconds) return undefined;
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
    return libraryInteraction.result?.consent
      ? undefined
      : consentResult(submission, interaction, libraryInteraction, grantOf);
  return undefined;
}

/**
 * Returns the result of a consent. Each decision creates a library Grant and revokes the session's
 * previous one, except for devices: each connected device has its own Grant.
 */
async function consentResult(
  { services, provider }: Submission,
  interaction: InteractionObject,
  libraryInteraction: LibraryInteraction,
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
    signedIn: await signInOfConsent(services, interaction),
  });
  if (libraryInteraction.grantId && libraryInteraction.deviceCode === undefined)
    revokeCopy(services, libraryInteraction.grantId, remembered.metadata.name);
  return { consent: { grantId: grant.jti } };
}

/** Returns the sign-in of the person who consented. */
async function signInOfConsent(
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
 * Deletes a library Grant in this unit of work's commit; the outbox deletes its tokens afterwards.
 */
function revokeCopy(services: ProviderServices, grantId: string, remembered: string): void {
  const unitOfWork = currentUnitOfWork()!;
  const hashed = digest(grantId);
  unitOfWork.delete(recordKeyOf('Grant', hashed));
  unitOfWork.delete(copiesPrefix(remembered) + hashed);
  const row = cleanupRow(services, { grants: [hashed] });
  unitOfWork.put(row.put, row.value, row.expires);
}
