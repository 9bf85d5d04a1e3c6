import { randomBytes } from 'node:crypto';
import type { KoaContext } from 'oidc-provider';
import type { ProviderServices } from './context.js';
import { browserCookie, browserID, type CookieNames } from './cookies.js';
import { currentUnitOfWork, requestState } from './current-request.js';
import { StateKey } from './request-state.js';

/** The id of the browser that the response sets. */
const newBrowser = new StateKey<string>();

/**
 * Returns the id of the current request's browser: the one set in this response, else the one of
 * the request.
 */
export function currentBrowser(names: CookieNames): string | undefined {
  const unitOfWork = currentUnitOfWork();
  return (
    unitOfWork?.state.get(newBrowser) ??
    browserID(unitOfWork?.origin.request?.headers.cookie, names)
  );
}

/**
 * Sets the id cookie of a browser that starts an interaction, or extends it, for as long as the
 * interaction's cookies last.
 */
export function bindBrowser(services: ProviderServices, ctx: KoaContext): void {
  const id = currentBrowser(services.pages.cookies) ?? randomBytes(32).toString('base64url');
  requestState().set(newBrowser, id);
  ctx.append(
    'Set-Cookie',
    browserCookie(
      services.pages.cookies,
      id,
      (2 * services.settings.limits.interactionLifetime) / 1000,
    ),
  );
}
