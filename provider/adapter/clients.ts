import type { AdapterPayload, ClientMetadata, Client as LibraryClient } from 'oidc-provider';
import { builtInClients, Client } from '../../kinds/apps/client/client.js';
import { documentURL } from '../../kinds/apps/client/document-url.js';
import { isPrivateHTTP } from '../../kinds/apps/client/private-host.js';
import { idTokenAlgOf, pkceOf } from '../../kinds/apps/client/security-profile.js';
import type { Interaction } from '../../kinds/interaction/interaction.js';
import type { ObjectOf } from '../../registry/kind.js';
import { parseDuration } from '../../registry/schema/units.js';
import type { ClaimsServices, ClientObject, ProviderServices } from '../context/context.js';
import { requestState } from '../context/current-request.js';
import { withProviderErrors } from '../context/errors.js';
import { StateKey } from '../context/request-state.js';
import { builtInNames, deviceGrant } from './built-in-clients.js';
import { secretMarker } from './client-secret.js';

/** The Clients that this request has read, by name. */
const clients = new StateKey<Map<string, ClientObject | undefined>>();

/**
 * Returns the latest Client object of a client_id, read once a request; undefined for a Client with a
 * metadata document.
 */
export async function clientObject(
  services: ProviderServices,
  name: string,
): Promise<ClientObject | undefined> {
  if (builtInClients.has(name) || !/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(name)) {
    return undefined;
  }
  const known = requestState().mapOf(clients);
  if (known.has(name)) return known.get(name);
  const found = await withProviderErrors(services.store.reader(Client).get(name));
  known.set(name, found);
  return found;
}

/** Returns the RFC 7591 metadata of a Client, or undefined if it does not exist. */
export async function findClient(
  services: ProviderServices,
  name: string,
): Promise<AdapterPayload | undefined> {
  const client = await clientObject(services, name);
  return client && metadataOf(client, knownScopes(services), services.settings);
}

/** What knows the scopes. */
export interface ScopedServices {
  readonly claims: Pick<ClaimsServices, 'scopes'>;
}

/** Returns the scopes that a Client may request if it lists them. */
export const knownScopes = (services: ScopedServices): ReadonlySet<string> =>
  new Set(
    services.claims
      .scopes()
      .filter((scope) => !scope.onlyFor)
      .map((scope) => scope.name),
  );

/** The parts of a Client that its metadata comes from; one with a metadata document has no secrets. */
type ClientParts = Pick<ClientObject, 'spec'> &
  Partial<Pick<ClientObject, 'internal'>> & { readonly metadata: { readonly name: string } };

type UsedSettings = Pick<
  ProviderServices['settings'],
  'deviceAuthorization' | 'allowPrivateHTTPRedirects'
>;

/**
 * Returns a Client object as client metadata (RFC 7591). Leaves out unknown scopes, the device grant if
 * device authorization is off, and redirects that the settings no longer permit; oidc-provider would refuse the whole client for them.
 */
