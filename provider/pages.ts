import type { KoaContext, ProviderContext } from 'oidc-provider';
import { clientName } from './clients.js';
import type { Foundation } from './foundation.js';
import { html, type Html } from './html.js';
import { sentenceFor, sentenceForStatus } from './sentences.js';

/** One small page with the shared style sheet and no script. */
export function page(on: Foundation, title: string, body: Html, phase = 'provider'): string {
  return html`<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="stylesheet" href="${on.stylesheet()}">
</head>
<body>
<header class="top"><span class="mark"></span><bdi dir="ltr">${new URL(on.settings.baseURL).host}</bdi></header>
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

function show(ctx: KoaContext, content: string): void {
  ctx.type = 'html';
  ctx.body = content;
}

/** Says what went wrong in our own words; never what the request or the library said. */
export function renderError(on: Foundation, ctx: KoaContext, out: { error: string }): void {
  const { title, advice } = sentenceFor(out.error, ctx.status);
  const audit = ctx.response.get('Audit-ID');
  show(ctx, page(on, `Error: ${title}`, html`<p>${advice}</p>${audit && html`<p class="hint"><small>${audit}</small></p>`}`, 'error'));
}

/** The page for a person who went where nothing is, or where nothing can be given now. */
export function errorPage(on: Foundation, status: number, auditID: string): string {
  const { title, advice } = sentenceForStatus(status);
  return page(on, `Error: ${title}`, html`<p>${advice}</p><p class="hint"><small>${auditID}</small></p>`, 'error');
}

/** Asks before somebody is signed out: a link alone never does it. */
export function renderLogout(on: Foundation, ctx: ProviderContext): void {
  const { secret } = ctx.oidc.session!.state!;
  show(ctx, page(on, 'Sign out?', html`<p>You will be signed out here, and the services you use from this browser are told.</p>
<form method="post" action="${ctx.oidc.urlFor('end_session_confirm')}">
<input type="hidden" name="xsrf" value="${secret}">
<div class="pair">
<button class="button main" type="submit" name="logout" value="yes">Sign out</button>
<button class="button" type="submit">Stay signed in</button>
</div>
</form>`));
}

/** The end of a sign-out that leads nowhere else. */
export function renderSignedOut(on: Foundation, ctx: KoaContext): void {
  show(ctx, page(on, 'You are signed out', html`<p>You can close this page.</p>`));
}

/** Where a person types what another screen shows (RFC 8628 3.3). */
export function renderUserCode(on: Foundation, ctx: ProviderContext, error?: Error & { userCode?: string }): void {
  const wrong = error && (error.name === 'AbortedError' ? 'It was not connected.' : 'That code is not right or no longer good. Check it and try again.');
  show(ctx, page(on, wrong ? 'Error: Connect a device' : 'Connect a device', html`<p>Type the code that the device shows. Do so only if you started this yourself.</p>
<form method="post" action="${ctx.oidc.urlFor('code_verification')}">
<input type="hidden" name="xsrf" value="${ctx.oidc.session!.state!.secret}">
<div class="field">
<label for="user_code">Code</label>
<input class="code" id="user_code" type="text" name="user_code" dir="ltr" autocomplete="off" autocapitalize="characters" spellcheck="false" required${wrong && html` aria-invalid="true" aria-describedby="wrong"`}>
${wrong && html`<p class="error" role="alert" id="wrong">${wrong}</p>`}
</div>
<button class="button main" type="submit">Continue</button>
</form>`));
}

/** Has the code confirmed before anything is granted to the device (RFC 8628 5.4). */
export async function renderUserCodeConfirm(on: Foundation, ctx: ProviderContext, userCode: string): Promise<void> {
  const name = await clientName(on, ctx.oidc.client!.clientId);
  show(ctx, page(on, 'Is this your device?', html`<p><bdi>${name}</bdi> wants to be connected. It must show this code:</p>
<p class="digits"><bdi dir="ltr">${userCode}</bdi></p>
<form method="post" action="${ctx.oidc.urlFor('code_verification')}">
<input type="hidden" name="xsrf" value="${ctx.oidc.session!.state!.secret}">
<input type="hidden" name="user_code" value="${userCode}">
<input type="hidden" name="confirm" value="yes">
<div class="pair">
<button class="button main" type="submit">It shows this code</button>
<button class="button" type="submit" name="abort" value="yes">It does not</button>
</div>
</form>`));
}

/** The end of a device's sign-in in the browser. */
export function renderConnected(on: Foundation, ctx: KoaContext): void {
  show(ctx, page(on, 'Your device is connected', html`<p>Go back to it; you can close this page.</p>`));
}
