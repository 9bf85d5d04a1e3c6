import type { ClientMetadata } from 'oidc-provider';
import { z } from 'zod';
import { type ClientSpec, clientFaults } from '../../kinds/apps/client/client.js';
import { line, redirectURI, webAddress } from '../../kinds/signin/schema-types.js';
import { lineFault } from '../../registry/schema/line-of-text.js';
import { parseJSON } from '../../registry/schema/strict-json.js';
import { isLoopback } from '../../security/loopback.js';
import type { ProviderServices } from '../context/context.js';
import { knownScopes, metadataOf, type ScopedServices } from './clients.js';

/** A metadata document cannot be used; the message names the member at fault. */
export class DocumentError extends Error {
  override readonly name = 'DocumentError';
}

const uris = (): z.ZodArray<z.ZodString> => z.array(redirectURI()).max(50);
const absent = () => z.never().optional();

/**
 * The members of a document that are used (RFC 7591 §2, OpenID Connect Registration §2). Values that
 * are not listed are refused, except in lists; other members are ignored.
 */
const Document = z.object({
  client_id: z.string(),
  client_name: line(64).optional(),
  client_secret: absent(),
  client_secret_expires_at: absent(),
  redirect_uris: uris().min(1),
  post_logout_redirect_uris: uris().default([]),
  application_type: z.enum(['web', 'native']).optional(),
  response_types: z.array(z.string()).default(['code']),
  grant_types: z.array(z.string()).default(['authorization_code']),
  scope: z.string().optional(),
  token_endpoint_auth_method: z.literal('none').default('none'),
  subject_type: z.literal('public').default('public'),
  id_token_signed_response_alg: z.enum(['ES256', 'RS256']).optional(),
  require_pushed_authorization_requests: z.boolean().default(false),
  dpop_bound_access_tokens: z.boolean().default(false),
  client_uri: webAddress().optional(),
  policy_uri: webAddress().optional(),
  tos_uri: webAddress().optional(),
});
type Document = z.infer<typeof Document>;

const grantTypes = ['authorization_code', 'refresh_token'] as const;

/**
 * Returns the client metadata (RFC 7591) for the document at `url`, by the rules of Client objects.
 * oidc-provider compares the `client_id` in it with the URL. Throws {@link DocumentError}.
 */
export function metadataOfDocument(
  services: ScopedServices & Pick<ProviderServices, 'settings'>,
  url: URL,
  body: Buffer,
): ClientMetadata {
  const document = parseDocument(body);
  const spec = specOf(url, document, knownScopes(services));
  // The author of a document is a stranger, also in the private network.
  const settings = { ...services.settings, allowPrivateHTTPRedirects: false };
  const [fault] = clientFaults('', spec, settings);
  if (fault) throw new DocumentError(`${fault.field} ${fault.message}`);
  return {
    ...metadataOf({ metadata: { name: url.href }, spec }, knownScopes(services), {
      deviceAuthorization: false,
      allowPrivateHTTPRedirects: false,
    }),
    client_id: document.client_id,
  };
}

function parseDocument(body: Buffer): Document {
  const { success, data, error } = Document.safeParse(parsedJSON(body));
  if (!success) {
    const [issue] = error.issues;
    throw new DocumentError(`${issue?.path.join('.') || 'the document'}: ${issue?.message}`);
  }
  const nameFault = data.client_name === undefined ? undefined : lineFault(data.client_name);
  if (nameFault !== undefined) throw new DocumentError(`client_name: ${nameFault}`);
  if (!data.response_types.includes('code')) {
    throw new DocumentError('response_types: must include code');
  }
  if (!data.grant_types.includes('authorization_code')) {
    throw new DocumentError('grant_types: must include authorization_code');
  }
  return data;
}

function parsedJSON(body: Buffer): unknown {
  try {
    return parseJSON(body);
  } catch (error) {
    throw new DocumentError((error as Error).message);
  }
}

/**
 * Returns a document as the spec of a Client. Without `scope` it may request every scope that Clients
 * may request, since its author could list them all. Links to other hosts are left out.
 */
function specOf(url: URL, document: Document, known: ReadonlySet<string>): ClientSpec {
  const scopes = document.scope?.split(' ') ?? [...known];
  const links = {
    homepageURI: document.client_uri,
    privacyPolicyURI: document.policy_uri,
    termsOfServiceURI: document.tos_uri,
  };
  const ownLinks = Object.entries(links).filter(([, link]) => link && isOnHost(link, url));
  return {
    displayName: document.client_name?.normalize('NFC') ?? url.host,
    ...Object.fromEntries(ownLinks),
    redirectURIs: document.redirect_uris,
    postLogoutRedirectURIs: document.post_logout_redirect_uris,
    type: 'Public',
    applicationType: document.application_type ?? applicationTypeOf(document.redirect_uris),
    tokenEndpointAuthMethod: 'none',
    requirePushedAuthorizationRequests: document.require_pushed_authorization_requests,
    dpopBoundAccessTokens: document.dpop_bound_access_tokens,
    grantTypes: grantTypes.filter((type) => document.grant_types.includes(type)),
    scopes: scopes.map((name) => ({ name, required: false })),
    subjectType: 'public',
    idTokenSignedResponseAlg: document.id_token_signed_response_alg,
    firstParty: false,
  };
}

const isOnHost = (link: string, { host }: URL): boolean =>
  URL.canParse(link) && new URL(link).protocol === 'https:' && new URL(link).host === host;

/**
 * Returns the type of an application that does not give it: native if a redirect leads to loopback or
 * to a scheme of its own (RFC 8252 §7), where the port may be any.
 */
const applicationTypeOf = (redirects: readonly string[]): 'web' | 'native' =>
  redirects.some((uri) => {
    const url = URL.parse(uri);
    return url && (url.protocol === 'http:' ? isLoopback(url.hostname) : url.protocol !== 'https:');
  })
    ? 'native'
    : 'web';
