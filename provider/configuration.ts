import { errors, type Client, type Configuration, type Interaction, type KoaContext, type ProviderContext, type Token } from 'oidc-provider';
import { clockTolerance, StoreAdapter } from './adapter.js';
import { emailed, phishingResistant } from '../kinds/assurance.js';
import { pairwiseSubject } from '../kinds/subject.js';
import { builtInClients } from './builtin.js';
import { findAccount } from './claims.js';
import { CookieSigner } from './cookies.js';
import { features } from './features.js';
import { libraryFetch } from './fetch.js';
import type { Foundation } from './foundation.js';
import { loadExistingGrant } from './grants.js';
import { beginInteraction } from './interactions.js';
import { signingKeys } from './keyset.js';
import { lifetimes } from './lifetimes.js';
import { renderError } from './pages.js';
import { interactionPrompts } from './signin.js';

/** Where the provider answers (`provider.md` 1). */
export const routes = {
  authorization: '/oauth2/auth', token: '/oauth2/token', userinfo: '/oauth2/userinfo', jwks: '/oauth2/jwks', revocation: '/oauth2/revoke',
  introspection: '/oauth2/introspect', pushed_authorization_request: '/oauth2/par', device_authorization: '/oauth2/device/auth',
  code_verification: '/oauth2/device', end_session: '/oauth2/logout',
};

const asymmetric = ['ES256', 'RS256', 'PS256', 'Ed25519', 'EdDSA'];
const bodyLimit = 64 << 10;

/** Everything the library is told; each line is a rule of `provider.md` 3. */
export function configuration(on: Foundation): Configuration {
  return {
    adapter: (model: string) => new StoreAdapter(model, on),
    clients: builtInClients(on.settings.baseURL),
    jwks: signingKeys(on.keys),
    routes, features: features(on), ttl: lifetimes, clockTolerance,
    cookies: cookieSettings(on),
    ...vocabulary(on),
    responseTypes: ['code', 'none'],
    pkce: { required: () => true },
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    enabledJWA: algorithms,
    allowOmittingSingleRegisteredRedirectUri: false, conformIdTokenClaims: false,
    enableHttpPostMethods: false, acceptQueryParamAccessTokens: false,
    subjectTypes: ['public', 'pairwise'],
    pairwiseIdentifier: async (_ctx: unknown, account: string, client: Client) => pairwiseSubject(on.keys, client.sectorIdentifier ?? client.clientId, account),
    rotateRefreshToken,
    fetch: libraryFetch(on.fetch),
    fetchResponseBodyLimits: { jwks_uri: bodyLimit, sector_identifier_uri: bodyLimit },
    clientBasedCORS: (_ctx: unknown, origin: string, client: Client) => client.redirectUris.some((uri) => isOrigin(uri, origin)),
    assertJwtClientAuthClaimsAndHeader: assertAudience,
    findAccount: (ctx: ProviderContext, sub: string, token?: Token) => findAccount(on, ctx, sub, token),
    loadExistingGrant: (ctx: ProviderContext) => loadExistingGrant(on, ctx),
    renderError: (ctx: KoaContext, out: { error: string }) => renderError(on, ctx, out),
    interactions: { policy: interactionPrompts(on), url: (ctx: ProviderContext, interaction: Interaction) => beginInteraction(on, ctx, interaction) },
  };
}

const algorithms = {
  idTokenSigningAlgValues: ['ES256', 'RS256'], clientAuthSigningAlgValues: asymmetric, dPoPSigningAlgValues: ['ES256', 'Ed25519', 'EdDSA'],
  requestObjectSigningAlgValues: asymmetric, userinfoSigningAlgValues: ['ES256', 'RS256'], introspectionSigningAlgValues: ['ES256', 'RS256'], authorizationSigningAlgValues: ['ES256', 'RS256'],
};

function cookieSettings(on: Foundation): Configuration {
  const { interaction, resume, session, secure } = on.cookies;
  const options = { httpOnly: true, sameSite: 'lax', secure };
  return { names: { interaction, resume, session }, long: { ...options }, short: { ...options }, keys: new CookieSigner(on.keys) };
}

/** Scopes and claims, read once: a change of them needs a second Provider. */
function vocabulary(on: Foundation): Configuration {
  const scopes = on.scopes();
  const claims = Object.fromEntries(scopes.filter((scope) => scope.claims.length > 0).map((scope) => [scope.name, scope.claims.map((claim) => claim.name)]));
  return { scopes: scopes.map((scope) => scope.name), claims: { ...claims, openid: ['sub', 'acr', 'amr', 'auth_time'] }, acrValues: [phishingResistant, emailed] };
}

const isOrigin = (uri: string, origin: string): boolean => {
  const url = new URL(uri);
  return ['https:', 'http:'].includes(url.protocol) && url.origin === origin;
};

/** Each use rotates it; one bound to a key only when 70 % of its life is over. */
function rotateRefreshToken(ctx: ProviderContext): boolean {
  const token: Token = ctx.oidc.entities.RefreshToken!;
  return !token.isSenderConstrained() || token.ttlPercentagePassed() >= 70;
}

/** A client assertion is for the issuer or the token endpoint and for nothing else. */
async function assertAudience(ctx: ProviderContext, claims: { aud?: string | string[] }): Promise<void> {
  const accepted = [ctx.oidc.issuer, ctx.oidc.urlFor('token')];
  if (![claims.aud].flat().some((audience) => audience !== undefined && accepted.includes(audience))) throw new errors.InvalidClientAuth('audience');
}
