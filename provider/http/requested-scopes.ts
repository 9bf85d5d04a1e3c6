import { decodeJwt } from 'jose';
import { type Client, type ClientContext, errors, type ProviderContext } from 'oidc-provider';
import type { ProviderServices } from '../context/context.js';
import { queryOf } from '../context/routes.js';

/**
 * Returns the scopes of an authorization request as they were sent; those of a pushed request, as it was
 * stored (RFC 9126 §2.2). oidc-provider removes some from its parameters.
 */
export function sentScopes(ctx: ProviderContext): readonly string[] {
  const scope = sentScope(ctx);
  return typeof scope === 'string' ? scope.split(' ').filter(Boolean) : [];
}

function sentScope({ oidc, originalUrl }: ProviderContext): unknown {
  const { PushedAuthorizationRequest: pushed } = oidc.entities;
  if (pushed && oidc.route !== 'pushed_authorization_request') {
    return decodeJwt(pushed.request).scope;
  }
  return oidc.body ? oidc.body.scope : new URLSearchParams(queryOf(originalUrl)).get('scope');
}

/**
 * Returns the function that leaves in a request the scopes that its Client may have: scopes of the service
 * that it does not list are ignored, as unknown ones are (OpenID Connect Core §3.1.2.1).
 */
export const assertScopes =
  (services: Pick<ProviderServices, 'claims'>) =>
  (ctx: ClientContext, scope: string | undefined, client: Client): void => {
    const { params } = ctx.oidc;
    const listed = new Set(client.allowedScopes?.split(' '));
    const ofService = new Set(services.claims.scopes().map(({ name }) => name));
    const sent = new Set(scope?.split(' ').filter(Boolean));
    if (getsOfflineAccess(ctx, client)) sent.add('offline_access');
    const kept = [...sent].filter((name) => listed.has(name) || !ofService.has(name));
    params.scope = kept.length > 0 ? kept.join(' ') : undefined;
    requireOpenid(params, sent);
  };

/**
 * Returns true if a request for `offline_access` is granted without `prompt=consent`, which oidc-provider
 * demands of all: a Confidential Client proves who it is at each refresh. OpenID Connect Core §11 permits
 * other conditions.
 */
const getsOfflineAccess = (ctx: ClientContext, client: Client): boolean =>
  client.clientAuthMethod !== 'none' &&
  client.grantTypeAllowed('refresh_token') &&
  ctx.oidc.params.response_type === 'code' &&
  sentScopes(ctx).includes('offline_access');

/**
 * Throws unless openid is requested. Policy decides about it at each sign-in; without it a Client
 * would still learn the subject from introspection and logout tokens. It is added to a request for
 * a resource: its Client may know OAuth alone.
 */
function requireOpenid(
  params: { scope?: unknown; resource?: unknown },
  sent: ReadonlySet<string>,
): void {
  const kept = typeof params.scope === 'string' ? params.scope.split(' ') : [];
  if (kept.includes('openid')) return;
  if (sent.has('openid')) {
    throw new errors.InvalidScope('openid must be one of the scopes of the Client', 'openid');
  }
  if (sent.size === 0 || params.resource === undefined) {
    throw new errors.InvalidScope(
      'openid must be one of the requested scopes',
      sent.size > 0 ? [...sent].join(' ') : undefined,
    );
  }
  params.scope = ['openid', ...kept].join(' ');
}
