import type { AppTemplate } from './app-templates.js';
import { otherApp } from './app-templates.js';

/** What a person types about an app. */
export interface AppDraft {
  readonly address: string;
  readonly name: string;
}

/** The part of a Client that the console sends for an app. */
export interface AppClient {
  readonly apiVersion: string;
  readonly kind: 'Client';
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly displayName: string;
    readonly type: string;
    readonly homepageURI: string;
    readonly redirectURIs: readonly string[];
    readonly [field: string]: unknown;
  };
}

/** The longest name that is made of a text; the API permits more. */
const maxName = 40;

const toName = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, maxName)
    .replace(/^-|-$/g, '');

/**
 * Parses the address of an app, with https if it names no scheme. Returns undefined for text that
 * is no address of the web.
 */
export function parseAddress(text: string): URL | undefined {
  const typed = text.trim();
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(typed) ? typed : `https://${typed}`;
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  return /^https?:$/.test(url.protocol) ? url : undefined;
}

/** Returns the address as it stands in settings, without a slash at its end. */
const baseOf = (url: URL): string => (url.origin + url.pathname).replace(/\/$/, '');

/** Returns the `client_id` of an app: its name in Latin letters, or its host. */
export const clientIDOf = ({ id, name }: AppTemplate, draft: AppDraft): string =>
  (draft.name.trim() === name ? id : toName(draft.name)) ||
  toName(parseAddress(draft.address)?.host ?? '');

/** Returns the Client of an app; fields that the template does not set are left out. */
export function toClient(
  template: AppTemplate,
  draft: AppDraft,
  url: URL,
  apiVersion: string,
): AppClient {
  const isOther = template === otherApp;
  const base = isOther ? url.href : baseOf(url);
  const filled: AppTemplate['client'] = JSON.parse(
    JSON.stringify(template.client).replaceAll('<address>', base),
  );
  // Logout tokens are sent by https only.
  if (url.protocol !== 'https:') delete filled.backchannelLogoutURI;
  const { type = 'Confidential', scopes = [], ...fields } = filled;
  return {
    apiVersion,
    kind: 'Client',
    metadata: { name: clientIDOf(template, draft) },
    spec: {
      displayName: draft.name.trim(),
      type,
      homepageURI: isOther ? `${url.origin}/` : `${base}/`,
      ...fields,
      ...(!isOther && { firstParty: true }),
      scopes: ['openid', 'email', 'profile', ...scopes].map((name) => ({
        name,
        ...(name === 'openid' && { required: true }),
      })),
    },
  };
}

/** Returns the settings of an app with its values. Without a secret, its placeholder stays. */
export function fillSettings(
  template: AppTemplate,
  client: AppClient,
  issuer: string,
  secret: string | undefined,
): string {
  const redirectURI = client.spec.redirectURIs[0]!;
  const values: Record<string, string | undefined> = {
    issuer,
    'client-id': client.metadata.name,
    'client-secret': secret,
    address: template === otherApp ? redirectURI : client.spec.homepageURI.replace(/\/$/, ''),
  };
  return template.settings
    .join('\n')
    .replace(
      /<(issuer|client-id|client-secret|address)>/g,
      (placeholder, name: string) => values[name] ?? placeholder,
    );
}
