import {
  type Client,
  type ClientContext,
  type Configuration,
  errors,
  type Interaction,
  type KoaContext,
  type ProviderContext,
  type SignedInContext,
  type Token,
} from 'oidc-provider';
import { catalogs } from '../../i18n/languages.js';
import { pairwiseSubject } from '../../kinds/apps/client/subject-identifier.js';
import { clockTolerance, StoreAdapter } from '../adapter/adapter.js';
import { builtInClients } from '../adapter/built-in-clients.js';
import { beginInteraction } from '../adapter/interaction-record.js';
import { signingKeys } from '../adapter/signing-keys.js';
import { audienceClaims, findAccount } from '../claims/claims.js';
import { assertClaims, offeredAcrs } from '../context/acr.js';
import { currentBrowser } from '../context/browser-binding.js';
import type { ProviderServices } from '../context/context.js';
import { CookieSigner } from '../context/cookies.js';
import { routes } from '../context/routes.js';
import { renderError } from '../http/pages.js';
import { assertNothingTooLong } from '../http/request-bounds.js';
import { assertScopes } from '../http/requested-scopes.js';
import { loadExistingGrant } from '../interaction/load-grant.js';
import { interactionPrompts } from '../interaction/prompts.js';
import { providerFetch } from './client-documents.js';
import { features } from './features.js';
import { lifetimes } from './lifetimes.js';

const asymmetric = ['ES256', 'RS256', 'PS256', 'Ed25519', 'EdDSA'];

const clientAuthMethods = ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'];

const bodyLimit = 64 << 10;

/**
 * Returns the configuration of oidc-provider (docs/design/provider.md#library-settings gives the
 * reasons).
 */
