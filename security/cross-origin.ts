import type { IncomingMessage, ServerResponse } from 'node:http';

/** The endpoints of the provider that pages of Clients may call. */
const endpoints: ReadonlySet<string> = new Set([
  '/.well-known/openid-configuration',
  '/.well-known/oauth-authorization-server',
  '/oauth2/token',
  '/oauth2/userinfo',
  '/oauth2/jwks',
  '/oauth2/revoke',
  '/oauth2/introspect',
  '/oauth2/par',
  '/oauth2/device/auth',
]);

/**
 * Lets every page read a refusal of such an endpoint that is sent before its Client is known. It says nothing
 * of a person, and the page sees what is wrong and when to try again.
 */
export function showRefusal({ url = '' }: IncomingMessage, response: ServerResponse): void {
  if (!endpoints.has(url.split('?')[0]!) || response.hasHeader('Access-Control-Allow-Origin')) {
    return;
  }
  response.setHeader('Access-Control-Allow-Origin', '*');
  response.setHeader('Access-Control-Expose-Headers', 'Retry-After,WWW-Authenticate');
}
