import type { KoaContext } from 'oidc-provider';
import { acceptedLanguages } from '../../i18n/languages.js';
import { Translator } from '../../i18n/translator.js';

/**
 * Returns the translator of a page: the languages that the app asked for (`ui_locales`, OpenID
 * Connect Core §3.1.2.1), then those of the browser.
 */
export function translatorOf(ctx: KoaContext): Translator {
  const locales = ctx.oidc?.params?.ui_locales;
  const asked = typeof locales === 'string' ? locales.split(' ', 10) : [];
  return new Translator([...asked, ...acceptedLanguages(ctx.get('accept-language'))]);
}