export function configuration(services: ProviderServices): Configuration {
  return {
    adapter: (model: string) => new StoreAdapter(model, services),
    clients: builtInClients(services.settings),
    jwks: signingKeys(services.secrets.keys),
    routes,
    discovery: deploymentLinks(services),
    features: features(services),
    ttl: lifetimes(services.settings.limits),
    clockTolerance,
    cookies: cookieSettings(services),
    ...vocabulary(services),
    responseTypes: ['code', 'none'],
    extraParams: {
      vestibule_method: assertNothingTooLong,
      scope: assertScopes(services),
      code_challenge: assertCodeChallenge,
      claims: assertClaims,
    },
    pkce: { required: (_ctx: unknown, client: Client) => requiresChallenge(client) },
    clientAuthMethods,
    extraClientMetadata: {
      properties: ['allowedScopes', 'clientAssertionAudience', 'lifetimes', 'pkce', 'profile'],
    },
    enabledJWA: algorithms,
    allowOmittingSingleRegisteredRedirectUri: false,
    conformIdTokenClaims: false,
    enableHttpPostMethods: false,
    acceptQueryParamAccessTokens: false,
    subjectTypes: ['public', 'pairwise'],
    pairwiseIdentifier: async (_ctx: unknown, account: string, client: Client) =>
      pairwiseSubject(services.secrets.keys, client.sectorIdentifier ?? client.clientId, account),
    rotateRefreshToken,
    extraTokenClaims: async (ctx: ClientContext, token: Token) => ({
      ...(await audienceClaims(services, ctx, token)),
      ...signInClaims(ctx),
    }),
    fetch: providerFetch(services),
    fetchResponseBodyLimits: {
      jwks_uri: bodyLimit,
      sector_identifier_uri: bodyLimit,
      'client_id metadata document': bodyLimit,
    },
    clientBasedCORS: (_ctx: unknown, origin: string, client: Client) =>
      client.redirectUris.some((uri) => isOrigin(uri, origin)),
    assertJwtClientAuthClaimsAndHeader: assertAudience,
    findAccount: (ctx: ClientContext, sub: string, token?: Token) =>
      findAccount(services, ctx, sub, token),
    loadExistingGrant: (ctx: SignedInContext) => loadExistingGrant(services, ctx),
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
  dPoPSigningAlgValues: ['ES256', 'PS256', 'Ed25519', 'EdDSA'],
  requestObjectSigningAlgValues: asymmetric,
  userinfoSigningAlgValues: ['ES256', 'RS256'],
  introspectionSigningAlgValues: ['ES256', 'RS256'],
  authorizationSigningAlgValues: ['ES256', 'RS256'],
};

function cookieSettings(services: ProviderServices): Configuration {
  const { interaction, resume, session, secure } = services.pages.cookies;
  const options = { httpOnly: true, sameSite: 'lax', secure };
  return {
    names: { interaction, resume, session },
    long: { ...options },
    short: { ...options },
    keys: new CookieSigner(services.secrets.keys, services.pages.cookies, () =>
      currentBrowser(services.pages.cookies),
    ),
  };
}

/** Returns the links of the deployment (OpenID Connect Discovery §3); undefined ones are left out. */
function deploymentLinks({ pages }: Pick<ProviderServices, 'pages'>): Configuration {
  const { privacyPolicyURI, termsOfServiceURI } = pages.appearance.current.spec;
  return {
    op_policy_uri: privacyPolicyURI,
    op_tos_uri: termsOfServiceURI,
    prompt_values_supported: ['none', 'login', 'consent', 'select_account', 'create'],
    ui_locales_supported: Object.keys(catalogs),
    revocation_endpoint_auth_methods_supported: clientAuthMethods,
    introspection_endpoint_auth_methods_supported: clientAuthMethods.filter(
      (method) => method !== 'none',
    ),
  };
}

/** Returns scopes and claims. They are read once; a change of them needs a new Provider. */
function vocabulary(services: ProviderServices): Configuration {
  const scopes = services.claims.scopes();
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
 * Returns true if the refresh token is rotated. A token bound to its Client by a secret or a key is
 * rotated only in the last third of its life, so that a lost response does no harm (RFC 9700
 * §4.14.2). An unbound token of a Public Client is rotated at each use.
 */
function rotateRefreshToken(ctx: ProviderContext): boolean {
  const { RefreshToken: token, Client: client } = ctx.oidc.entities;
  if (!client || !token) return true;
  const isBound = client.clientAuthMethod !== 'none' || token.isSenderConstrained();
  return !isBound || token.ttlPercentagePassed() >= 70;
}

/**
 * Returns how and when the person of an access token signed in, as an introspection says it (RFC
 * 9470 §6.2).
 */
function signInClaims({ oidc }: ProviderContext): { acr?: string; auth_time?: number } {
  const { AuthorizationCode, RefreshToken, DeviceCode } = oidc.entities;
  const { acr, authTime } = AuthorizationCode ?? RefreshToken ?? DeviceCode ?? {};
  return {
    ...(acr !== undefined && { acr }),
    ...(authTime !== undefined && { auth_time: authTime }),
  };
}

/**
 * Throws for a Client that must use PKCE; oidc-provider asks only about requests without a challenge. Its
 * own error does not say what to set.
 */
function requiresChallenge({ pkce, clientAuthMethod }: Client): false {
  if (pkce === 'Optional') return false;
  throw new errors.InvalidRequest(
    clientAuthMethod === 'none'
      ? 'code_challenge is missing: a Public Client must use PKCE with S256'
      : 'code_challenge is missing: use PKCE with S256, or set spec.pkce of the Client to Optional',
  );
}

/**
 * Throws unless the challenge is a SHA-256 in base64url, 43 characters (RFC 7636 §4.2).
 * oidc-provider accepts up to 128 characters, which no verifier matches.
 */
function assertCodeChallenge(_ctx: unknown, challenge: string | undefined): void {
  if (challenge !== undefined && !/^[A-Za-z0-9_-]{43}$/.test(challenge)) {
    throw new errors.InvalidRequest(
      'code_challenge must have the 43 characters of a SHA-256 in base64url',
    );
  }
}

/**
 * Throws unless the audience of a client assertion is the issuer, as a single string: an assertion
 * with other audiences could be replayed from another server (RFC 7523bis). A Client may be permitted the
 * endpoint as well, which for a pushed request is either (RFC 9126 §2). With profile FAPI2, an assertion is not
 * of more than a minute ahead (FAPI 2.0 Security Profile §5.3.2.1).
 */
async function assertAudience(
  { oidc }: ClientContext,
  claims: { aud?: string | string[]; iat?: number },
): Promise<void> {
  const endpoints =
    oidc.client.clientAssertionAudience === 'TokenEndpoint'
      ? [oidc.urlFor('token'), oidc.urlFor(oidc.route)]
      : [];
  if (![oidc.issuer, ...endpoints].some((audience) => audience === claims.aud)) {
    throw new errors.InvalidClientAuth('audience');
  }
  if (oidc.client.profile === 'FAPI2' && Number(claims.iat ?? 0) > Date.now() / 1000 + 60) {
    throw new errors.InvalidClientAuth('iat is in the future');
  }
}
