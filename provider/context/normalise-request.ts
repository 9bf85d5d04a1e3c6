import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { withoutAmbiguous, type CookieNames } from './cookies.js';

/**
 * Headers in which Host and protocol are the configured ones and nothing forwarded is left to
 * believe (docs/design/provider.md#trusted-headers).
 */
function ownHeaders(headers: IncomingHttpHeaders, baseURL: string): IncomingHttpHeaders {
  const base = new URL(baseURL);
  const {
    'x-forwarded-host': _host,
    'x-forwarded-for': _for,
    forwarded: _forwarded,
    ...rest
  } = headers;
  return { ...rest, host: base.host, 'x-forwarded-proto': base.protocol.slice(0, -1) };
}

/** Makes a request, in place, what the library may trust. */
export function normalise(request: IncomingMessage, baseURL: string, names: CookieNames): void {
  const { cookie, ...headers } = ownHeaders(request.headers, baseURL);
  const kept = withoutAmbiguous(cookie, names);
  request.headers = { ...headers, ...(kept !== undefined && { cookie: kept }) };
}

/** The same request seen with such headers, while anyone who else holds it keeps its own. */
export function rewriteToIssuer(request: IncomingMessage, baseURL: string): IncomingMessage {
  return Object.create(request, {
    headers: { value: ownHeaders(request.headers, baseURL), enumerable: true },
  }) as IncomingMessage;
}
