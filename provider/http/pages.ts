import type { KoaContext, ProviderContext } from 'oidc-provider';
import type { Translator } from '../../i18n/translator.js';
import type { AppearanceSpec } from '../../kinds/appearance/appearance.js';
import { documentURL } from '../../kinds/apps/client/document-url.js';
import type { ProviderServices } from '../context/context.js';
import { errorMessage, statusErrorMessage } from './error-messages.js';
import { type Html, html } from './html.js';
import { languageMenu, type PageRequest, translatorFor, translatorOf } from './language.js';
import { signOutFault } from './sign-out-request.js';
import { mayShowParameters, sentParameters, wrongParameters } from './wrong-parameters.js';

/** A page without scripts. */
interface PageContent {
  readonly request: PageRequest;
  readonly translator: Translator;
  readonly title: string;
  readonly body: Html;
  readonly phase?: 'provider' | 'error';
}

/** Returns a page with the shared style sheet and without scripts. */
export function page(
  services: ProviderServices,
  { request, translator, title, body, phase = 'provider' }: PageContent,
): string {
  const { spec, stylesheet } = services.pages.appearance.current;
  const shared = services.pages.sharedAssets;
  const name = spec.displayName;
  const headline = phase === 'error' ? translator.text('page.error', { title }) : title;
  return html`<!doctype html>
<html lang="${translator.language}" dir="${translator.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${name ? `${headline} – ${name}` : headline}</title>
<link rel="icon" type="image/svg+xml" href="${shared.icon}">
<link rel="stylesheet" href="${shared.stylesheet}">${stylesheet && html`<link rel="stylesheet" href="${stylesheet}">`}
</head>
<body>
<header class="top">${logo(spec)}${name && html`<bdi>${name}</bdi>`}<bdi dir="ltr">${new URL(services.settings.baseURL).host}</bdi></header>
<main data-phase="${phase}">
<div class="card">
<h1 tabindex="-1">${title}</h1>
${body}
</div>
</main>${footer(request, translator, spec)}
</body>
</html>
`.text;
}

const logo = ({ logo: path }: AppearanceSpec): Html =>
  path === undefined
    ? html`<span class="mark"></span>`
    : html`<img class="logo" src="${path}" alt="">`;

/** Returns the links of the deployment and the language menu. */
function footer(request: PageRequest, translator: Translator, spec: AppearanceSpec): Html {
  const links = [
    [spec.supportURI, translator.text('page.help')],
    [spec.privacyPolicyURI, translator.text('page.privacy')],
    [spec.termsOfServiceURI, translator.text('page.terms')],
  ]
    .filter(([uri]) => uri !== undefined)
    .map(([uri, text]) => html`<a href="${uri}" rel="noopener noreferrer">${text}</a>`);
  return html`<footer class="bottom">${links}${languageMenu(request, translator)}</footer>`;
}

/** Returns the way on from a page that ends here: the account page, which lists a person's apps. */
export const wayOn = (translator: Translator): Html =>
  html`<p><a class="button main" href="/account">${translator.text('mail.account.open')}</a></p>`;

/** Sends a page as the response. */
export function sendPage(ctx: KoaContext, content: string): void {
  ctx.type = 'html';
  ctx.body = content;
}

/** Returns the wrong parameters as HTML, if they may be shown. */
function wrongParameterHints(
  services: ProviderServices,
  ctx: KoaContext,
  out: { error: string; error_description?: string },
): readonly Html[] {
  if (!mayShowParameters(services)) return [];
  return Object.entries(wrongParameters(out, sentParameters(ctx)) ?? {}).map(
    ([name, value]) => html`<p class="hint">${name}: <code>${value}</code></p>`,
  );
}

/** Returns the host of a Client with a metadata document: people should see who sent them here. */
function documentHost({ oidc }: KoaContext): readonly Html[] {
  const { clientId } = oidc?.entities.Client ?? {};
  const host = clientId === undefined ? undefined : documentURL(clientId)?.host;
  return host === undefined ? [] : [html`<p><bdi dir="ltr">${host}</bdi></p>`];
}

/**
 * Renders an error page in our own words, without oidc-provider's description. Shows request
 * parameters only while the base URL is loopback.
 */
export function renderError(
  services: ProviderServices,
  ctx: KoaContext,
  out: { error: string; error_description?: string },
): void {
  const { title, advice } = errorMessage(out.error, ctx.status);
  const hints = [...documentHost(ctx), ...wrongParameterHints(services, ctx, out)];
  const audit = ctx.response.get('Audit-ID');
  const translator = translatorOf(ctx);
  sendPage(
    ctx,
    page(services, {
      request: ctx.req,
      translator,
      title: translator.text(title),
      body: html`<p>${translator.text(advice)}</p>${hints}${wayOn(translator)}${audit && html`<p class="hint"><small>${audit}</small></p>`}`,
      phase: 'error',
    }),
  );
}

/** Returns the page for an unknown path or an unavailable resource. */
export function errorPage(
  services: ProviderServices,
  status: number,
  auditID: string,
  request: PageRequest,
): string {
  const { title, advice } = statusErrorMessage(status);
  const translator = translatorFor(request);
  return page(services, {
    request,
    translator,
    title: translator.text(title),
    body: html`<p>${translator.text(advice)}</p>${wayOn(translator)}<p class="hint"><small>${auditID}</small></p>`,
    phase: 'error',
  });
}

/** Returns the value that proves that a form was sent from its page: oidc-provider compares it. */
export const formSecret = ({ oidc }: ProviderContext): string => oidc.session?.state?.secret ?? '';

/**
 * Renders the confirmation before a sign-out; a link alone never signs out. It says what is wrong with the
 * request, and repeats nothing of it: the page may be opened from any link.
 */
export function renderLogout(services: ProviderServices, ctx: ProviderContext): void {
  const translator = translatorOf(ctx);
  sendPage(
    ctx,
    page(services, {
      request: ctx.req,
      translator,
      title: translator.text('signOut.title'),
      body: html`<p>${translator.text('signOut.about')}</p>${signOutNotice(translator)}
<form method="post" action="${ctx.oidc.urlFor('end_session_confirm')}">
<input type="hidden" name="xsrf" value="${formSecret(ctx)}">
<div class="pair">
<button class="button main" type="submit" name="logout" value="yes">${translator.text('signOut.go')}</button>
<button class="button" type="submit">${translator.text('signOut.stay')}</button>
</div>
</form>`,
    }),
  );
}

function signOutNotice(translator: Translator): Html | undefined {
  const fault = signOutFault();
  return (
    fault &&
    html`<p class="hint">${translator.text(fault)} ${translator.text('signOut.staysHere')}</p>`
  );
}

/** Renders the page after a sign-out without a redirect. */
export function renderSignedOut(services: ProviderServices, ctx: KoaContext): void {
  const translator = translatorOf(ctx);
  sendPage(
    ctx,
    page(services, {
      request: ctx.req,
      translator,
      title: translator.text('signOut.done'),
      body: html`<p>${translator.text('page.close')}</p>${wayOn(translator)}`,
    }),
  );
}
