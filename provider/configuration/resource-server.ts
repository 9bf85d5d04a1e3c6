import {
  type Client,
  type ClientContext,
  errors,
  type ResourceServer,
  type TokenContext,
} from 'oidc-provider';
import type { AudienceObject } from '../../kinds/apps/audience/audience.js';
import { grantedScopesOf } from '../../kinds/apps/audience/grant-audiences.js';
import { parseDuration } from '../../registry/schema/units.js';
import { audienceOf } from '../adapter/audiences.js';
import { apiAudience, commandClient } from '../adapter/built-in-clients.js';
import { isTokenRequest, type ProviderServices } from '../context/context.js';
import { decideAudience } from '../interaction/audience-consent.js';
import { signInOfGrant } from '../interaction/grant-sign-in.js';
import { currentGrant } from '../interaction/load-grant.js';

type Description = ConstructorParameters<typeof ResourceServer>[1];

/**
 * Returns the resource server that a request names (RFC 8707): this service's own API for the
 * command, else an Audience that the Client may request. Throws `invalid_target` for any other,
 * whether it exists or not, and if the person or policy permits none of its scopes any more.
 */
export async function resourceServer(
  services: ProviderServices,
  ctx: ClientContext,
  resource: string,
  client: Client,
): Promise<Description> {
  if (client.clientId === commandClient && resource === apiAudience(services.settings.baseURL)) {
    return { scope: 'api', audience: resource, accessTokenFormat: 'opaque' };
  }
  const audience = await audienceOf(services, client.clientId, resource);
  if (!audience) throw new errors.InvalidTarget();
  const { identifier, accessTokenFormat, tokenSigningAlg, accessTokenLifetime } = audience.spec;
  const scopes = isTokenRequest(ctx)
    ? await issuableScopes(services, ctx.oidc, audience)
    : requestableScopes(ctx.oidc, audience);
  return {
    scope: scopes.join(' '),
    audience: identifier,
    accessTokenTTL: parseDuration(accessTokenLifetime) / 1000,
    ...(accessTokenFormat === 'JWT'
      ? { accessTokenFormat: 'jwt', jwt: { sign: { alg: tokenSigningAlg } } }
      : { accessTokenFormat: 'opaque' }),
  };
}

/**
 * Returns the scopes of an Audience for an authorization request. Throws `invalid_scope` unless it
 * names one of them: a token without scope would still say who the person is.
 */
function requestableScopes(
  { params, requestParamScopes }: ClientContext['oidc'],
  { spec }: AudienceObject,
): string[] {
  const scopes = spec.scopes.map(({ name }) => name);
  if (!scopes.some((scope) => requestParamScopes.has(scope))) {
    throw new errors.InvalidScope(
      'a scope of each resource must be requested',
      typeof params.scope === 'string' ? params.scope : undefined,
    );
  }
  return scopes;
}

/**
 * Returns the scopes of an Audience that a token request may get now: requested, granted in the
 * library's copy and in the Grant itself, and permitted by policy with the facts of the original
 * sign-in. Throws `invalid_target` if there are none.
 */
async function issuableScopes(
  services: ProviderServices,
  oidc: TokenContext['oidc'],
  audience: AudienceObject,
): Promise<readonly string[]> {
  const { client, grant, account, params, entities } = oidc;
  const pair = { account: account.accountId, client: client.clientId };
  const source = entities.RefreshToken ?? entities.AuthorizationCode ?? entities.DeviceCode;
  const requested = new Set(
    params.scope === undefined ? source?.scope?.split(' ') : oidc.requestParamScopes,
  );
  const remembered = await currentGrant(services, pair.account, pair.client);
  const agreed = remembered ? grantedScopesOf(remembered, audience) : [];
  const granted = grant.getResourceScopeFiltered(audience.spec.identifier, requested).split(' ');
  const scopes = granted.filter((scope) => agreed.includes(scope));
  const signedIn = await signInOfGrant(services, pair.account, pair.client, grant.jti);
  const permitted = await decideAudience(services, { ...pair, signedIn }, { audience, scopes });
  if (permitted.scopes.length === 0) throw new errors.InvalidTarget();
  return permitted.scopes;
}
