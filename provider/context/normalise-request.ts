import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { type CookieNames, withoutAmbiguous } from './cookies.js';

/**
 * Returns the headers with the configured host and protocol and without forwarded ones
 * (docs/design/provider.md#trusted-headers).
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

/** Rewrites a request in place, so that oidc-provider can trust its headers. */
export function normaliseRequest(
  request: IncomingMessage,
  baseURL: string,
  names: CookieNames,
): void {
  const { cookie, ...headers } = ownHeaders(request.headers, baseURL);
  const unambiguousCookie = withoutAmbiguous(cookie, names);
  request.headers = {
    ...headers,
    ...(unambiguousCookie !== undefined && { cookie: unambiguousCookie }),
  };
}

/** Returns a view of the request with rewritten headers; the original is unchanged. */
export function rewriteToIssuer(request: IncomingMessage, baseURL: string): IncomingMessage {
  return Object.create(request, {
    headers: { value: ownHeaders(request.headers, baseURL), enumerable: true },
  }) as IncomingMessage;
}
