import { errors, type KoaContext, type Provider, type ProviderContext } from 'oidc-provider';
import { discloseIntrospection } from '../claims/disclosures.js';
import {
  currentUnitOfWork,
  ConflictError,
  type UnitOfWork,
  type SingleUse,
} from '../context/unit-of-work.js';
import type { ProviderServices } from '../context/context.js';
import { allowForms, formTargets } from './headers.js';
import { renderError } from './pages.js';
import { libraryError, toProviderError } from '../context/errors.js';
import { revokeReused } from '../adapter/revocation.js';
import { waitMemo } from '../adapter/attempt-limit.js';
import { isOfDevice, noteUserCode } from '../adapter/user-code-events.js';
import { mayShowParameters, wrongParameters } from './wrong-parameters.js';

const moved = 'something this request relies on was changed meanwhile, try again';

/**
 * Around every answer of the library: what it wrote is committed before the answer leaves, and a
 * commit that fails changes the answer.
 */
export const settling =
  (services: ProviderServices, provider: Provider) =>
  async (ctx: KoaContext, next: () => Promise<void>): Promise<void> => {
    const unitOfWork = currentUnitOfWork()!;
    try {
      await next();
      discloseIntrospection(services, ctx);
      if (ctx.status !== 503 && !isRefusedUse(ctx, unitOfWork))
        await commit(services, ctx, unitOfWork);
    } catch (error) {
      answer(services, provider, ctx, toProviderError(error));
    }
    unitOfWork.client = ctx.oidc?.entities.Client?.clientId;
    await finishHeaders(services, provider, ctx);
  };

/**
 * Whether a token request was refused after the library had used up what it brought (a code, a
 * device code, a refresh token): then nothing of the request is written, so that anyone who holds it
 * may ask for something else. What was used up before is no use of this request, and ends the
 * grant.
 */
const isRefusedUse = (ctx: KoaContext, unitOfWork: UnitOfWork): boolean =>
  ctx.oidc?.route === 'token' && ctx.status >= 400 && unitOfWork.uses.length > 0;

async function commit(
  services: ProviderServices,
  ctx: KoaContext,
  unitOfWork: UnitOfWork,
): Promise<void> {
  const uses = [...unitOfWork.uses];
  try {
    await unitOfWork.commit();
  } catch (error) {
    if (!(error instanceof ConflictError)) throw error;
    await afterLoss(services, ctx, error, uses);
  }
}

/**
 * A second use brings the grant down; a page is simply asked for again; whatever else was lost was
 * not written.
 */
async function afterLoss(
  services: ProviderServices,
  ctx: KoaContext,
  lost: ConflictError,
  uses: readonly SingleUse[],
): Promise<void> {
  services.count('lost_race');
  if (isOfDevice(ctx))
    noteUserCode(ctx as ProviderContext, { outcome: 'Failed', reason: 'temporarily_unavailable' });
  const reused = uses.find((use) => lost.keys.has(use.key));
  if (reused) await revokeReused(services, reused);
  if (ctx.oidc?.route === 'token') throw new errors.InvalidGrant('the grant is gone');
  if (ctx.method !== 'GET') throw libraryError(503, 'temporarily_unavailable', moved);
  ctx.remove('Set-Cookie');
  ctx.status = 303;
  ctx.redirect(ctx.originalUrl);
}

function answer(
  services: ProviderServices,
  provider: Provider,
  ctx: KoaContext,
  error: unknown,
): void {
  const known = error instanceof errors.OIDCProviderError;
  const status = known ? error.statusCode : 500;
  const out =
    known && error.expose
      ? { error: error.error, error_description: error.error_description }
      : { error: 'server_error', error_description: 'something went wrong here' };
  ctx.remove('Set-Cookie');
  ctx.remove('Location');
  ctx.status = status;
  provider.emit(known ? refusalEvent(ctx) : 'server_error', ctx, error);
  if (ctx.accepts('json', 'html') === 'html') renderError(services, ctx, out);
  else ctx.body = out;
}

const refusalEvent = (ctx: KoaContext): string =>
  ctx.oidc?.route === 'token' ? 'grant.error' : 'authorization.error';

const shared: ReadonlySet<string> = new Set(['discovery', 'jwks']);

async function finishHeaders(
  services: ProviderServices,
  provider: Provider,
  ctx: KoaContext,
): Promise<void> {
  if (shared.has(ctx.oidc?.route ?? '') && ctx.status === 200)
    ctx.set('Cache-Control', 'public, max-age=300');
  if (ctx.oidc?.route === 'discovery' && ctx.status === 200)
    Object.assign(ctx.body as object, { response_modes_supported: ['query', 'form_post'] });
  if (ctx.oidc && programRoutes.has(ctx.oidc.route)) nameWrong(services, ctx);
  if (!ctx.req.complete) ctx.res.shouldKeepAlive = false;
  if (ctx.status === 503) ctx.set('Retry-After', '1');
  if (ctx.status === 429)
    ctx.set('Retry-After', String(currentUnitOfWork()!.memo.get(waitMemo) ?? 1));
  if (ctx.oidc && ctx.status < 500 && ctx.response.is('html')) await letFormsLead(provider, ctx);
}

/** Endpoints that answer programs of a Client with what is wrong with its request. */
const programRoutes: ReadonlySet<string> = new Set([
  'pushed_authorization_request',
  'device_authorization',
]);

/** Adds the parameters that were wrong to a refusal, where they may be shown. */
function nameWrong(services: ProviderServices, ctx: KoaContext): void {
  const body = ctx.body as { error?: unknown } | undefined;
  const parameters =
    typeof body?.error === 'string' ? wrongParameters(body.error, ctx.oidc!.params) : undefined;
  if (parameters !== undefined && mayShowParameters(services)) ctx.body = { ...body, parameters };
}

/** A form of the page may lead on to the Client whose request this is. */
async function letFormsLead(provider: Provider, ctx: KoaContext): Promise<void> {
  const { entities, params, session } = ctx.oidc!;
  const begun = entities.Interaction?.params;
  const name = begun?.client_id ?? session?.state?.clientId;
  const client = entities.Client ?? (name ? await provider.Client.find(name) : undefined);
  allowForms(ctx, formTargets(client, { ...params, ...begun }));
}
