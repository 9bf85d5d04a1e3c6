import type { ClientMetadata } from 'oidc-provider';
import { catalogs } from '../../i18n/languages.js';
import { accountPageClient } from '../../kinds/signin/account-page.js';
import type { Settings } from '../../registry/kind.js';

/** The client of the command: native and public, it uses the device flow. */
export const commandClient = 'vestibule';

export { accountPageClient };

/** The message with the name of each built-in client. */
const nameMessages = {
  [commandClient]: 'client.command',
  [accountPageClient]: 'client.account',
} as const;

/** A display name, in English and by language. */
interface Names {
  readonly displayName: string;
  readonly displayNames: Record<string, string>;
}

const namesOf = (id: (typeof nameMessages)[keyof typeof nameMessages]): Names => {
  const displayNames = Object.fromEntries(
    Object.entries(catalogs).map(([language, catalog]) => [language, catalog[id]]),
  );
  return { displayName: displayNames.en ?? '', displayNames };
};

/** The display names of the built-in clients. */
export const builtInNames: ReadonlyMap<string, Names> = new Map(
  Object.entries(nameMessages).map(([client, id]) => [client, namesOf(id)]),
);

/** Returns the audience of access tokens for this service's own API. */
export const apiAudience = (baseURL: string): string => `${baseURL}/apis`;

/** The device authorization grant (RFC 8628 §3.4). */
export const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

/**
 * Returns the metadata of the built-in clients (RFC 7591). Without device authorization, the
 * command keeps its refresh tokens.
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
      client_id: commandClient,
      client_name: builtInNames.get(commandClient)?.displayName,
      application_type: 'native',
      redirect_uris: [],
      response_types: [],
      grant_types: [...(deviceAuthorization ? [deviceGrant] : []), 'refresh_token'],
      allowedScopes: 'openid offline_access api',
    },
    {
      ...common,
      client_id: accountPageClient,
      client_name: builtInNames.get(accountPageClient)?.displayName,
      redirect_uris: [`${baseURL}/account`, `${baseURL}/console`, `${baseURL}/invitation`],
      post_logout_redirect_uris: [`${baseURL}/account`],
      response_types: ['none'],
      grant_types: [],
      allowedScopes: 'openid',
    },
  ];
}
