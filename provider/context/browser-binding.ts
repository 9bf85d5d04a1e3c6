import { randomBytes } from 'node:crypto';
import type { KoaContext } from 'oidc-provider';
import { browserCookie, browserID, type CookieNames } from './cookies.js';
import { currentUnitOfWork } from './unit-of-work.js';
import type { ProviderServices } from './context.js';

const givenMemo = 'browser';

/**
 * The id of the browser whose request the library answers: the one given in this answer, else the
 * one it came with.
 */
export function currentBrowser(names: CookieNames): string | undefined {
  const unitOfWork = currentUnitOfWork();
  return (
    (unitOfWork?.memo.get(givenMemo) as string | undefined) ??
    browserID(unitOfWork?.origin.request?.headers.cookie, names)
  );
}

/**
 * Gives the browser that begins an interaction an id, or keeps the one it has, for as long as the
 * interaction's own cookies last.
 */
export function bindBrowser(services: ProviderServices, ctx: KoaContext): void {
  const id = currentBrowser(services.cookies) ?? randomBytes(32).toString('base64url');
  currentUnitOfWork()!.memo.set(givenMemo, id);
  ctx.append(
    'Set-Cookie',
    browserCookie(services.cookies, id, (2 * services.settings.limits.interactionLifetime) / 1000),
  );
}
