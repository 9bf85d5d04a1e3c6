import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Limits } from '../../registry/limit-settings.js';
import { perMinute, type Limit, type LimitOf } from '../../registry/rate-limit.js';
import { StatusError } from '../../registry/status.js';
import { routes } from '../context/routes.js';
import type { BuiltProvider } from '../context/built-provider.js';
import { UnitOfWork, inUnitOfWork } from '../context/unit-of-work.js';
import type { ProviderServices } from '../context/context.js';
import { secureHeaders } from './headers.js';
import { html } from './html.js';
import { normalise } from '../context/normalise-request.js';
import { page } from './pages.js';
import { isRepost, repost } from './post-to-get.js';
import { boundRequest, OverBound } from './request-bounds.js';
import { keepResponseMode } from './request-object.js';
import { sentenceFor } from './error-messages.js';
import { logRefusal } from './wrong-parameters.js';

/**
 * Limits of the endpoints that store something without a sign-in: requests by client network,
 * counted before anything is done.
 */
export const limited = new Map(
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

/** Bytes that are kept beside what a request says. */
const overhead = 2_048;

/** What is kept of requests, by client network: bytes in place of requests. */
export const keptBytes = ({
  signInBytesPerNetwork,
  signInBytesInAll,
  signInWindow,
}: Limits): Limit => ({
  name: 'sign-in-bytes',
  max: signInBytesPerNetwork,
  seconds: signInWindow / 1000,
  inAll: signInBytesInAll,
});

/**
 * Answers one request to the provider's own paths: our headers, a request the library may trust,
 * then the library in an unit of work; the name of the Client that it was about, where that is known.
 */
export async function answer(
  services: ProviderServices,
  { provider, callback }: BuiltProvider,
  request: IncomingMessage,
  response: ServerResponse,
  network: string | undefined,
): Promise<string | undefined> {
  try {
    secureHeaders(response, services.settings.baseURL);
    if (!request.url?.startsWith('/')) return void refuse(services, request, response, 400);
    normalise(request, services.settings.baseURL, services.cookies);
    const limit = limited.get(request.url.split('?')[0]!)?.(services.settings.limits);
    if (limit && !isRepost(request) && network !== undefined)
      await services.networkLimits?.spend(limit, network, Date.now());
    if (limit) {
      const bytes = await boundRequest(request, services.settings.limits);
      if (!isRepost(request) && network !== undefined)
        await services.networkLimits?.spend(
          keptBytes(services.settings.limits),
          network,
          Date.now(),
          bytes + overhead,
        );
    }
    if (isRepost(request))
      return (await repost(request, response))
        ? undefined
        : void refuse(services, request, response, 400);
    keepResponseMode(request);
    const unitOfWork = new UnitOfWork(services.store, {
      request,
      ...(network !== undefined && { network }),
    });
    await inUnitOfWork(unitOfWork, () => callback(request, response));
    return unitOfWork.client;
  } catch (error) {
    if (error instanceof OverBound && Object.keys(error.parameters).length > 0)
      logRefusal(
        services,
        'invalid_request',
        error.parameters,
        String(response.getHeader('Audit-ID') ?? ''),
      );
    if (error instanceof OverBound)
      return void refuse(services, request, response, 400, { description: error.message });
    if (error instanceof StatusError)
      return void refuse(services, request, response, error.code, {
        retryAfter: error.details?.retryAfterSeconds,
      });
    provider.emit('error', error);
    return void refuse(services, request, response, 500);
  }
}

const codes: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  429: 'slow_down',
  503: 'temporarily_unavailable',
};

/**
 * A short page for what never reaches the library; programs get the error's code. What is left of a
 * body is not read.
 */
function refuse(
  services: ProviderServices,
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  { retryAfter, description }: { retryAfter?: number; description?: string } = {},
): void {
  if (response.headersSent) return void response.destroy();
  if (!request.complete) response.shouldKeepAlive = false;
  const error = codes[status] ?? 'server_error';
  const { title, advice } = sentenceFor(error, status);
  const people = request.headers.accept?.includes('text/html');
  const body = people
    ? page(services, `Error: ${title}`, html`<p>${advice}</p>`, 'error')
    : JSON.stringify({ error, error_description: description ?? title });
  const type = people ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8';
  response
    .writeHead(status, {
      'Content-Type': type,
      'Content-Length': Buffer.byteLength(body),
      ...(retryAfter && { 'Retry-After': retryAfter }),
    })
    .end(body);
}
