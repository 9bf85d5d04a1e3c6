import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Limit } from '../registry/limits.js';
import { StatusError } from '../registry/status.js';
import { routes } from './configuration.js';
import type { Made } from './create.js';
import { Exchange, inExchange } from './exchange.js';
import type { Foundation } from './foundation.js';
import { secureHeaders } from './headers.js';
import { html } from './html.js';
import { normalise } from './normalise.js';
import { page } from './pages.js';
import { isRepost, repost } from './repost.js';
import { sentenceFor } from './sentences.js';

/** What stores something for whoever asks, counted by client network before anything is done. */
const limited = new Map([routes.authorization, routes.device_authorization, routes.pushed_authorization_request, routes.code_verification, routes.end_session]
  .map((path): [string, Limit] => [path, { name: path.slice('/oauth2/'.length).replace('/', '-'), most: 120, seconds: 60 }]));

/** Answers one request to the provider's own paths: our headers, a request the library may trust, then the library in an exchange; the name of the Client that it was about, where that is known. */
export async function answer(on: Foundation, { provider, callback }: Made, request: IncomingMessage, response: ServerResponse, network: string | undefined): Promise<string | undefined> {
  try {
    secureHeaders(response, on.settings.baseURL);
    if (!request.url?.startsWith('/')) return void refuse(on, request, response, 400);
    normalise(request, on.settings.baseURL, on.cookies);
    if (isRepost(request)) return await repost(request, response) ? undefined : void refuse(on, request, response, 400);
    const limit = limited.get(request.url.split('?')[0]!);
    if (limit && network !== undefined) await on.networkLimits?.spend(limit, network, Date.now());
    const exchange = new Exchange(on.store, { request, ...(network !== undefined && { network }) });
    await inExchange(exchange, () => callback(request, response));
    return exchange.client;
  } catch (error) {
    if (error instanceof StatusError) return void refuse(on, request, response, error.code, error.details?.retryAfterSeconds);
    provider.emit('error', error);
    return void refuse(on, request, response, 500);
  }
}

const codes: Readonly<Record<number, string>> = { 400: 'invalid_request', 429: 'slow_down', 503: 'temporarily_unavailable' };

/** A short page for what never reaches the library; programs get the error's code. What is left of a body is not read. */
function refuse(on: Foundation, request: IncomingMessage, response: ServerResponse, status: number, retryAfter?: number): void {
  if (response.headersSent) return void response.destroy();
  if (!request.complete) response.shouldKeepAlive = false;
  const error = codes[status] ?? 'server_error';
  const { title, advice } = sentenceFor(error, status);
  const people = request.headers.accept?.includes('text/html');
  const body = people ? page(on, `Error: ${title}`, html`<p>${advice}</p>`, 'error') : JSON.stringify({ error, error_description: title });
  const type = people ? 'text/html; charset=utf-8' : 'application/json; charset=utf-8';
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body), ...(retryAfter && { 'Retry-After': retryAfter }) }).end(body);
}