export function metadataOf(
  client: ClientParts,
  known: ReadonlySet<string>,
  { deviceAuthorization, allowPrivateHTTPRedirects }: UsedSettings,
): ClientMetadata {
  const { spec } = client;
  const isPermitted = (uri: string): boolean => allowPrivateHTTPRedirects || !isPrivateHTTP(uri);
  const codes =
    spec.redirectURIs.some(isPermitted) && spec.grantTypes.includes('authorization_code');
  const scopes = spec.scopes.map((scope) => scope.name).filter((scope) => known.has(scope));
  const method =
    spec.tokenEndpointAuthMethod ?? (spec.type === 'Public' ? 'none' : 'client_secret_basic');
  const hashes = [
    ...(client.internal?.secrets ?? []).map((secret) => secret.hash),
    ...(spec.secretHashes ?? []),
  ];
  return {
    client_id: client.metadata.name,
    client_name: spec.displayName,
    redirect_uris: codes ? spec.redirectURIs.filter(isPermitted) : [],
    post_logout_redirect_uris: spec.postLogoutRedirectURIs.filter(isPermitted),
    application_type: spec.applicationType,
    subject_type: spec.subjectType,
    response_types: codes ? ['code'] : [],
    response_modes: ['query', 'form_post'],
    grant_types: spec.grantTypes.filter(
      (type) =>
        (codes || type !== 'authorization_code') && (deviceAuthorization || type !== deviceGrant),
    ),
    // Not as `scope`, for which oidc-provider refuses a request for any other.
    allowedScopes: scopes.length > 0 ? scopes.join(' ') : 'openid',
    token_endpoint_auth_method: method,
    ...(method.startsWith('client_secret') && { client_secret: secretMarker(hashes) }),
    ...(spec.jwks && { jwks: spec.jwks }),
    ...(spec.jwksURI && { jwks_uri: spec.jwksURI }),
    ...(spec.requirePushedAuthorizationRequests && { require_pushed_authorization_requests: true }),
    ...(spec.dpopBoundAccessTokens && { dpop_bound_access_tokens: true }),
    ...(spec.tokenEndpointAuthSigningAlg && {
      token_endpoint_auth_signing_alg: spec.tokenEndpointAuthSigningAlg,
    }),
    pkce: pkceOf(spec),
    ...(spec.clientAssertionAudience && { clientAssertionAudience: spec.clientAssertionAudience }),
    ...(spec.profile && { profile: spec.profile }),
    id_token_signed_response_alg: idTokenAlgOf(spec),
    ...(spec.lifetimes && { lifetimes: spec.lifetimes }),
    ...(spec.lifetimes?.signIn !== undefined && {
      default_max_age: parseDuration(spec.lifetimes.signIn) / 1000,
    }),
    ...(spec.backchannelLogoutURI && {
      backchannel_logout_uri: spec.backchannelLogoutURI,
      backchannel_logout_session_required: true,
    }),
    ...(spec.homepageURI && { client_uri: spec.homepageURI }),
    ...(spec.privacyPolicyURI && { policy_uri: spec.privacyPolicyURI }),
    ...(spec.termsOfServiceURI && { tos_uri: spec.termsOfServiceURI }),
    ...(spec.logoURI && { logo_uri: spec.logoURI }),
  };
}

/**
 * Returns the display name of a Client, also by language if it has such. That of a Client with a
 * metadata document is the host, because anyone can choose the name in the document.
 */
export async function clientNames(
  services: ProviderServices,
  name: string,
): Promise<Pick<Summary, 'displayName' | 'displayNames'>> {
  const builtIn = builtInNames.get(name);
  if (builtIn) return builtIn;
  const document = documentURL(name);
  if (document) return { displayName: document.host };
  const spec = (await clientObject(services, name))?.spec;
  return {
    displayName: spec?.displayName ?? name,
    ...(spec?.displayNames && { displayNames: spec.displayNames }),
  };
}

type Summary = ObjectOf<typeof Interaction>['status']['client'];

/**
 * Returns the Client as a sign-in page shows it. `client` is the library's Client, which has what a
 * metadata document says, and `redirectURI` is that of the request.
 */
export async function clientSummary(
  services: ProviderServices,
  name: string,
  client: LibraryClient | undefined,
  redirectURI: string | undefined,
): Promise<Summary> {
  const document = documentURL(name);
  if (document) return documentSummary(document, client, redirectURI);
  const spec = (await clientObject(services, name))?.spec;
  const optional = {
    logoURI: spec?.logoURI,
    homepageURI: spec?.homepageURI,
    initiateLoginURI: spec?.initiateLoginURI,
    privacyPolicyURI: spec?.privacyPolicyURI,
    termsOfServiceURI: spec?.termsOfServiceURI,
  };
  const given = Object.fromEntries(
    Object.entries(optional).filter(([, value]) => value !== undefined),
  );
  return {
    name,
    ...(await clientNames(services, name)),
    ...given,
    firstParty: spec?.firstParty ?? builtInClients.get(name)?.firstParty ?? false,
  };
}

/** Returns a Client with a metadata document as a sign-in page shows it: without its logo. */
function documentSummary(
  { href, host }: URL,
  client: LibraryClient | undefined,
  redirectURI: string | undefined,
): Summary {
  const redirect = URL.parse(redirectURI ?? '');
  const redirectHost = redirect?.host || redirect?.protocol;
  const declared = {
    redirectHost: redirectHost === host ? undefined : redirectHost,
    declaredName: client?.clientName === host ? undefined : client?.clientName,
    homepageURI: client?.clientUri,
    privacyPolicyURI: client?.policyUri,
    termsOfServiceURI: client?.tosUri,
  };
  const given = Object.entries(declared).filter(([, value]) => value !== undefined);
  return { name: href, displayName: host, ...Object.fromEntries(given), firstParty: false };
}
