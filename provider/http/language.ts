import type { IncomingMessage, ServerResponse } from 'node:http';
import type { KoaContext } from 'oidc-provider';
import { acceptedLanguages, languageNames } from '../../i18n/languages.js';
import { Translator } from '../../i18n/translator.js';
import { cookieValues } from '../../security/cookie-header.js';
import { type Html, html } from './html.js';

/** The query parameter of the language menu. */
const parameter = 'language';

/** The cookie of the language that a person chose, as the other pages set it (ui/base/text/i18n.ts). */
const cookie = 'vestibule.language';

const cookieMaxAgeSeconds = 365 * 86_400;

/** What the language of a page depends on. */
export type PageRequest = Pick<IncomingMessage, 'method' | 'url' | 'headers'>;

const urlOf = ({ url = '/' }: PageRequest): URL => {
  const base = 'http://localhost';
  return new URL(URL.canParse(url, base) ? url : '/', base);
};

const chosenLanguage = (request: PageRequest): string | undefined => {
  const chosen = urlOf(request).searchParams.get(parameter);
  return chosen !== null && languageNames().has(chosen) ? chosen : undefined;
};

/**
 * Returns the translator of a page. Its language is the first supported one of: the language
 * menu's, those that the app asked for (`ui_locales`, OpenID Connect Core §3.1.2.1), an earlier
 * choice in this browser, the browser's languages.
 */
export function translatorFor(request: PageRequest, uiLocales?: unknown): Translator {
  return new Translator([
    ...[chosenLanguage(request)].filter((chosen) => chosen !== undefined),
    ...(typeof uiLocales === 'string' ? uiLocales.split(' ', 10) : []),
    ...cookieValues(request.headers.cookie, cookie).slice(0, 1),
    ...acceptedLanguages(request.headers['accept-language']),
  ]);
}

/** Returns the translator of a page of oidc-provider. */
export const translatorOf = (ctx: KoaContext): Translator =>
  translatorFor(ctx.req, ctx.oidc?.params?.ui_locales);

/** Stores the choice in the language menu for the pages that follow. */
export function rememberLanguage(
  request: PageRequest,
  response: ServerResponse,
  isSecure: boolean,
): void {
  const chosen = chosenLanguage(request);
  if (chosen === undefined || request.method !== 'GET') return;
  response.appendHeader(
    'Set-Cookie',
    `${cookie}=${chosen}; Path=/; Max-Age=${cookieMaxAgeSeconds}; SameSite=Lax${isSecure ? '; Secure' : ''}`,
  );
}

/**
 * Returns the language menu: a form that asks for the same page in another language. Nothing for
 * pages that it cannot ask for again: answers to a POST, and those of a request with parameters,
 * which no page repeats.
 */
export function languageMenu(request: PageRequest, translator: Translator): Html {
  const { pathname, searchParams } = urlOf(request);
  const isPlain = [...searchParams.keys()].every((name) => name === parameter);
  if (request.method !== 'GET' || !isPlain) return html``;
  const options = [...languageNames()].map(
    ([tag, name]) =>
      html`<option value="${tag}" lang="${tag}"${tag === translator.language && html` selected`}>${name}</option>`,
  );
  return html`<form method="get" action="${pathname}">
<select name="${parameter}" aria-label="${translator.text('page.language')}">${options}</select>
<button class="button small" type="submit">${translator.text('page.language.change')}</button>
</form>`;
}
