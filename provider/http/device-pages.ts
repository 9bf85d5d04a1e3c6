import type { KoaContext, ProviderContext } from 'oidc-provider';
import { describeProgram } from '../../kinds/signin/user-agent.js';
import { toTimestamp } from '../../registry/timestamp.js';
import { clientName } from '../adapter/clients.js';
import { currentUnitOfWork } from '../context/unit-of-work.js';
import type { ProviderServices } from '../context/context.js';
import { html, type Html } from './html.js';
import { page, show } from './pages.js';

/** What a device said of itself when it asked to be connected; kept with its device code. */
export interface DeviceOrigin {
  /** The client network it asked from. */
  readonly network: string;
  readonly userAgent: string;
  /** When it asked, in milliseconds since the epoch. */
  readonly askedAt: number;
}

/** Returns what the confirmation will say of the device that makes this request. */
export function deviceOrigin(ctx: KoaContext): DeviceOrigin {
  return {
    network: currentUnitOfWork()?.origin.network ?? '',
    userAgent: ctx.get('user-agent').slice(0, 512),
    askedAt: Date.now(),
  };
}

/** Shows where a person types what another screen shows (RFC 8628 §3.3). */
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
  show(
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
 * Asks for the device to be confirmed before anything is granted to it: which program, from where,
 * since when and what it may do (RFC 8628 §5.4).
 */
export async function renderUserCodeConfirm(
  services: ProviderServices,
  ctx: ProviderContext,
  origin: DeviceOrigin,
  userCode: string,
): Promise<void> {
  const name = await clientName(services, ctx.oidc.client!.clientId);
  show(
    ctx,
    page(
      services,
      'Is this your device?',
      html`<p><bdi>${name}</bdi> wants to be connected. It must show this code:</p>
<p class="digits"><bdi dir="ltr">${userCode}</bdi></p>
<dl class="values">
<div><dt>Program</dt><dd><bdi>${describeProgram(origin.userAgent)}</bdi></dd></div>
<div><dt>Network</dt><dd><bdi dir="ltr">${origin.network || 'unknown'}</bdi></dd></div>
<div><dt>Asked</dt><dd><time datetime="${toTimestamp(origin.askedAt)}">${sinceWhen(Date.now() - origin.askedAt)}</time></dd></div>
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

/** Shows the end of a device's sign-in in the browser. */
export function renderConnected(services: ProviderServices, ctx: KoaContext): void {
  show(
    ctx,
    page(
      services,
      'Your device is connected',
      html`<p>Go back to it; you can close this page.</p>`,
    ),
  );
}

/**
 * What the scopes a device asked for permit, an item each; `openid` alone is what signing in means.
 */
function permissionsOf(services: ProviderServices, asked: string | undefined): Html[] {
  const names = new Set((asked ?? '').split(' '));
  return services
    .scopes()
    .filter((scope) => names.has(scope.name))
    .flatMap((scope) => scope.permissions ?? [scope.description])
    .map((one) => html`<li>${one}</li>`);
}

/** How long ago something was, in words. */
function sinceWhen(milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  if (minutes < 1) return 'less than a minute ago';
  return minutes === 1 ? 'a minute ago' : `${minutes} minutes ago`;
}
