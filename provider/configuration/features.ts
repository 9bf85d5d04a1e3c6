import type {
  Client,
  ClientContext,
  Configuration,
  KoaContext,
  ProviderContext,
  Token,
  TokenContext,
} from 'oidc-provider';
import { apiAudience, commandClient } from '../adapter/built-in-clients.js';
import { noteRefusedUserCode, noteUserCode } from '../adapter/user-code-events.js';
import type { ProviderServices } from '../context/context.js';
import {
  type DeviceOrigin,
  deviceOrigin,
  renderConnected,
  renderUserCode,
  renderUserCodeConfirm,
} from '../http/device-pages.js';
import { mayIntrospect } from '../http/introspection.js';
import { renderLogout, renderSignedOut } from '../http/pages.js';
import { clientDocuments } from './client-documents.js';
import { resourceServer } from './resource-server.js';

const off = { enabled: false };

/** Returns the enabled and disabled features of oidc-provider; enabling one is a design change. */
export function features(services: ProviderServices): Configuration {
  return {
    devInteractions: off,
    claimsParameter: off,
    clientCredentials: off,
    registration: off,
    registrationManagement: off,
    requestObjects: off,
    encryption: off,
    jwtResponseModes: off,
    jwtIntrospection: off,
    jwtUserinfo: off,
    mTLS: off,
    ciba: off,
    fapi: off,
    richAuthorizationRequests: off,
    clientIdMetadataDocument: clientDocuments(services),
    externalSigningSupport: { enabled: true, ack: 'experimental-01' },
    userinfo: { enabled: true },
    backchannelLogout: { enabled: true },
    pushedAuthorizationRequests: { enabled: true },
    dPoP: {
      enabled: true,
      nonceSecret: services.secrets.keys.dpopNonce,
      requireNonce: () => false,
      allowReplay: false,
    },
    introspection: {
      enabled: true,
      allowedPolicy: async ({ oidc }: ProviderContext, client: Client, token: Token) =>
        token.accountId !== undefined && mayIntrospect(services, oidc.provider, client, token),
    },
    revocation: {
      enabled: true,
      allowedPolicy: (_ctx: unknown, client: Client, token: Token) =>
        token.clientId === client.clientId,
    },
    rpInitiatedLogout: {
      enabled: true,
      logoutSource: async (ctx: ProviderContext) => renderLogout(services, ctx),
      postLogoutSuccessSource: async (ctx: KoaContext) => renderSignedOut(services, ctx),
    },
    deviceFlow: deviceFlow(services),
    resourceIndicators: resourceIndicators(services),
  };
}

/** Configures the device flow (RFC 8628); the outcome of each user code is logged. */
function deviceFlow(services: ProviderServices): Configuration {
  return {
    enabled: services.settings.deviceAuthorization,
    charset: 'base-20',
    mask: '****-****',
    deviceInfo: deviceOrigin,
    userCodeInputSource: async (
      ctx: ProviderContext,
      _form: string,
      _out: unknown,
      error?: Error,
    ) => {
      if (error) noteRefusedUserCode(ctx, error);
      renderUserCode(services, ctx, error);
    },
    userCodeConfirmSource: async (
      ctx: ClientContext,
      _form: string,
      _client: Client,
      origin: DeviceOrigin,
      userCode: string,
    ) => {
      noteUserCode(ctx, { outcome: 'Found' });
      await renderUserCodeConfirm(services, ctx, origin, userCode);
    },
    successSource: async (ctx: KoaContext) => renderConnected(services, ctx),
  };
}

/**
 * Configures access tokens for Audiences and, for the command, for this service's own API (RFC
 * 8707). A token request that names no resource gets a token for the one that was granted.
 */
function resourceIndicators(services: ProviderServices): Configuration {
  return {
    enabled: true,
    defaultResource: async (_ctx: unknown, client: Client, oneOf?: string[]) =>
      oneOf ??
      (client.clientId === commandClient ? apiAudience(services.settings.baseURL) : undefined),
    useGrantedResource: async ({ oidc }: TokenContext, { resource = [] }: Token) =>
      [resource].flat().some((indicator) => oidc.grant.getResourceScope(indicator) !== ''),
    getResourceServerInfo: async (ctx: ClientContext, resource: string, client: Client) =>
      resourceServer(services, ctx, resource, client),
  };
}
