import type { ServerResponse } from 'node:http';
import type { Client, KoaContext } from 'oidc-provider';
import { hsts } from '../../security/hsts.js';

const contentSecurityPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'";

/**
 * Sets the security headers. It runs before oidc-provider, which adds the hash of its own script to
 * them (docs/design/provider.md#pages).
 */
export function secureHeaders(response: ServerResponse, baseURL: string): void {
  response.setHeader('Content-Security-Policy', contentSecurityPolicy);
  response.setHeader('X-Content-Type-Options', 'nosniff');
  response.setHeader('Referrer-Policy', 'same-origin');
  response.setHeader('Cache-Control', 'no-store');
  const [name, value] = hsts(baseURL);
  if (name && value) response.setHeader(name, value);
}

/**
 * Returns the origins that a form may end at for a Client. Browsers apply `form-action` to the
 * whole redirect chain.
 */
export function formTargets(client: Client | undefined, params: Record<string, unknown>): string[] {
  if (!client) return [];
  const { redirect_uri: to, post_logout_redirect_uri: after } = params;
  const requestedUris = [
    ...(typeof to === 'string' && client.redirectUriAllowed(to) ? [to] : []),
    ...(typeof after === 'string' && client.postLogoutRedirectUriAllowed(after) ? [after] : []),
  ];
  const uris = [...client.redirectUris, ...client.postLogoutRedirectUris, ...requestedUris];
  const sources = uris.map((uri) => {
    const { origin, protocol } = new URL(uri);
    return origin === 'null' ? protocol : origin;
  });
  return [...new Set(sources)].slice(0, 100);
}

/** Adds the targets to the `form-action` directive of the response. */
export function allowForms(ctx: KoaContext, targets: readonly string[]): void {
  const policy = ctx.response.get('Content-Security-Policy');
  if (targets.length > 0) {
    ctx.set(
      'Content-Security-Policy',
      policy.replace("form-action 'self'", `form-action 'self' ${targets.join(' ')}`),
    );
  }
}
