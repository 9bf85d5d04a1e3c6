import type { KoaContext, ProviderContext } from 'oidc-provider';
import type { ProviderServices } from '../context/context.js';
import { html, type Html } from './html.js';
import { errorMessage, signOutErrorMessage, statusErrorMessage } from './error-messages.js';
import { mayShowParameters, wrongParameters } from './wrong-parameters.js';

/** Returns a page with the shared style sheet and without scripts. */
export function page(
  services: ProviderServices,
  title: string,
  body: Html,
  phase = 'provider',
): string {
  return html`<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="${services.stylesheet()}">
</head>
<body>
<header class="top"><span class="mark"></span><bdi dir="ltr">${new URL(services.settings.baseURL).host}</bdi></header>
<main data-phase="${phase}">
<div class="card">
<h1 tabindex="-1">${title.replace(/^Error: /, '')}</h1>
${body}
</div>
</main>
</body>
</html>
`.text;
}

/** Sends a page as the response. */
export function sendPage(ctx: KoaContext, content: string): void {
  ctx.type = 'html';
  ctx.body = content;
}

/** Returns the wrong parameters as HTML, if they may be shown. */
function wrongParameterHints(
  services: ProviderServices,
  ctx: KoaContext,
  error: string,
): readonly Html[] {
  if (!mayShowParameters(services)) return [];
  const sent = (ctx as { oidc?: { params?: Record<string, unknown> } }).oidc?.params;
  return Object.entries(wrongParameters(error, sent) ?? {}).map(
    ([name, value]) => html`<p class="hint">${name}: <code>${value}</code></p>`,
  );
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
  const signOut =
    ctx.oidc?.route === 'end_session' ? signOutErrorMessage(out.error_description) : undefined;
  const { title, advice } = signOut ?? errorMessage(out.error, ctx.status);
  const audit = ctx.response.get('Audit-ID');
  sendPage(
    ctx,
    page(
      services,
      `Error: ${title}`,
      html`<p>${advice}</p>${wrongParameterHints(services, ctx, out.error)}${audit && html`<p class="hint"><small>${audit}</small></p>`}`,
      'error',
    ),
  );
}

/** Returns the page for an unknown path or an unavailable resource. */
export function errorPage(services: ProviderServices, status: number, auditID: string): string {
  const { title, advice } = statusErrorMessage(status);
  return page(
    services,
    `Error: ${title}`,
    html`<p>${advice}</p><p class="hint"><small>${auditID}</small></p>`,
    'error',
  );
}

/** Renders the confirmation before a sign-out; a link alone never signs out. */
export function renderLogout(services: ProviderServices, ctx: ProviderContext): void {
  const { secret } = ctx.oidc.session!.state!;
  sendPage(
    ctx,
    page(
      services,
      'Sign out?',
      html`<p>You will be signed out here, and the services you use from this browser are notified.</p>
<form method="post" action="${ctx.oidc.urlFor('end_session_confirm')}">
<input type="hidden" name="xsrf" value="${secret}">
<div class="pair">
<button class="button main" type="submit" name="logout" value="yes">Sign out</button>
<button class="button" type="submit">Stay signed in</button>
</div>
</form>`,
    ),
  );
}

/** Renders the page after a sign-out without a redirect. */
export function renderSignedOut(services: ProviderServices, ctx: KoaContext): void {
  sendPage(ctx, page(services, 'You are signed out', html`<p>You can close this page.</p>`));
}
