import type { ClientMetadata } from 'oidc-provider';
import type { Settings } from '../../registry/kind.js';

/** The command's client: native and public, it signs in by device flow. */
export const command = 'vestibule';

/** The account page's client: it gets a session and never a code. */
export const accountPage = 'vestibule-account';

/** Clients that are part of this service, and whether consent is asked for them. */
export const builtIn: ReadonlyMap<string, { readonly firstParty: boolean }> = new Map([
  [command, { firstParty: false }],
  [accountPage, { firstParty: true }],
]);

/** Their names for people. */
export const builtInNames: ReadonlyMap<string, string> = new Map([
  [command, 'Vestibule command'],
  [accountPage, 'your account'],
]);

/** The audience of access tokens that this service's own API takes. */
export const apiAudience = (baseURL: string): string => `${baseURL}/apis`;

/** The grant that connects devices (RFC 8628 §3.4). */
export const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

/**
 * Metadata of the built-in clients (RFC 7591), the only static ones; where devices are switched off
 * the command keeps what it was connected by.
 */
export function builtInClients({
  baseURL,
  deviceAuthorization,
}: Pick<Settings, 'baseURL' | 'deviceAuthorization'>): ClientMetadata[] {
  const common = {
    token_endpoint_auth_method: 'none',
    response_modes: ['query', 'form_post'],
    id_token_signed_response_alg: 'ES256',
  };
  return [
    {
      ...common,
      client_id: command,
      client_name: builtInNames.get(command),
      application_type: 'native',
      redirect_uris: [],
      response_types: [],
      grant_types: [...(deviceAuthorization ? [deviceGrant] : []), 'refresh_token'],
      scope: 'openid offline_access api',
    },
    {
      ...common,
      client_id: accountPage,
      client_name: builtInNames.get(accountPage),
      redirect_uris: [`${baseURL}/account`],
      post_logout_redirect_uris: [`${baseURL}/account`],
      response_types: ['none'],
      grant_types: [],
      scope: 'openid',
    },
  ];
}
