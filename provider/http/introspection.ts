import { type JWTPayload, errors as joseErrors, jwtVerify } from 'jose';
import type { Client, ClientContext, KoaContext, Provider, Token } from 'oidc-provider';
import { grantedScopesOf } from '../../kinds/apps/audience/grant-audiences.js';
import { accountObject } from '../adapter/accounts.js';
import { audienceOf } from '../adapter/audiences.js';
import type { ProviderServices } from '../context/context.js';
import { errorOf } from '../context/response.js';
import { currentGrant } from '../interaction/load-grant.js';

/** What a token says of whom and what it is for. */
type Introspected = Pick<Token, 'clientId' | 'accountId' | 'aud' | 'scope'>;

/**
 * Returns whether a Confidential Client may introspect a token (RFC 7662): one that was issued to
 * it, or one for an Audience that it introspects. Tokens of accounts that cannot sign in, tokens of
 * Clients that cannot be used any more, and tokens for an Audience that the Client or the person has
 * given up, are inactive for everyone. A JWT with a pairwise subject does not lead to the account; it is as valid
 * as its signature says.
 */
export async function mayIntrospect(
  services: ProviderServices,
  provider: Provider,
  client: Client,
  token: Introspected,
): Promise<boolean> {
  const isOwn = token.clientId === client.clientId;
  const { accountId } = token;
  if (client.clientAuthMethod === 'none') return false;
  if (accountId !== undefined && !(await accountObject(services, accountId))) return false;
  if (token.aud === undefined) return isOwn;
  const audience = await audienceOf(services, token.clientId, token.aud);
  const mayAsk = isOwn || audience?.spec.introspectors?.includes(client.clientId);
  if (!audience || !mayAsk) return false;
  if (!(await provider.Client.find(token.clientId))) return false;
  if (accountId === undefined) return true;
  const grant = await currentGrant(services, accountId, token.clientId);
  const agreed = new Set(grant && grantedScopesOf(grant, audience));
  return token.scope?.split(' ').every((scope) => agreed.has(scope)) ?? false;
}

/** Whether a Client introspects a token. */
const isIntrospection = (ctx: KoaContext): ctx is ClientContext =>
  ctx.oidc?.route === 'introspection';

/**
 * Answers the introspection of a JWT (RFC 7662 §2.2), which oidc-provider refuses as malformed: an access
 * token for an Audience with what it contains, and any other as not active. Runs after oidc-provider, which
 * has authenticated the Client by then.
 */
export async function introspectJWT(
  services: ProviderServices,
  provider: Provider,
  ctx: KoaContext,
): Promise<void> {
  if (errorOf(ctx.body) !== 'unsupported_token_type' || !isIntrospection(ctx)) return;
  const { client, params, entities } = ctx.oidc;
  ctx.status = 200;
  ctx.body = { active: false };
  const claims = await verifyAccessToken(services, String(params.token));
  const issuedTo = claims && (await provider.Client.find(String(claims.client_id)));
  if (!issuedTo) return;
  const token = {
    clientId: issuedTo.clientId,
    ...(issuedTo.subjectType === 'public' && { accountId: claims.sub ?? '' }),
    aud: String(claims.aud),
    scope: String(claims.scope ?? ''),
  };
  if (!(await mayIntrospect(services, provider, client, token))) return;
  // The event of the request names the account of this entity (events.ts).
  if (token.accountId) Object.assign(entities, { AccessToken: token });
  const { jti: _, ...shown } = await stillShared(services, claims, token);
  ctx.body = { active: true, ...shown, token_type: claims.cnf ? 'DPoP' : 'Bearer' };
}

/**
 * Returns the claims of a JWT without those of its Audience that belong to a scope which the person no longer
 * shares with its Client.
 */
async function stillShared(
  services: ProviderServices,
  claims: JWTPayload,
  { clientId, accountId, aud }: { clientId: string; accountId?: string; aud: string },
): Promise<JWTPayload> {
  const audience = await audienceOf(services, clientId, aud);
  if (accountId === undefined || !audience?.spec.claims) return claims;
  const shared = (await currentGrant(services, accountId, clientId))?.spec.scopes ?? [];
  const claimsOf = (isShared: boolean): string[] =>
    services.claims
      .scopes()
      .filter(({ name }) => name !== 'openid' && shared.includes(name) === isShared)
      .flatMap((scope) => scope.claims.map(({ name }) => name));
  const wanted = new Set(audience.spec.claims);
  const withdrawn = new Set(claimsOf(false).filter((name) => wanted.has(name)));
  for (const name of claimsOf(true)) withdrawn.delete(name);
  return Object.fromEntries(Object.entries(claims).filter(([name]) => !withdrawn.has(name)));
}

/**
 * Returns the claims of an access token of this service (RFC 9068 §4); undefined for any other, and after its
 * end. It may be for any Audience: mayIntrospect compares \`aud\`.
 */
async function verifyAccessToken(
  { secrets, settings }: Pick<ProviderServices, 'secrets' | 'settings'>,
  jwt: string,
): Promise<JWTPayload | undefined> {
  try {
    const { payload } = await jwtVerify(
      jwt,
      ({ kid }) => {
        const key = secrets.keys.signing.find((candidate) => candidate.kid === kid);
        if (!key) throw new joseErrors.JWKSNoMatchingKey();
        return key.publicKey;
      },
      { issuer: settings.baseURL, typ: 'at+jwt', algorithms: ['ES256', 'RS256'] },
    );
    return payload;
  } catch (error) {
    if (error instanceof joseErrors.JOSEError) return undefined;
    throw error;
  }
}
