import type { KoaContext } from 'oidc-provider';
import { html } from './html.js';
import { translatorOf } from './language.js';

/** The page of oidc-provider that submits a form by script: a response, or a change of accounts. */
const libraryTitle = '<title>Submitting Callback</title>';

/** Returns what the library says to a browser without scripts. */
function libraryNoScript(page: string): string {
  const end = '</noscript>';
  return page.slice(page.indexOf('<noscript>'), page.lastIndexOf(end) + end.length);
}

/** Writes that page in the language of the person. Its values are escaped by the library. */
export function translateFormPage(ctx: KoaContext): void {
  if (typeof ctx.body !== 'string' || !ctx.body.includes(libraryTitle)) return;
  const translator = translatorOf(ctx);
  const text = html`<noscript>
<p>${translator.text('page.noScript')}</p>
<button autofocus type="submit">${translator.text('page.continue')}</button>
</noscript>`.text;
  const opening = html`<html lang="${translator.language}" dir="${translator.direction}">`.text;
  const title = html`<title>${translator.text('page.moment')}</title>`.text;
  ctx.body = ctx.body
    .replace('<html>', () => opening)
    .replace(libraryTitle, () => title)
    .replace(libraryNoScript(ctx.body), () => text);
}
