import { cookieValues } from '../../security/cookie-header.js';
import type { Keys } from '../../security/keyring.js';

/** The names of the provider's cookies; each has a signature under `<name>.sig`. */
export interface CookieNames {
  readonly interaction: string;
  readonly resume: string;
  readonly session: string;
  /** What a browser proves earlier sign-ins by; sealed by its own MAC. */
  readonly known: string;
  /** Binds the former two to one browser; not signed. */
  readonly browser: string;
  readonly secure: boolean;
}

/**
 * Prefixed names, which browsers hold to https (RFC 6265bis §4.1.3); plain ones only where the base
 * URL is http on loopback.
 */
export function cookieNames(baseURL: string): CookieNames {
  const secure = baseURL.startsWith('https:');
  const names = {
    interaction: 'vestibule-interaction',
    resume: 'vestibule-resume',
    session: 'vestibule-session',
    browser: 'vestibule-browser',
    known: 'vestibule-known',
  };
  if (!secure) return { ...names, secure };
  return {
    interaction: `__Secure-${names.interaction}`,
    resume: `__Secure-${names.resume}`,
    session: `__Host-${names.session}`,
    browser: `__Host-${names.browser}`,
    known: `__Host-${names.known}`,
    secure,
  };
}

/** The id that a browser was given, 256 random bits; undefined where it has none. */
export function browserID(header: string | undefined, names: CookieNames): string | undefined {
  const value = cookieValue(header, names.browser);
  return value !== undefined && /^[A-Za-z0-9_-]{43}$/.test(value) ? value : undefined;
}

/**
 * A Set-Cookie line that gives a browser its id, or lengthens what it has; `seconds` from now. A
 * sibling subdomain can set no cookie whose name begins with `__Host-` (RFC 6265bis §4.1.3.2).
 */
export const browserCookie = (names: CookieNames, id: string, seconds: number): string =>
  `${names.browser}=${id}; path=/; max-age=${seconds}; samesite=lax;${names.secure ? ' secure;' : ''} httponly`;

/**
 * What is signed for a cookie, `name=value`. The cookies of an interaction have a path and thus no
 * `__Host-` name, so their signature covers the browser's
 * id besides: set in another browser by a sibling subdomain they are worth nothing there. Undefined
 * where the browser has no id.
 */
function signedData(
  names: CookieNames,
  data: string,
  browser: string | undefined,
): string | undefined {
  const isBound = data.startsWith(`${names.interaction}=`) || data.startsWith(`${names.resume}=`);
  if (!isBound) return data;
  return browser && `${data} ${browser}`;
}

/**
 * How the library signs cookies: HMAC-SHA-256, the newest key first, every live key verifies.
 * `browser` gives the id of the browser whose request is answered.
 */
export class CookieSigner {
  readonly #keys: Keys;
  readonly #names: CookieNames;
  readonly #browser: () => string | undefined;

  constructor(keys: Keys, names: CookieNames, browser: () => string | undefined) {
    this.#keys = keys;
    this.#names = names;
    this.#browser = browser;
  }

  sign(data: string): string {
    return this.#keys.signCookie(signedData(this.#names, data, this.#browser()) ?? '');
  }

  index(data: string, signature: string): number {
    const signed = signedData(this.#names, data, this.#browser());
    return signed === undefined ? -1 : this.#keys.cookieKeyIndex(signed, signature);
  }

  verify(data: string, signature: string): boolean {
    return this.index(data, signature) >= 0;
  }
}

/** The one value under a name; undefined where there is none or two that differ. */
export function cookieValue(header: string | undefined, name: string): string | undefined {
  const values = new Set(cookieValues(header, name));
  return values.size === 1 ? [...values][0] : undefined;
}

/**
 * Whether a live key signed this value, for this browser where the cookie is bound to one; old and
 * new signatures may come along side by side.
 */
export function isSigned(
  keys: Keys,
  names: CookieNames,
  header: string | undefined,
  name: string,
  value: string,
): boolean {
  const signer = new CookieSigner(keys, names, () => browserID(header, names));
  return cookieValues(header, `${name}.sig`).some((signature) =>
    signer.verify(`${name}=${value}`, signature),
  );
}

/**
 * The Cookie header without those of our cookies that came with two different values, which do not
 * count, or in quotes, which the library would take off.
 */
export function withoutAmbiguous(
  header: string | undefined,
  names: CookieNames,
): string | undefined {
  const ours = [names.interaction, names.resume, names.session, names.browser];
  const ambiguous = ours.filter((name) => new Set(cookieValues(header, name)).size > 1);
  const quoted = header?.includes('"')
    ? [...ours, ...ours.map((name) => `${name}.sig`)].filter((name) =>
        cookieValues(header, name).some((value) => value.startsWith('"')),
      )
    : [];
  const dropped = new Set([...ambiguous, ...quoted]);
  if (!header || dropped.size === 0) return header;
  return header
    .split(';')
    .filter((pair) => !dropped.has(pair.slice(0, Math.max(0, pair.indexOf('='))).trim()))
    .join(';');
}

/** Set-Cookie lines that clear the session's cookie and its signature. */
export function clearedSession(names: CookieNames): string[] {
  return [names.session, `${names.session}.sig`].map(
    (name) =>
      `${name}=; path=/; expires=Thu, 01 Jan 1970 00:00:00 GMT; ` +
      `samesite=lax;${names.secure ? ' secure;' : ''} httponly`,
  );
}
