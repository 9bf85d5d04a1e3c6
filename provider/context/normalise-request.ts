import type { IncomingMessage } from 'node:http';
import { type CookieNames, withoutAmbiguous } from './cookies.js';

/**
 * Rewrites a request in place, so that oidc-provider can trust its headers: with the configured host and
 * protocol and without forwarded ones (docs/design/provider.md#trusted-headers).
 */
export function normaliseRequest(
  request: IncomingMessage,
  baseURL: string,
  names: CookieNames,
): void {
  const base = new URL(baseURL);
  const {
    'x-forwarded-host': _host,
    'x-forwarded-for': _for,
    forwarded: _forwarded,
    cookie,
    ...rest
  } = request.headers;
  const unambiguousCookie = withoutAmbiguous(cookie, names);
  request.headers = {
    ...rest,
    host: base.host,
    'x-forwarded-proto': base.protocol.slice(0, -1),
    ...(unambiguousCookie !== undefined && { cookie: unambiguousCookie }),
  };
}
