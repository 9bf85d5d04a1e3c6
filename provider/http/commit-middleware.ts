import { errors, type KoaContext, type Provider, type ProviderContext } from 'oidc-provider';
import { retryAfter } from '../adapter/attempt-limit.js';
import { clientObject } from '../adapter/clients.js';
import { repeatInteractionCookies } from '../adapter/interaction-record.js';
import { findRefreshAnswer, keepRefreshAnswer, repeatedAnswer } from '../adapter/refresh-answer.js';
import { revokeReused } from '../adapter/revocation.js';
import { isDeviceRequest, noteUserCode } from '../adapter/user-code-events.js';
import { discloseIntrospection } from '../claims/disclosures.js';
import { ConflictError } from '../context/conflict.js';
import { isRouted, type ProviderServices } from '../context/context.js';
import { requestState, requestUnitOfWork } from '../context/current-request.js';
import { libraryError, toProviderError } from '../context/errors.js';
import { hashIn } from '../context/records.js';
import { type SingleUse, StateKey } from '../context/request-state.js';
import { errorOf, jsonOf } from '../context/response.js';
import type { UnitOfWork } from '../context/unit-of-work.js';
import { translateFormPage } from './form-page.js';
import { allowForms, formTargets } from './headers.js';
import { introspectJWT } from './introspection.js';
import { renderError } from './pages.js';
import { describeRemedy, logUnnamedRefusal } from './refusals.js';
import {
  logIgnoredValues,
  mayShowParameters,
  sentParameters,
  wrongParameters,
} from './wrong-parameters.js';

/** The name of the request's Client, for the log. */
export const requestClient = new StateKey<string>();

const conflictMessage =
  'a concurrent request changed an object that this request depends on; try again';

/**
 * Returns the middleware that commits the library's writes before the response is sent. A failed
 * commit replaces the response.
 */
export const commitMiddleware =
  (services: ProviderServices, provider: Provider) =>
  async (ctx: KoaContext, next: () => Promise<void>): Promise<void> => {
    const unitOfWork = requestUnitOfWork();
    try {
      await next();
      await introspectJWT(services, provider, ctx);
      discloseIntrospection(services, ctx);
      keepRefreshAnswer(services, ctx, unitOfWork);
      if (ctx.status !== 503 && !isRefusedUse(ctx, unitOfWork)) {
        await commit(services, ctx, unitOfWork);
      }
      sendAgain(services, ctx, repeatedAnswer());
    } catch (error) {
      sendError(services, provider, ctx, toProviderError(error));
    }
    await logUnnamedRefusal(services, ctx);
    const client = ctx.oidc?.entities.Client?.clientId;
    if (client && ctx.oidc?.route === 'userinfo' && ctx.status === 200) {
      const object = await clientObject(services, client);
      if (object) services.signIns.clientReports.noteUserinfo(object);
    }
    if (client) unitOfWork.state.set(requestClient, client);
    translateFormPage(ctx);
    if (ctx.status < 400) logIgnoredValues(services, ctx);
    await finishHeaders(services, provider, ctx);
  };

/**
 * Returns true if a token request was refused after the library consumed its code, device code or
 * refresh token. Then nothing is written, so that the holder can use it again. An object consumed
 * before this request is a reuse and revokes the grant.
 */
const isRefusedUse = (ctx: KoaContext, unitOfWork: UnitOfWork): boolean =>
  ctx.oidc?.route === 'token' && ctx.status >= 400 && unitOfWork.uses.length > 0;

async function commit(
  services: ProviderServices,
  ctx: KoaContext,
  unitOfWork: UnitOfWork,
): Promise<void> {
  try {
    await unitOfWork.commit();
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    await handleConflict(services, ctx, error, unitOfWork.uses);
  }
}

/**
 * Handles a conflict: a second use of a single-use object revokes its grant, a page is requested
 * again by a redirect, and any other request fails with 503.
 */
