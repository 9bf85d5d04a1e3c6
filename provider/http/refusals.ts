import type { errors, KoaContext, Provider } from 'oidc-provider';
import { clientObject } from '../adapter/clients.js';
import { repeatedAnswer } from '../adapter/refresh-answer.js';
import type { ProviderServices } from '../context/context.js';
import { requestState } from '../context/current-request.js';
import { StateKey } from '../context/request-state.js';
import { errorOf, jsonOf } from '../context/response.js';
import { html } from './html.js';
import { remedyOf } from './remedies.js';
import {
  type LoggedRefusal,
  logRefusal,
  sentParameters,
  showableText,
  wrongParameters,
} from './wrong-parameters.js';

/** Answers that are part of an ordinary sign-in: a device that waits, a person who must act or who left. */
const ordinary: ReadonlySet<string> = new Set([
  'authorization_pending',
  'slow_down',
  'login_required',
  'consent_required',
  'interaction_required',
  'account_selection_required',
  'access_denied',
]);

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
  [/^iat /, 'it is of the future (iat)'],
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
  services: Pick<ProviderServices, 'runtime' | 'signIns'>,
  provider: Provider,
): void {
  const log = (ctx: KoaContext, error: errors.OIDCProviderError): void => {
    const reason = reasonOf(error) || error.error;
    if ((ordinary.has(error.error) && !unbelievable.test(reason)) || repeatedAnswer()) return;
    if (ctx.oidc?.route === 'introspection' && error.error === 'unsupported_token_type') return; // It is answered.
    const remedy = remedyOf(reason);
    const { Client: client, AccessToken: token } = ctx.oidc?.entities ?? {};
    const refusal: LoggedRefusal = {
      client: client?.clientId ?? token?.clientId,
      endpoint: ctx.oidc?.route,
      error: error.error,
      reason: showableText(reason),
      remedy,
      parameters: wrongParameters(error, sentParameters(ctx)) ?? {},
      auditID: ctx.response.get('Audit-ID'),
    };
    const state = requestState();
    state.set(currentRemedy, remedy);
    if (refusal.client === undefined) {
      state.set(unnamedRefusal, refusal);
    } else {
      logRefusal(services, refusal);
    }
    describeAssertion(ctx, reason);
  };
  for (const event of events) provider.on(event, log);
}

/** A hint that cannot be believed is a fault of the program, unlike a person who must sign in. */
const unbelievable = /^id_token_hint cannot be believed/;

/**
 * Logs the refusal of a request that ended before its Client was authenticated, with the Client that the
 * request names, if there is one.
 */
export async function logUnnamedRefusal(
  services: ProviderServices,
  ctx: KoaContext,
): Promise<void> {
  const refusal = requestState().get(unnamedRefusal);
  if (!refusal) return;
  const { client_id: sent } = sentParameters(ctx);
  logRefusal(services, { ...refusal, client: await knownClient(services, sent) });
}

/** Returns the name of a Client if there is one, as far as the store can be read. */
export async function knownClient(
  services: ProviderServices,
  name: unknown,
): Promise<string | undefined> {
  if (typeof name !== 'string') return undefined;
  const client = await clientObject(services, name).catch(() => undefined);
  return client?.metadata.name;
}

/** The refusal of a request whose Client is not known. */
const unnamedRefusal = new StateKey<LoggedRefusal>();

/** What mends the current refusal. */
const currentRemedy = new StateKey<string | undefined>();

/**
 * Adds what to set to the description of the current refusal, in JSON and in a redirect or form to the
 * Client (RFC 6749 §4.1.2.1, §5.2): a developer reads it in the program. It says nothing of what was sent,
 * and nothing to a Client that could not authenticate.
 */
export function describeRemedy(ctx: KoaContext): void {
  const remedy = requestState().get(currentRemedy);
  if (remedy === undefined) return;
  const extended = (description: string, what = remedy): string =>
    `${description} (what to set: ${what})`;
  const error = errorOf(ctx.body);
  if (error === 'invalid_client') return;
  if (error !== undefined) {
    const body = jsonOf(ctx.body);
    ctx.body = { ...body, error_description: extended(String(body.error_description ?? error)) };
  }
  if (typeof ctx.body === 'string') {
    ctx.body = ctx.body.replace(
      /(?<=<input type="hidden" name="error_description" value=")[^"]*/,
      (escaped) => extended(escaped, html`${remedy}`.text),
    );
  }
  describeInLocation(ctx, extended);
}

/** Adds to the error in a redirect to the Client, which has it in the query or in the fragment. */
function describeInLocation(ctx: KoaContext, extended: (description: string) => string): void {
  const location = URL.parse(String(ctx.response.get('Location')));
  for (const part of ['search', 'hash'] as const) {
    const sent = new URLSearchParams(location?.[part].slice(1));
    const error = sent.get('error');
    if (!location || error === null) continue;
    sent.set('error_description', extended(sent.get('error_description') ?? error));
    location[part] = String(sent);
    ctx.set('Location', location.href);
  }
}

/** Adds to the answer what is wrong with a client assertion. */
function describeAssertion(ctx: KoaContext, reason: string): void {
  if (errorOf(ctx.body) !== 'invalid_client') return;
  if (ctx.oidc?.params?.client_assertion === undefined) return;
  const fault = assertionFaults.find(([pattern]) => pattern.test(reason))?.[1];
  if (fault) {
    ctx.body = {
      ...jsonOf(ctx.body),
      error_description: `the client_assertion was refused: ${fault}`,
    };
  }
}

/** Returns oidc-provider's reason for an error; of a proof that cannot be read with what it was. */
function reasonOf({
  error: code,
  cause,
  error_detail: detail,
  error_description: description = '',
}: errors.OIDCProviderError): string {
  const inner = detail || (cause instanceof Error ? cause.message : '');
  if (!inner) return description;
  return code === 'invalid_dpop_proof' && !description.includes(inner)
    ? `${description}: ${inner}`
    : inner;
}
