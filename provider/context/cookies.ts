import { cookieValues } from '../../security/cookie-header.js';
import type { Keys } from '../../security/keyring.js';

/** The names of the provider's cookies; each has a signature under `<name>.sig`. */
export interface CookieNames {
  readonly interaction: string;
  readonly resume: string;
  readonly session: string;
  /** Identifies browsers that signed in before; authenticated by its own MAC. */
  readonly known: string;
  /** Binds `interaction` and `resume` to one browser; not signed. */
  readonly browser: string;
  readonly secure: boolean;
}

/**
 * Returns the cookie names: with prefixes that browsers restrict to https (RFC 6265bis §4.1.3), and
 * plain ones if the base URL is http on loopback.
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

/** Returns the id of a browser, 256 random bits; undefined if it has none. */
export function browserID(header: string | undefined, names: CookieNames): string | undefined {
  const value = cookieValue(header, names.browser);
  return value !== undefined && /^[A-Za-z0-9_-]{43}$/.test(value) ? value : undefined;
}

/**
 * Returns the Set-Cookie value that sets or extends a browser's id; `seconds` from now. A sibling
 * subdomain cannot set a cookie whose name begins with `__Host-` (RFC 6265bis §4.1.3.2).
 */
export const browserCookie = (names: CookieNames, id: string, seconds: number): string =>
  `${names.browser}=${id}; path=/; max-age=${seconds}; samesite=lax;${names.secure ? ' secure;' : ''} httponly`;

/**
 * Returns the text to sign for a cookie, `name=value`. Interaction cookies have a path and thus no
 * `__Host-` name, so their signature also covers the browser's id: a sibling subdomain cannot plant
 * them in another browser. Returns undefined if the browser has no id.
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
 * Signs cookies for oidc-provider: HMAC-SHA-256 with the newest key; every live key verifies.
 * `browser` returns the id of the current request's browser.
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

/** Returns the value of a cookie; undefined if it is absent or occurs with different values. */
export function cookieValue(header: string | undefined, name: string): string | undefined {
  const values = new Set(cookieValues(header, name));
  return values.size === 1 ? [...values][0] : undefined;
}

/** A browser holds an old and a new signature at most; a header may have hundreds. */
const maxSignatures = 8;

/**
 * Returns true if a live key signed the value, for this browser if the cookie is bound to one. Old
 * and new signatures may be present together.
 */
export function isSigned(
  keys: Keys,
  names: CookieNames,
  header: string | undefined,
  name: string,
  value: string,
): boolean {
  const browser = browserID(header, names);
  const signer = new CookieSigner(keys, names, () => browser);
  return cookieValues(header, `${name}.sig`)
    .slice(0, maxSignatures)
    .some((signature) => signer.verify(`${name}=${value}`, signature));
}

/**
 * Returns the Cookie header without those of our cookies that are ambiguous (two values) or quoted
 * (the library would remove the quotes).
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

/** Returns the Set-Cookie values that clear the session cookie and its signature. */
export function clearedSession(names: CookieNames): string[] {
  return [names.session, `${names.session}.sig`].map(
    (name) =>
      `${name}=; path=/; expires=Thu, 01 Jan 1970 00:00:00 GMT; ` +
      `samesite=lax;${names.secure ? ' secure;' : ''} httponly`,
  );
}
