import { decodeJwt } from 'jose';
import { errors, type KoaContext, type Provider } from 'oidc-provider';
import type { MessageID } from '../../i18n/languages.js';
import { currentUnitOfWork } from '../context/unit-of-work.js';
import type { ProviderServices } from '../context/context.js';
import { routes } from '../context/routes.js';
import { logRefusal, showableText } from './wrong-parameters.js';

/** The memo key of what is wrong with a request to sign out. */
const faultMemo = 'fault of the sign-out';

/** Returns what is wrong with the current request to sign out; undefined if nothing is. */
export const signOutFault = (): MessageID | undefined =>
  currentUnitOfWork()?.memo.get(faultMemo) as MessageID | undefined;

/**
 * Returns the middleware that takes everything from a request to sign out that cannot be believed: its
 * hint, its Client and where it leads. The person is asked, can sign out, and stays here (RP-Initiated
 * Logout 1.0 §2, §4). oidc-provider would answer with an error, and no one could sign out.
 */
export const believeSignOut =
  (services: Pick<ProviderServices, 'log'>, provider: Provider) =>
  async (ctx: KoaContext, next: () => Promise<void>): Promise<void> => {
    if (ctx.path === routes.end_session) await removeUnbelievable(services, provider, ctx);
    await next();
  };

async function removeUnbelievable(
  services: Pick<ProviderServices, 'log'>,
  provider: Provider,
  ctx: KoaContext,
): Promise<void> {
  const sent = new URLSearchParams(ctx.originalUrl.split('?')[1]);
  const fault = await faultOf(provider, sent);
  if (fault === undefined) return;
  currentUnitOfWork()!.memo.set(faultMemo, fault);
  const shown = ['client_id', 'post_logout_redirect_uri'].filter((name) => sent.has(name));
  const parameters = shown.map((name) => [name, showableText(sent.get(name)!)]);
  logRefusal(services, {
    endpoint: 'end_session',
    error: 'invalid_request',
    reason: fault,
    parameters: Object.fromEntries(parameters),
    auditID: ctx.response.get('Audit-ID'),
  });
  const locales = sent.get('ui_locales');
  ctx.url = `${routes.end_session}${locales === null ? '' : `?${new URLSearchParams({ ui_locales: locales })}`}`;
}

async function faultOf(provider: Provider, sent: URLSearchParams): Promise<MessageID | undefined> {
  if (new Set(sent.keys()).size < [...sent.keys()].length) return 'error.invalidRequest';
  const [hint, id] = [sent.get('id_token_hint'), sent.get('client_id')];
  const redirect = sent.get('post_logout_redirect_uri');
  const audience = hint === null ? id : audienceOf(hint);
  if (audience === undefined) return 'signOut.failed.unreadable';
  if (audience === null) return undefined; // No one is named, so nothing is believed.
  if (id !== null && id !== audience) return 'signOut.failed.otherApp';
  const client = await provider.Client.find(audience).catch(undefinedIfInvalid);
  if (!client) return hint === null ? 'error.invalidClient' : 'signOut.failed.audience';
  if (hint !== null) {
    const isGenuine = await provider.IdToken.validate(hint, client).then(
      () => true,
      () => false,
    );
    if (!isGenuine) return 'signOut.failed.invalid';
  }
  return redirect === null || client.postLogoutRedirectUriAllowed(redirect)
    ? undefined
    : 'signOut.failed.redirect';
}

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
