import type { KoaContext, ProviderContext } from 'oidc-provider';
import { describeProgram } from '../../kinds/signin/user-agent.js';
import { toTimestamp } from '../../registry/timestamp.js';
import { clientName } from '../adapter/clients.js';
import { currentUnitOfWork } from '../context/unit-of-work.js';
import type { ProviderServices } from '../context/context.js';
import { html, type Html } from './html.js';
import { page, sendPage } from './pages.js';

/** The device authorization request's origin, stored with its device code. */
export interface DeviceOrigin {
  /** The client network of the request. */
  readonly network: string;
  readonly userAgent: string;
  /** The time of the request, in milliseconds since the epoch. */
  readonly askedAt: number;
}

/** Returns the origin of this request for the confirmation page. */
export function deviceOrigin(ctx: KoaContext): DeviceOrigin {
  return {
    network: currentUnitOfWork()?.origin.network ?? '',
    userAgent: ctx.get('user-agent').slice(0, 512),
    askedAt: Date.now(),
  };
}

/** Renders the page on which a person enters the user code (RFC 8628 §3.3). */
export function renderUserCode(
  services: ProviderServices,
  ctx: ProviderContext,
  error?: Error & { userCode?: string },
): void {
  const declined = error?.name === 'AbortedError';
  const wrong =
    error &&
    (declined
      ? 'It was not connected.'
      : 'That code is not right or no longer good. Check it and try again.');
  sendPage(
    ctx,
    page(
      services,
      wrong ? 'Error: Connect a device' : 'Connect a device',
      html`<p>Type the code that the device shows. Do so only if you started this yourself.</p>
<form method="post" action="${ctx.oidc.urlFor('code_verification')}">
<input type="hidden" name="xsrf" value="${ctx.oidc.session!.state!.secret}">
<div class="field">
<label for="user_code">Code</label>
<input class="code" id="user_code" type="text" name="user_code" dir="ltr" autocomplete="off" autocapitalize="characters" spellcheck="false" required${wrong && html` aria-invalid="true" aria-describedby="wrong"`}>
${wrong && html`<p class="error" role="alert" id="wrong">${wrong}</p>`}
</div>
<button class="button main" type="submit">Continue</button>
</form>`,
    ),
  );
}

/**
 * Renders the confirmation page before anything is granted to the device: its program, network,
 * time and permissions (RFC 8628 §5.4).
 */
export async function renderUserCodeConfirm(
  services: ProviderServices,
  ctx: ProviderContext,
  origin: DeviceOrigin,
  userCode: string,
): Promise<void> {
  const name = await clientName(services, ctx.oidc.client!.clientId);
  sendPage(
    ctx,
    page(
      services,
      'Is this your device?',
      html`<p><bdi>${name}</bdi> wants to be connected. It must show this code:</p>
<p class="digits"><bdi dir="ltr">${userCode}</bdi></p>
<dl class="values">
<div><dt>Program</dt><dd><bdi>${describeProgram(origin.userAgent)}</bdi></dd></div>
<div><dt>Network</dt><dd><bdi dir="ltr">${origin.network || 'unknown'}</bdi></dd></div>
<div><dt>Asked</dt><dd><time datetime="${toTimestamp(origin.askedAt)}">${timeAgo(Date.now() - origin.askedAt)}</time></dd></div>
</dl>
<p>It would be able to:</p>
<ul class="values">${permissionsOf(services, ctx.oidc.entities.DeviceCode!.params.scope)}</ul>
<p class="hint">If someone sent you this code or this link, they want to use your account. Choose “This is not my device”.</p>
<form method="post" action="${ctx.oidc.urlFor('code_verification')}">
<input type="hidden" name="xsrf" value="${ctx.oidc.session!.state!.secret}">
<input type="hidden" name="user_code" value="${userCode}">
<input type="hidden" name="confirm" value="yes">
<div class="pair">
<button class="button main" type="submit">It shows this code</button>
<button class="button" type="submit" name="abort" value="yes">This is not my device</button>
</div>
</form>
<p class="hint">You may be asked to sign in again first.</p>`,
    ),
  );
}

/** Renders the page after a device was connected. */
export function renderConnected(services: ProviderServices, ctx: KoaContext): void {
  sendPage(
    ctx,
    page(
      services,
      'Your device is connected',
      html`<p>Go back to it; you can close this page.</p>`,
    ),
  );
}

/** Returns the permissions of the requested scopes as list items. */
function permissionsOf(services: ProviderServices, requestedScopes: string | undefined): Html[] {
  const names = new Set((requestedScopes ?? '').split(' '));
  return services
    .scopes()
    .filter((scope) => names.has(scope.name))
    .flatMap((scope) => scope.permissions ?? [scope.description])
    .map((one) => html`<li>${one}</li>`);
}

/** Returns how long ago something was, as a phrase. */
function timeAgo(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 1) return 'less than a minute ago';
  return minutes === 1 ? 'a minute ago' : `${minutes} minutes ago`;
}
