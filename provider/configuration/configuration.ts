import {
  errors,
  type Client,
  type Configuration,
  type Interaction,
  type KoaContext,
  type ProviderContext,
  type Token,
} from 'oidc-provider';
import { assertClaims, offeredAcrs } from '../context/acr.js';
import { clockTolerance, StoreAdapter } from '../adapter/adapter.js';
import { pairwiseSubject } from '../../kinds/client/subject-identifier.js';
import { builtInClients } from '../adapter/built-in-clients.js';
import { findAccount } from '../claims/claims.js';
import { CookieSigner } from '../context/cookies.js';
import { currentBrowser } from '../context/browser-binding.js';
import { features } from './features.js';
import { libraryFetch } from '../context/egress-fetch.js';
import type { ProviderServices } from '../context/context.js';
import { loadExistingGrant } from '../interaction/load-grant.js';
import { beginInteraction } from '../adapter/interaction-record.js';
import { signingKeys } from '../adapter/signing-keys.js';
import { lifetimes } from './lifetimes.js';
import { renderError } from '../http/pages.js';
import { interactionPrompts } from '../interaction/prompts.js';
import { routes } from '../context/routes.js';

const asymmetric = ['ES256', 'RS256', 'PS256', 'Ed25519', 'EdDSA'];

const bodyLimit = 64 << 10;

/** Everything the library is told, with the reasons in docs/design/provider.md#library-settings. */
export function configuration(services: ProviderServices): Configuration {
  return {
    adapter: (model: string) => new StoreAdapter(model, services),
    clients: builtInClients(services.settings),
    jwks: signingKeys(services.keys),
    routes,
    features: features(services),
    ttl: lifetimes(services.settings.limits),
    clockTolerance,
    cookies: cookieSettings(services),
    ...vocabulary(services),
    responseTypes: ['code', 'none'],
    extraParams: {
      vestibule_method: undefined,
      code_challenge: assertChallenge,
      claims: assertClaims,
    },
    pkce: { required: (_ctx: unknown, client: Client) => client.pkce !== 'Optional' },
    clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'],
    clientDefaults: { id_token_signed_response_alg: 'ES256' },
    extraClientMetadata: { properties: ['lifetimes', 'pkce', 'profile'] },
    enabledJWA: algorithms,
    allowOmittingSingleRegisteredRedirectUri: false,
    conformIdTokenClaims: false,
    enableHttpPostMethods: false,
    acceptQueryParamAccessTokens: false,
    subjectTypes: ['public', 'pairwise'],
    pairwiseIdentifier: async (_ctx: unknown, account: string, client: Client) =>
      pairwiseSubject(services.keys, client.sectorIdentifier ?? client.clientId, account),
    rotateRefreshToken,
    fetch: libraryFetch(services.fetch),
    fetchResponseBodyLimits: { jwks_uri: bodyLimit, sector_identifier_uri: bodyLimit },
    clientBasedCORS: (_ctx: unknown, origin: string, client: Client) =>
      client.redirectUris.some((uri) => isOrigin(uri, origin)),
    assertJwtClientAuthClaimsAndHeader: assertAudience,
    findAccount: (ctx: ProviderContext, sub: string, token?: Token) =>
      findAccount(services, ctx, sub, token),
    loadExistingGrant: (ctx: ProviderContext) => loadExistingGrant(services, ctx),
    renderError: (ctx: KoaContext, out: { error: string; error_description?: string }) =>
      renderError(services, ctx, out),
    interactions: {
      policy: interactionPrompts(services),
      url: (ctx: ProviderContext, interaction: Interaction) =>
        beginInteraction(services, ctx, interaction),
    },
  };
}

const algorithms = {
  idTokenSigningAlgValues: ['ES256', 'RS256'],
  clientAuthSigningAlgValues: asymmetric,
  dPoPSigningAlgValues: ['ES256', 'Ed25519', 'EdDSA'],
  requestObjectSigningAlgValues: asymmetric,
  userinfoSigningAlgValues: ['ES256', 'RS256'],
  introspectionSigningAlgValues: ['ES256', 'RS256'],
  authorizationSigningAlgValues: ['ES256', 'RS256'],
};

function cookieSettings(services: ProviderServices): Configuration {
  const { interaction, resume, session, secure } = services.cookies;
  const options = { httpOnly: true, sameSite: 'lax', secure };
  return {
    names: { interaction, resume, session },
    long: { ...options },
    short: { ...options },
    keys: new CookieSigner(services.keys, services.cookies, () => currentBrowser(services.cookies)),
  };
}

/** Scopes and claims, read once: a change of them needs a second Provider. */
function vocabulary(services: ProviderServices): Configuration {
  const scopes = services.scopes();
  const claims = Object.fromEntries(
    scopes
      .filter((scope) => scope.claims.length > 0)
      .map((scope) => [scope.name, scope.claims.map((claim) => claim.name)]),
  );
  return {
    scopes: scopes.map((scope) => scope.name),
    claims: { ...claims, openid: ['sub', 'acr', 'amr', 'auth_time'] },
    acrValues: offeredAcrs(services.settings),
  };
}

const isOrigin = (uri: string, origin: string): boolean => {
  const url = new URL(uri);
  return ['https:', 'http:'].includes(url.protocol) && url.origin === origin;
};

/**
 * Whether a refresh token is replaced as it is used. One that only its Client can use, by a secret
 * or a key, is replaced in the last third of its life alone, so that an answer which is lost costs
 * nothing (RFC 9700 4.14.2); what a Public Client holds unbound is replaced at each use.
 */
function rotateRefreshToken(ctx: ProviderContext): boolean {
  const { RefreshToken: token, Client: client } = ctx.oidc.entities;
  const isBound = client!.clientAuthMethod !== 'none' || token!.isSenderConstrained();
  return !isBound || token!.ttlPercentagePassed() >= 70;
}

/**
 * A challenge is a SHA-256 in base64url (RFC 7636 4.2), which has 43 characters: the library takes
 * up to 128, none of which any verifier matches.
 */
function assertChallenge(_ctx: unknown, challenge: string | undefined): void {
  if (challenge !== undefined && !/^[A-Za-z0-9_-]{43}$/.test(challenge))
    throw new errors.InvalidRequest(
      'code_challenge must have the 43 characters of a SHA-256 in base64url',
    );
}

/**
 * A client assertion is for the issuer alone, and says so in one string: another audience could be
 * another server's (RFC 7523bis).
 */
async function assertAudience(
  ctx: ProviderContext,
  claims: { aud?: string | string[] },
): Promise<void> {
  if (claims.aud !== ctx.oidc.issuer) throw new errors.InvalidClientAuth('audience');
}
