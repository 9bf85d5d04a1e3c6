import { z } from 'zod';
import { invalidValue } from '../../../registry/status/field-errors.js';
import type { Cause } from '../../../registry/status/status.js';
import { isLoopback } from '../../../security/loopback.js';

/** The fields of a Client's spec that protect its requests and tokens. */
export const securityFields = {
  profile: z
    .enum(['FAPI2'])
    .optional()
    .describe(
      'FAPI2: sets the fields that the FAPI 2.0 Security Profile requires and refuses other values.',
    ),
  pkce: z
    .enum(['Required', 'Optional'])
    .optional()
    .describe(
      'Whether every authorization request must have a code challenge (RFC 7636). By default Optional for ' +
        'Confidential Clients (RFC 9700 §2.1.1); Public ones and profile FAPI2 must have Required.',
    ),
  idTokenSignedResponseAlg: z
    .enum(['ES256', 'RS256'])
    .optional()
    .describe(
      'The signature algorithm of its ID tokens. By default RS256 (OpenID Connect Registration §2), and ' +
        'ES256 with profile FAPI2.',
    ),
  clientAssertionAudience: z
    .enum(['Issuer', 'TokenEndpoint'])
    .optional()
    .describe(
      'The audience of its client assertions, always as one string: the issuer (the default), or also the ' +
        'endpoint, for programs that know nothing else (RFC 7523 §3, RFC 9126 §2).',
    ),
  requirePushedAuthorizationRequests: z
    .boolean()
    .optional()
    .describe('Only pushed authorization requests are accepted (RFC 9126 §6).'),
  dpopBoundAccessTokens: z
    .boolean()
    .optional()
    .describe('Tokens are bound to a DPoP key (RFC 9449 §5.2).'),
  tokenEndpointAuthSigningAlg: z
    .enum(['ES256', 'PS256', 'RS256', 'EdDSA', 'Ed25519'])
    .optional()
    .describe(
      'The signature algorithm of its client assertions (OpenID Connect Registration §2); any of these by default.',
    ),
};

type Security = { [F in keyof typeof securityFields]?: z.infer<(typeof securityFields)[F]> };

/** The other fields that these rules depend on. */
interface ClientSpec extends Security {
  readonly type: 'Public' | 'Confidential';
  readonly applicationType: 'web' | 'native';
  readonly redirectURIs: readonly string[];
  tokenEndpointAuthMethod?: string;
}

type Defaulted = Pick<ClientSpec, 'pkce' | 'type' | 'profile' | 'idTokenSignedResponseAlg'>;

/** Returns whether authorization requests of a Client must have a code challenge. */
export const pkceOf = ({ pkce, type, profile }: Defaulted): NonNullable<Security['pkce']> =>
  pkce ?? (type === 'Public' || profile === 'FAPI2' ? 'Required' : 'Optional');

/** Returns the signature algorithm of a Client's ID tokens. */
export const idTokenAlgOf = ({
  idTokenSignedResponseAlg,
  profile,
}: Defaulted): NonNullable<Security['idTokenSignedResponseAlg']> =>
  idTokenSignedResponseAlg ?? (profile === 'FAPI2' ? 'ES256' : 'RS256');

/** Sets the fields that a profile requires and the spec leaves unset. */
export function applyProfile(spec: ClientSpec): void {
  if (spec.profile !== 'FAPI2') return;
  spec.tokenEndpointAuthMethod ??= 'private_key_jwt';
  spec.tokenEndpointAuthSigningAlg ??= 'ES256';
  spec.requirePushedAuthorizationRequests ??= true;
  spec.dpopBoundAccessTokens ??= true;
}

/**
 * Returns the faults of fields that contradict the profile (FAPI 2.0 Security Profile §5.3.2,
 * §5.4), the Client's type, or its authentication method.
 */
export function securityFaults(spec: ClientSpec): Cause[] {
  const faults: Cause[] = [];
  const addFault = (field: string, message: string): void => {
    faults.push(invalidValue(`spec.${field}`, message));
  };
  if (spec.pkce === 'Optional' && spec.type === 'Public') {
    addFault('pkce', 'a Public Client must use PKCE (RFC 9700 §2.1.1)');
  }
  if (
    spec.tokenEndpointAuthSigningAlg !== undefined &&
    spec.tokenEndpointAuthMethod !== 'private_key_jwt'
  ) {
    addFault('tokenEndpointAuthSigningAlg', 'only private_key_jwt has assertions to sign');
  }
  if (
    spec.clientAssertionAudience !== undefined &&
    spec.tokenEndpointAuthMethod !== 'private_key_jwt'
  ) {
    addFault('clientAssertionAudience', 'only private_key_jwt has assertions');
  }
  if (spec.profile === 'FAPI2') {
    for (const [field, message] of fapiFaults(spec)) {
      addFault(field, `${message} with profile FAPI2`);
    }
  }
  return faults;
}

function* fapiFaults(spec: ClientSpec): Iterable<readonly [field: string, message: string]> {
  if (spec.type !== 'Confidential') yield ['type', 'must be Confidential'];
  if (spec.tokenEndpointAuthMethod !== 'private_key_jwt') {
    yield ['tokenEndpointAuthMethod', 'must be private_key_jwt'];
  }
  if (spec.tokenEndpointAuthSigningAlg === 'RS256') {
    yield ['tokenEndpointAuthSigningAlg', 'must be ES256, PS256, EdDSA or Ed25519'];
  }
  if (spec.pkce === 'Optional') yield ['pkce', 'must be Required'];
  if (spec.clientAssertionAudience === 'TokenEndpoint') {
    yield ['clientAssertionAudience', 'must be Issuer'];
  }
  if (spec.requirePushedAuthorizationRequests === false) {
    yield ['requirePushedAuthorizationRequests', 'must be true'];
  }
  if (spec.dpopBoundAccessTokens === false) yield ['dpopBoundAccessTokens', 'must be true'];
  if (spec.idTokenSignedResponseAlg === 'RS256') {
    yield ['idTokenSignedResponseAlg', 'must be ES256'];
  }
  for (const [i, uri] of spec.redirectURIs.entries()) {
    if (!isSecureRedirect(uri, spec.applicationType)) {
      yield [`redirectURIs[${i}]`, 'must be an https address'];
    }
  }
}

/** Returns true if FAPI permits the redirect: https, or loopback for native Clients. */
function isSecureRedirect(uri: string, applicationType: ClientSpec['applicationType']): boolean {
  if (!URL.canParse(uri)) return true;
  const { protocol, hostname } = new URL(uri);
  return protocol !== 'http:' || (applicationType === 'native' && isLoopback(hostname));
}
