import type { errors, KoaContext, Provider } from 'oidc-provider';
import type { ProviderServices } from '../context/context.js';
import { repeatedAnswer } from '../adapter/refresh-answer.js';
import { logRefusal, sentParameters, showableText, wrongParameters } from './wrong-parameters.js';

/** Answers that are part of an ordinary sign-in: a device that waits, a person who must act or who left. */
const ordinary: ReadonlySet<string> = new Set([
  'authorization_pending',
  'slow_down',
  'login_required',
  'consent_required',
  'interaction_required',
  'account_selection_required',
  'access_denied',
  'unsupported_token_type',
]);

/** What mends a refusal, by oidc-provider's reason for it. */
const remedies: readonly (readonly [RegExp, string])[] = [
  [/^code_challenge is missing/, 'spec.pkce of the Client, or PKCE with S256 in the program'],
  [/code_challenge_method/, 'code_challenge_method S256 in the program'],
  [
    /^code_verifier must be/,
    'PKCE in the program at both ends: it sent a challenge and no verifier',
  ],
  [/^code_verifier does not/, 'the verifier that belongs to the challenge, in the program'],
  [/redirect_uri/, 'spec.redirectURIs of the Client, character by character'],
  [/does not match the registered client auth/, 'spec.tokenEndpointAuthMethod of the Client'],
  [/^invalid secret/, 'a secret of the Client, or spec.secretHashes'],
  [/^alg mismatch/, 'spec.tokenEndpointAuthSigningAlg of the Client'],
  [/^audience|\(aud\)/, 'aud of the assertion, or spec.clientAssertionAudience of the Client'],
  [/^client not found/, 'client_id: no Client has this name'],
  [/openid must be one/, 'scope openid in the program, and in spec.scopes of the Client'],
  [/Pushed Authorization Request must/, 'pushed requests in the program'],
  [/DPoP/, 'DPoP in the program, or spec.dpopBoundAccessTokens of the Client'],
  [/response_type is not allowed/, 'spec.grantTypes and spec.redirectURIs of the Client'],
  [
    /already (used|consumed)|^used before$/,
    'one use of each code and refresh token in the program',
  ],
];

const events = [
  'authorization.error',
  'pushed_authorization_request.error',
  'device_authorization.error',
  'grant.error',
  'userinfo.error',
  'revocation.error',
  'introspection.error',
] as const;

/**
 * Logs each refusal of a request with its Client, the reason, which the response does not always have, and
 * what to set: nothing fails in silence.
 */
export function logRefusals(
  services: Pick<ProviderServices, 'log' | 'clientReports'>,
  provider: Provider,
): void {
  const log = (ctx: KoaContext, error: errors.OIDCProviderError): void => {
    if (ordinary.has(error.error) || repeatedAnswer()) return;
    const reason = reasonOf(error);
    const remedy = remedies.find(([pattern]) => pattern.test(reason))?.[1];
    logRefusal(services, {
      client: ctx.oidc?.entities.Client?.clientId,
      endpoint: ctx.oidc?.route,
      error: error.error,
      reason: showableText(reason),
      remedy,
      parameters: wrongParameters(error, sentParameters(ctx)) ?? {},
      auditID: ctx.response.get('Audit-ID'),
    });
  };
  for (const event of events) provider.on(event, log);
}

/** Returns oidc-provider's reason for an error. */
function reasonOf({
  cause,
  error_detail: detail,
  error_description: description,
}: errors.OIDCProviderError): string {
  if (detail) return detail;
  return cause instanceof Error && cause.message ? cause.message : (description ?? '');
}
