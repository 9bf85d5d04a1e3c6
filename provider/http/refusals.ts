import type { errors, KoaContext, Provider } from 'oidc-provider';
import { currentUnitOfWork } from '../context/unit-of-work.js';
import type { ProviderServices } from '../context/context.js';
import { repeatedAnswer } from '../adapter/refresh-answer.js';
import { html } from './html.js';
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
  [/response_type is not allowed/, 'spec.grantTypes and spec.redirectURIs of the Client'],
  [/grant type is not allowed|is not allowed for this client$/, 'spec.grantTypes of the Client'],
  [/resource indicator/, 'spec.audiences of the Client, and a scope of it that was agreed to'],
  [/^audience|\baud\b/, 'aud of the assertion, or spec.clientAssertionAudience of the Client'],
  [
    /no applicable key/,
    'spec.jwks or spec.jwksURI of the Client, and kid and alg of the assertion',
  ],
  [/signature verification/, 'the private key that belongs to the kid of the assertion'],
  [/^jwt |exp value|^expiration/, 'exp of the assertion, and the clock of the program'],
  [/^iss |^sub /, 'iss and sub of the assertion: both are the client_id'],
  [/\bjti\b|only be used once/, 'a jti of its own for each assertion, as text'],
  [/^client not found/, 'client_id: no Client has this name'],
  [/openid must be one/, 'scope openid in the program, and in spec.scopes of the Client'],
  [/Pushed Authorization Request must/, 'pushed requests in the program'],
  [/DPoP/, 'DPoP in the program, or spec.dpopBoundAccessTokens of the Client'],
  [
    /already (used|consumed)|^used before$/,
    'one use of each code and refresh token in the program',
  ],
];

/**
 * What the answer says of a client assertion, by oidc-provider's reason. Its sender wrote all of it,
 * and the keys of the Client are public.
 */
const assertionFaults: readonly (readonly [RegExp, string])[] = [
  [/^alg mismatch/, 'its alg is not one that the Client may use'],
  [/no applicable key/, 'no key of the Client has its kid and alg'],
  [/signature verification/, 'its signature is not by a key of the Client'],
  [/^jwt expired/, 'it has expired (exp)'],
  [/^jwt not active/, 'it is not valid yet (nbf)'],
  [/exp value|^expiration/, 'exp must be a number'],
  [/\bjti\b/, 'jti must be a text'],
  [/only be used once/, 'its jti was used before'],
  [/^iss |iss value/, 'iss must be the client_id'],
  [/^sub |sub value/, 'sub must be the client_id'],
  [/\baud\b|audience/, 'aud must be the issuer, as one string'],
  [/Invalid JWT|Token or Protected Header/, 'it is no signed JWT'],
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
    currentUnitOfWork()?.memo.set(remedyMemo, remedy);
    logRefusal(services, {
      client: ctx.oidc?.entities.Client?.clientId,
      endpoint: ctx.oidc?.route,
      error: error.error,
      reason: showableText(reason),
      remedy,
      parameters: wrongParameters(error, sentParameters(ctx)) ?? {},
      auditID: ctx.response.get('Audit-ID'),
    });
    describeAssertion(ctx, reason);
  };
  for (const event of events) provider.on(event, log);
}

/** The memo key of what mends the current refusal. */
const remedyMemo = 'remedy of the refusal';

/**
 * Adds what to set to the description of the current refusal, in JSON and in a redirect or form to the
 * Client (RFC 6749 §4.1.2.1, §5.2): a developer reads it in the program. It says nothing of what was sent,
 * and nothing to a Client that could not authenticate.
 */
export function describeRemedy(ctx: KoaContext): void {
  const remedy = currentUnitOfWork()?.memo.get(remedyMemo) as string | undefined;
  if (remedy === undefined) return;
  const extended = (description: string, what = remedy): string =>
    `${description} (what to set: ${what})`;
  const body = ctx.body as { error?: unknown; error_description?: unknown } | undefined;
  if (body?.error === 'invalid_client') return;
  if (typeof body?.error === 'string' && typeof body.error_description === 'string')
    ctx.body = { ...body, error_description: extended(body.error_description) };
  if (typeof ctx.body === 'string')
    ctx.body = ctx.body.replace(
      /(?<=<input type="hidden" name="error_description" value=")[^"]*/,
      (escaped) => extended(escaped, html`${remedy}`.text),
    );
  const location = URL.parse(String(ctx.response.get('Location')));
  const description = location?.searchParams.get('error_description');
  if (!location || !description) return;
  location.searchParams.set('error_description', extended(description));
  ctx.set('Location', location.href);
}

/** Adds to the answer what is wrong with a client assertion. */
function describeAssertion(ctx: KoaContext, reason: string): void {
  const body = ctx.body as { error?: unknown; error_description?: string } | undefined;
  if (body?.error !== 'invalid_client' || ctx.oidc?.params?.client_assertion === undefined) return;
  const fault = assertionFaults.find(([pattern]) => pattern.test(reason))?.[1];
  if (fault) body.error_description = `the client_assertion was refused: ${fault}`;
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
