import { cookieValues } from '../registry/cookies.js';
import type { Keys } from '../registry/keys.js';

/** The names of the provider's cookies; each has a signature under `<name>.sig`. */
export interface CookieNames { readonly interaction: string; readonly resume: string; readonly session: string; readonly secure: boolean }

/** Prefixed names, which browsers hold to https; plain ones only where the base URL is http on loopback (`provider.md` 5). */
export function cookieNames(baseURL: string): CookieNames {
  const secure = baseURL.startsWith('https:');
  const names = { interaction: 'vestibule-interaction', resume: 'vestibule-resume', session: 'vestibule-session' };
  if (!secure) return { ...names, secure };
  return { interaction: `__Secure-${names.interaction}`, resume: `__Secure-${names.resume}`, session: `__Host-${names.session}`, secure };
}

/** How the library signs cookies: HMAC-SHA-256, the newest key first, every live key verifies. */
export class CookieSigner {
  readonly #keys: Keys;
  constructor(keys: Keys) { this.#keys = keys }
  sign(data: string): string { return this.#keys.signCookie(data) }
  index(data: string, signature: string): number { return this.#keys.cookieKeyIndex(data, signature) }
  verify(data: string, signature: string): boolean { return this.index(data, signature) >= 0 }
}

/** The one value under a name; undefined where there is none or two that differ. */
export function cookieValue(header: string | undefined, name: string): string | undefined {
  const values = new Set(cookieValues(header, name));
  return values.size === 1 ? [...values][0] : undefined;
}

/** Whether a live key signed this value; old and new signatures may come along side by side. */
export function isSigned(keys: Keys, header: string | undefined, name: string, value: string): boolean {
  return cookieValues(header, `${name}.sig`).some((signature) => keys.cookieKeyIndex(`${name}=${value}`, signature) >= 0);
}

/** The Cookie header without those of our cookies that came with two different values, which do not count, or in quotes, which the library would take off. */
export function withoutAmbiguous(header: string | undefined, names: CookieNames): string | undefined {
  const ours = [names.interaction, names.resume, names.session];
  const ambiguous = ours.filter((name) => new Set(cookieValues(header, name)).size > 1);
  const quoted = header?.includes('"') ? [...ours, ...ours.map((name) => `${name}.sig`)].filter((name) => cookieValues(header, name).some((value) => value.startsWith('"'))) : [];
  const dropped = new Set([...ambiguous, ...quoted]);
  if (!header || dropped.size === 0) return header;
  return header.split(';').filter((pair) => !dropped.has(pair.slice(0, Math.max(0, pair.indexOf('='))).trim())).join(';');
}

/** Set-Cookie lines that clear the session's cookie and its signature. */
export function clearedSession(names: CookieNames): string[] {
  return [names.session, `${names.session}.sig`].map((name) =>
    `${name}=; path=/; expires=Thu, 01 Jan 1970 00:00:00 GMT; samesite=lax;${names.secure ? ' secure;' : ''} httponly`);
}
