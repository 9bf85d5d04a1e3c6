import { z } from 'zod';
import { isLoopback } from '../../security/loopback.js';
import type { Cause } from '../../registry/status.js';
import { toTimestamp } from '../../registry/timestamp.js';
import { timestamp } from '../signin/schema-types.js';

/** What of a Client's spec says how its requests and tokens are protected. */
export const securityFields = {
  profile: z
    .enum(['FAPI2'])
    .optional()
    .describe(
      'Sets the fields that the FAPI 2.0 Security Profile asks for and refuses others: FAPI2.',
    ),
  pkce: z
    .enum(['Required', 'Optional'])
    .default('Required')
    .describe(
      'Whether every authorization request must carry a code challenge (RFC 7636). Optional is ' +
        'for Confidential Clients alone.',
    ),
  requirePushedAuthorizationRequests: z
    .boolean()
    .optional()
    .describe('Only pushed authorization requests are taken (RFC 9126 6).'),
  dpopBoundAccessTokens: z
    .boolean()
    .optional()
    .describe('Tokens are issued only to the holder of a DPoP key (RFC 9449 5.2).'),
  tokenEndpointAuthSigningAlg: z
    .enum(['ES256', 'PS256', 'RS256', 'EdDSA', 'Ed25519'])
    .optional()
    .describe(
      'The one algorithm its assertions are signed with (OpenID Connect Registration 2); any of these by default.',
    ),
};

/** A condition of an object (Kubernetes API conventions). */
export const Condition = z.object({
  type: z.string().describe('What it is about.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds.'),
  reason: z.string().describe('Why, in one word.'),
  message: z.string().describe('Why, for people.'),
  lastTransitionTime: timestamp().describe('Since when it is so.'),
});
export type Condition = z.infer<typeof Condition>;

type Security = { [F in keyof typeof securityFields]?: z.infer<(typeof securityFields)[F]> };

/** What these rules look at besides. */
interface ClientSpec extends Security {
  readonly type: 'Public' | 'Confidential';
  readonly applicationType: 'web' | 'native';
  readonly redirectURIs: readonly string[];
  readonly idTokenSignedResponseAlg: string;
  tokenEndpointAuthMethod?: string;
}

/** Fills in what a profile asks for and the spec leaves open. */
export function applyProfile(spec: ClientSpec): void {
  if (spec.profile !== 'FAPI2') return;
  spec.tokenEndpointAuthMethod ??= 'private_key_jwt';
  spec.tokenEndpointAuthSigningAlg ??= 'ES256';
  spec.requirePushedAuthorizationRequests ??= true;
  spec.dpopBoundAccessTokens ??= true;
}

/**
 * Returns what contradicts the profile (FAPI 2.0 Security Profile 5.3.2, 5.4), the Client's type,
 * or how it authenticates.
 */
export function securityFaults(spec: ClientSpec): Cause[] {
  const faults: Cause[] = [];
  const fault = (field: string, message: string): void => {
    faults.push({
      reason: 'FieldValueInvalid',
      field: `spec.${field}`,
      message: `Invalid value: ${message}`,
    });
  };
  if (spec.pkce === 'Optional' && spec.type === 'Public')
    fault('pkce', 'a Public Client must use PKCE (RFC 9700 2.1.1)');
  if (
    spec.tokenEndpointAuthSigningAlg !== undefined &&
    spec.tokenEndpointAuthMethod !== 'private_key_jwt'
  )
    fault('tokenEndpointAuthSigningAlg', 'only private_key_jwt has assertions to sign');
  if (spec.profile === 'FAPI2')
    for (const [field, message] of fapiFaults(spec)) fault(field, `${message} with profile FAPI2`);
  return faults;
}

function* fapiFaults(spec: ClientSpec): Iterable<readonly [field: string, message: string]> {
  if (spec.type !== 'Confidential') yield ['type', 'must be Confidential'];
  if (spec.tokenEndpointAuthMethod !== 'private_key_jwt')
    yield ['tokenEndpointAuthMethod', 'must be private_key_jwt'];
  if (spec.tokenEndpointAuthSigningAlg === 'RS256')
    yield ['tokenEndpointAuthSigningAlg', 'must be ES256, PS256, EdDSA or Ed25519'];
  if (spec.pkce === 'Optional') yield ['pkce', 'must be Required'];
  if (spec.requirePushedAuthorizationRequests === false)
    yield ['requirePushedAuthorizationRequests', 'must be true'];
  if (spec.dpopBoundAccessTokens === false) yield ['dpopBoundAccessTokens', 'must be true'];
  if (spec.idTokenSignedResponseAlg !== 'ES256')
    yield ['idTokenSignedResponseAlg', 'must be ES256'];
  for (const [i, uri] of spec.redirectURIs.entries())
    if (!isSecureRedirect(uri, spec.applicationType))
      yield [`redirectURIs[${i}]`, 'must be an https address'];
}

/** Whether a redirect is safe enough for FAPI: https, or loopback for native Clients. */
function isSecureRedirect(uri: string, applicationType: ClientSpec['applicationType']): boolean {
  if (!URL.canParse(uri)) return true;
  const { protocol, hostname } = new URL(uri);
  return protocol !== 'http:' || (applicationType === 'native' && isLoopback(hostname));
}

/**
 * Returns the conditions of a Client; one that stays as it was keeps its time. `now` in
 * milliseconds since the epoch.
 */
export function conditionsOf(
  { pkce }: Security,
  before: readonly Condition[] | undefined,
  now: number,
): Condition[] {
  const stated =
    pkce === 'Optional'
      ? {
          type: 'PKCERequired',
          status: 'False' as const,
          reason: 'Optional',
          message:
            'Authorization requests without a code challenge are taken: a code that is ' +
            'intercepted can be redeemed by anyone who has the secret of this app.',
        }
      : {
          type: 'PKCERequired',
          status: 'True' as const,
          reason: 'Required',
          message: 'Every authorization request carries a code challenge.',
        };
  const same = before?.find((one) => one.type === stated.type && one.status === stated.status);
  return [{ ...stated, lastTransitionTime: same?.lastTransitionTime ?? toTimestamp(now) }];
}