async function handleConflict(
  services: ProviderServices,
  ctx: KoaContext,
  conflict: ConflictError,
  uses: readonly SingleUse[],
): Promise<void> {
  services.runtime.count('lost_race');
  if (isDeviceRequest(ctx)) {
    noteUserCode(ctx, { outcome: 'Failed', reason: 'temporarily_unavailable' });
  }
  const reused = uses.find((use) => conflict.keys.has(use.key));
  if (reused?.model === 'RefreshToken' && isRouted(ctx)) {
    const answer = await findRefreshAnswer(services, ctx.oidc, hashIn(reused.key));
    if (answer) return sendAgain(services, ctx, answer);
  }
  if (reused) await revokeReused(services, reused);
  if (ctx.oidc?.route === 'token') {
    throw new errors.InvalidGrant('a concurrent request revoked the grant');
  }
  if (ctx.method !== 'GET') throw libraryError(503, 'temporarily_unavailable', conflictMessage);
  ctx.remove('Set-Cookie');
  ctx.status = 303;
  ctx.redirect(ctx.originalUrl);
}

/** Sends the answer that a refresh of before got. */
function sendAgain(services: ProviderServices, ctx: KoaContext, answer: object | undefined): void {
  if (!answer) return;
  services.runtime.count('refresh_repeated');
  ctx.status = 200;
  ctx.body = answer;
}

function sendError(
  services: ProviderServices,
  provider: Provider,
  ctx: KoaContext,
  error: unknown,
): void {
  const isProviderError = error instanceof errors.OIDCProviderError;
  const status = isProviderError ? error.statusCode : 500;
  const out =
    isProviderError && error.expose
      ? { error: error.error, error_description: error.error_description }
      : { error: 'server_error', error_description: 'an internal error occurred' };
  ctx.remove('Set-Cookie');
  ctx.remove('Location');
  ctx.status = status;
  provider.emit(isProviderError ? refusalEvent(ctx) : 'server_error', ctx, error);
  if (ctx.accepts('json', 'html') === 'html') {
    renderError(services, ctx, out);
  } else {
    ctx.body = out;
  }
}

const refusalEvent = (ctx: KoaContext): string =>
  ctx.oidc?.route === 'token' ? 'grant.error' : 'authorization.error';

const cacheableRoutes: ReadonlySet<string> = new Set(['discovery', 'jwks']);

async function finishHeaders(
  services: ProviderServices,
  provider: Provider,
  ctx: KoaContext,
): Promise<void> {
  if (cacheableRoutes.has(ctx.oidc?.route ?? '') && ctx.status === 200) {
    ctx.set('Cache-Control', 'public, max-age=300');
  }
  if (ctx.oidc?.route === 'discovery' && ctx.status === 200) {
    ctx.body = {
      ...jsonOf(ctx.body),
      response_modes_supported: ['query', 'form_post'],
      response_types_supported: ['code'], // `none` is for the account page alone.
    };
  }
  if (isRouted(ctx) && programRoutes.has(ctx.oidc.route)) addWrongParameters(services, ctx);
  describeRemedy(ctx);
  repeatInteractionCookies(ctx);
  if (!ctx.req.complete) ctx.res.shouldKeepAlive = false;
  if (ctx.status === 503) ctx.set('Retry-After', '1');
  if (ctx.status === 429) ctx.set('Retry-After', String(requestState().get(retryAfter) ?? 1));
  if (isRouted(ctx) && ctx.status < 500 && ctx.response.is('html')) {
    await allowFormsToClient(provider, ctx);
  }
}

/** Endpoints whose error responses name the wrong parameters. */
const programRoutes: ReadonlySet<string> = new Set([
  'pushed_authorization_request',
  'device_authorization',
  'token',
  'revocation',
  'introspection',
]);

/** Adds the wrong parameters to an error response, if they may be shown. */
function addWrongParameters(services: ProviderServices, ctx: KoaContext): void {
  if (errorOf(ctx.body) === undefined || !mayShowParameters(services)) return;
  const body = jsonOf(ctx.body);
  const parameters = wrongParameters(body, sentParameters(ctx));
  if (parameters !== undefined) ctx.body = { ...body, parameters };
}

/** Lets the forms of a page redirect to the Client of the request. */
async function allowFormsToClient(provider: Provider, ctx: ProviderContext): Promise<void> {
  const { entities, params, session } = ctx.oidc;
  const interactionParams = entities.Interaction?.params;
  const name = interactionParams?.client_id ?? session?.state?.clientId;
  const client = entities.Client ?? (name ? await provider.Client.find(name) : undefined);
  allowForms(ctx, formTargets(client, { ...params, ...interactionParams }));
}
