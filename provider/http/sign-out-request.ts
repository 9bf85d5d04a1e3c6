import { decodeJwt } from 'jose';
import { errors, type KoaContext, type Provider } from 'oidc-provider';
import type { MessageID } from '../../i18n/languages.js';
import type { ProviderServices } from '../context/context.js';
import { requestState } from '../context/current-request.js';
import { StateKey } from '../context/request-state.js';
import { queryOf, routes } from '../context/routes.js';
import { knownClient } from './refusals.js';
import { logRefusal, showableText } from './wrong-parameters.js';

/** What is wrong with a request to sign out. */
const currentFault = new StateKey<MessageID>();

/** Returns what is wrong with the current request to sign out; undefined if nothing is. */
export const signOutFault = (): MessageID | undefined => requestState().get(currentFault);

/**
 * Returns the middleware that takes everything from a request to sign out that cannot be believed: its
 * hint, its Client and where it leads. The person is asked, can sign out, and stays here (RP-Initiated
 * Logout 1.0 §2, §4). oidc-provider would answer with an error, and no one could sign out.
 */
export const believeSignOut =
  (services: ProviderServices, provider: Provider) =>
  async (ctx: KoaContext, next: () => Promise<void>): Promise<void> => {
    if (ctx.path === routes.end_session) await removeUnbelievable(services, provider, ctx);
    await next();
  };

async function removeUnbelievable(
  services: ProviderServices,
  provider: Provider,
  ctx: KoaContext,
): Promise<void> {
  const sent = new URLSearchParams(queryOf(ctx.originalUrl));
  const { fault, client } = await faultOf(provider, sent);
  if (fault === undefined) return;
  requestState().set(currentFault, fault);
  const [reason, remedy] = reasons[fault] ?? [fault];
  const parameters = [...sent]
    .filter(([name]) => name === 'client_id' || name === 'post_logout_redirect_uri')
    .map(([name, value]) => [name, showableText(value)]);
  logRefusal(services, {
    client: client ?? (await knownClient(services, sent.get('client_id'))),
    endpoint: 'end_session',
    error: 'invalid_request',
    reason,
    remedy,
    parameters: Object.fromEntries(parameters),
    auditID: ctx.response.get('Audit-ID'),
  });
  const locales = sent.get('ui_locales');
  ctx.url = `${routes.end_session}${locales === null ? '' : `?${new URLSearchParams({ ui_locales: locales })}`}`;
}

/** What is wrong with a request to sign out, and the Client if its hint or redirect belongs to one. */
interface SignOutFault {
  readonly fault?: MessageID;
  readonly client?: string;
}

async function faultOf(provider: Provider, sent: URLSearchParams): Promise<SignOutFault> {
  if (new Set(sent.keys()).size < [...sent.keys()].length) return { fault: 'error.invalidRequest' };
  const [hint, id] = [sent.get('id_token_hint'), sent.get('client_id')];
  const redirect = sent.get('post_logout_redirect_uri');
  const audience = hint === null ? id : audienceOf(hint);
  if (audience === undefined) return { fault: 'signOut.failed.unreadable' };
  if (audience === null) return {}; // No one is named, so nothing is believed.
  if (id !== null && id !== audience) return { fault: 'signOut.failed.otherApp' };
  const found = await provider.Client.find(audience).catch(undefinedIfInvalid);
  if (!found) return { fault: hint === null ? 'error.invalidClient' : 'signOut.failed.audience' };
  const client = audience;
  if (hint !== null) {
    const isGenuine = await provider.IdToken.validate(hint, found).then(
      () => true,
      () => false,
    );
    if (!isGenuine) return { fault: 'signOut.failed.invalid', client };
  }
  return redirect === null || found.postLogoutRedirectUriAllowed(redirect)
    ? {}
    : { fault: 'signOut.failed.redirect', client };
}

/** Each fault in the words of the log, and what mends it. */
const reasons: Readonly<Partial<Record<MessageID, readonly [string, string]>>> = {
  'error.invalidRequest': ['a parameter is repeated', 'each parameter once in the program'],
  'error.invalidClient': ['client not found', 'client_id: no Client has this name'],
  'signOut.failed.unreadable': [
    'id_token_hint cannot be read',
    'id_token_hint in the program: the ID token as it came from here',
  ],
  'signOut.failed.audience': [
    'the Client of id_token_hint was not found',
    'id_token_hint in the program: an ID token from here',
  ],
  'signOut.failed.otherApp': [
    'id_token_hint was issued to another Client',
    'client_id in the program: the Client that got the ID token',
  ],
  'signOut.failed.invalid': [
    'id_token_hint was not issued here, was changed, or its key was removed',
    'id_token_hint in the program: the ID token as it came from here',
  ],
  'signOut.failed.redirect': [
    'post_logout_redirect_uri is not registered',
    'spec.postLogoutRedirectURIs of the Client',
  ],
};

/** Returns the audience in a JWT that is not verified yet; undefined if it cannot be read. */
function audienceOf(jwt: string): string | undefined {
  try {
    const { aud } = decodeJwt(jwt);
    return typeof aud === 'string' ? aud : undefined;
  } catch {
    return undefined;
  }
}

function undefinedIfInvalid(error: unknown): undefined {
  if (!(error instanceof errors.OIDCProviderError)) throw error;
}
