import { randomBytes } from 'node:crypto';
import type { KoaContext } from 'oidc-provider';
import { browserCookie, browserID, type CookieNames } from './cookies.js';
import { currentExchange } from './unit-of-work.js';
import type { Foundation } from './context.js';

const givenMemo = 'browser';

/**
 * The id of the browser whose request the library answers: the one given in this answer, else the
 * one it came with.
 */
export function currentBrowser(names: CookieNames): string | undefined {
  const exchange = currentExchange();
  return (
    (exchange?.memo.get(givenMemo) as string | undefined) ??
    browserID(exchange?.origin.request?.headers.cookie, names)
  );
}

/**
 * Gives the browser that begins an interaction an id, or keeps the one it has, for as long as the
 * interaction's own cookies last.
 */
export function bindBrowser(on: Foundation, ctx: KoaContext): void {
  const id = currentBrowser(on.cookies) ?? randomBytes(32).toString('base64url');
  currentExchange()!.memo.set(givenMemo, id);
  ctx.append(
    'Set-Cookie',
    browserCookie(on.cookies, id, (2 * on.settings.limits.interactionLifetime) / 1000),
  );
}
