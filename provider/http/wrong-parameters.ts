import { isLoopback } from '../../security/loopback.js';
import type { ProviderServices } from '../context/context.js';

/** How many characters of a parameter are shown. */
const shownLength = 200;

/**
 * What no page and no line of a log may have in it: control characters, and those that break lines
 * or turn the direction of text.
 */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** The parameters that each error code is about (RFC 6749 §4.1.2.1). */
const about: Readonly<Record<string, readonly string[]>> = {
  invalid_client: ['client_id'],
  invalid_redirect_uri: ['client_id', 'redirect_uri'],
  invalid_scope: ['client_id', 'scope'],
};

/**
 * What may be a mail address, a JWT, or 256 random bits: people paste them into the wrong field,
 * and no log may hold them.
 */
const isAddress = (word: string): boolean => /^[^@]+@[^@]/.test(word);
const isToken = (run: string): boolean =>
  /[\w-]{40}/.test(run) || (run.includes('eyJ') && run.includes('.', run.indexOf('eyJ')));
const loggable = (value: string): string =>
  value.replaceAll(/\S+/g, (word) =>
    isAddress(word)
      ? '(hidden)'
      : word.replaceAll(/[\w.-]+/g, (run) => (isToken(run) ? '(hidden)' : run)),
  );

/**
 * Returns a parameter as it may be shown: cut to 200 characters, with what cannot be printed
 * escaped.
 */
export const shown = (text: string): string => {
  const cut = text.length > shownLength ? `${text.slice(0, shownLength)}…` : text;
  return cut.replaceAll(unprintable, (one) => `\\u{${one.codePointAt(0)!.toString(16)}}`);
};

/**
 * Returns the parameters that an authorization request was refused for, as they came, cut to 200
 * characters, with what cannot be printed escaped; undefined where the error is of another sort.
 */
export function wrongParameters(
  error: string,
  sent: Readonly<Record<string, unknown>> = {},
): Record<string, string> | undefined {
  if (!Object.hasOwn(about, error)) return undefined;
  return Object.fromEntries(
    about[error]!.filter((name) => typeof sent[name] === 'string').map((name) => [
      name,
      shown(sent[name] as string),
    ]),
  );
}

/**
 * Whether what came may be shown on pages and in answers: while the base URL is loopback, where who
 * sees it is building an app.
 */
export const mayShowParameters = ({ settings }: Pick<ProviderServices, 'settings'>): boolean =>
  isLoopback(new URL(settings.baseURL).hostname);

/**
 * Logs that a request of a Client was refused for these parameters, already as they may be shown.
 */
export function logRefusal(
  { log }: Pick<ProviderServices, 'log'>,
  error: string,
  parameters: Readonly<Record<string, string>>,
  auditID: string,
): void {
  const logged = Object.fromEntries(
    Object.entries(parameters).map(([name, value]) => [name, loggable(value)]),
  );
  log.warn({ error, parameters: logged, auditID }, 'a request of a Client was refused');
}
