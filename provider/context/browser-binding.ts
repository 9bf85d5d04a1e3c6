import { randomBytes } from 'node:crypto';
import type { KoaContext } from 'oidc-provider';
import type { ProviderServices } from './context.js';
import { browserCookie, browserID, type CookieNames } from './cookies.js';
import { currentUnitOfWork } from './unit-of-work.js';

const browserIdMemo = 'browser';

/**
 * Returns the id of the current request's browser: the one set in this response, else the one of
 * the request.
 */
export function currentBrowser(names: CookieNames): string | undefined {
  const unitOfWork = currentUnitOfWork();
  return (
    (unitOfWork?.memo.get(browserIdMemo) as string | undefined) ??
    browserID(unitOfWork?.origin.request?.headers.cookie, names)
  );
}

/**
 * Sets the id cookie of a browser that starts an interaction, or extends it, for as long as the
 * interaction's cookies last.
 */
export function bindBrowser(services: ProviderServices, ctx: KoaContext): void {
  const id = currentBrowser(services.cookies) ?? randomBytes(32).toString('base64url');
  currentUnitOfWork()!.memo.set(browserIdMemo, id);
  ctx.append(
    'Set-Cookie',
    browserCookie(services.cookies, id, (2 * services.settings.limits.interactionLifetime) / 1000),
  );
}
