import type { IncomingMessage, ServerResponse } from 'node:http';
import { Translator } from '../../i18n/translator.js';
import { type LimitOf, perMinute } from '../../registry/limits/rate-limit.js';
import { StatusError } from '../../registry/status/status.js';
import { showRefusal } from '../../security/cross-origin.js';
import { prefersHTML } from '../../security/prefers-html.js';
import { storedBytesLimit } from '../adapter/attempt-limit.js';
import type { BuiltProvider } from '../context/built-provider.js';
import type { ProviderServices } from '../context/context.js';
import { inUnitOfWork } from '../context/current-request.js';
import { normaliseRequest } from '../context/normalise-request.js';
import { pathOf, routes } from '../context/routes.js';
import { UnitOfWork } from '../context/unit-of-work.js';
import { requestClient } from './commit-middleware.js';
import { errorMessage } from './error-messages.js';
import { secureHeaders } from './headers.js';
import { rememberLanguage } from './language.js';
import { errorPage } from './pages.js';
import { isPostToRedirect, redirectToGet } from './post-to-get.js';
import { knownClient } from './refusals.js';
import { remedyOf } from './remedies.js';
import { applyRequestBounds, RequestBoundsError } from './request-bounds.js';
import { keepResponseMode } from './request-object.js';
import { logIgnoredParameters, logRefusal } from './wrong-parameters.js';

/**
 * Request limits by client network for endpoints that store something without a sign-in; counted
 * before any other work.
 */
export const requestLimits = new Map(
  [
    routes.authorization,
    routes.device_authorization,
    routes.pushed_authorization_request,
    routes.code_verification,
    routes.end_session,
  ].map((path): [string, LimitOf] => [
    path,
    perMinute(path.slice('/oauth2/'.length).replace('/', '-'), 'requestsPerNetwork'),
  ]),
);

/** The bytes stored for each request in addition to its parameters. */
const recordOverheadBytes = 2_048;

/**
 * Serves one request to the provider's paths: sets headers, normalises the request, and runs
 * oidc-provider in a unit of work. Returns the name of the request's Client, if known.
 */
export async function handleRequest(
  services: ProviderServices,
  { provider, callback }: BuiltProvider,
  request: IncomingMessage,
  response: ServerResponse,
  network: string | undefined,
): Promise<string | undefined> {
  try {
    secureHeaders(response, services.settings.baseURL);
    rememberLanguage(request, response, services.settings.baseURL.startsWith('https:'));
    if (!request.url?.startsWith('/')) return void sendError(services, request, response, 400);
    normaliseRequest(request, services.settings.baseURL, services.pages.cookies);
    const limit =
      request.method === 'OPTIONS' // A preflight stores nothing.
        ? undefined
        : requestLimits.get(pathOf(request))?.(services.settings.limits);
    if (limit && !isPostToRedirect(request) && network !== undefined) {
      await services.store.networkLimits.spend(limit, network, Date.now());
    }
    if (limit) {
      const { bytes, ignored } = await applyRequestBounds(request, services.settings.limits);
      if (ignored.length > 0) logIgnoredParameters(services, ignored, auditIDOf(response));
      if (!isPostToRedirect(request) && network !== undefined) {
        await services.store.networkLimits.spend(
          storedBytesLimit(services.settings.limits),
          network,
          Date.now(),
          bytes + recordOverheadBytes,
        );
      }
    }
    if (isPostToRedirect(request)) {
      return (await redirectToGet(request, response))
        ? undefined
        : void sendError(services, request, response, 400);
    }
    keepResponseMode(request);
    const unitOfWork = new UnitOfWork(services.store, {
      request,
      auditID: auditIDOf(response),
      ...(network !== undefined && { network }),
    });
    await inUnitOfWork(unitOfWork, () => callback(request, response));
    return unitOfWork.state.get(requestClient);
  } catch (error) {
    if (error instanceof RequestBoundsError) {
      await logTooLong(services, request, response, error);
      return void sendError(services, request, response, 400, { description: error.message });
    }
    if (error instanceof StatusError) {
      return void sendError(services, request, response, error.code, {
        retryAfter: error.details?.retryAfterSeconds,
      });
    }
    provider.emit('error', error);
    return void sendError(services, request, response, 500);
  }
}

/** Logs a request that is too long, with the endpoint and the Client that it names. */
async function logTooLong(
  services: ProviderServices,
  request: IncomingMessage,
  response: ServerResponse,
  { message, parameters, clientID }: RequestBoundsError,
): Promise<void> {
  const path = pathOf(request);
  logRefusal(services, {
    client: await knownClient(services, clientID),
    endpoint: Object.entries(routes).find(([, route]) => route === path)?.[0],
    error: 'invalid_request',
    reason: message,
    remedy: remedyOf(message),
    parameters,
    auditID: auditIDOf(response),
  });
}

const auditIDOf = (response: ServerResponse): string =>
  String(response.getHeader('Audit-ID') ?? '');

const english = new Translator(['en']);

const codes: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  429: 'slow_down',
  503: 'temporarily_unavailable',
  504: 'temporarily_unavailable',
};

/**
 * Sends an error that oidc-provider does not handle: a page for browsers, the error code for
 * programs. Does not read the rest of the body.
 */
function sendError(
  services: ProviderServices,
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  { retryAfter, description }: { retryAfter?: number; description?: string } = {},
): void {
  if (response.headersSent) return void response.destroy();
  if (!request.complete) response.shouldKeepAlive = false;
  showRefusal(request, response);
  const error = codes[status] ?? 'server_error';
  const { title } = errorMessage(error, status);
  const people = prefersHTML(request.headers.accept);
  const body = people
    ? errorPage(services, status, auditIDOf(response), request)
    : JSON.stringify({ error, error_description: description ?? english.text(title) });
  const type = people ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8';
  response
    .writeHead(status, {
      'Content-Type': type,
      'Content-Length': Buffer.byteLength(body),
      ...(retryAfter && { 'Retry-After': retryAfter }),
    })
    .end(body);
}
