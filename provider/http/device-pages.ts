import type { ClientContext, KoaContext, ProviderContext } from 'oidc-provider';
import type { MessageID } from '../../i18n/languages.js';
import { type LocalText, localText } from '../../i18n/local-text.js';
import type { Translator } from '../../i18n/translator.js';
import type { AudienceObject } from '../../kinds/apps/audience/audience.js';
import { audienceScope } from '../../kinds/apps/audience/audience-scope.js';
import { builtInProvider, type Scope } from '../../kinds/apps/claims/scopes.js';
import { describeProgram } from '../../kinds/signin/user-agent.js';
import { toTimestamp } from '../../registry/schema/timestamp.js';
import { requestedAudiences } from '../adapter/audiences.js';
import { clientNames } from '../adapter/clients.js';
import type { ProviderServices } from '../context/context.js';
import { currentUnitOfWork } from '../context/current-request.js';
import { type Html, html, message } from './html.js';
import { translatorOf } from './language.js';
import { formSecret, page, sendPage, wayOn } from './pages.js';

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
  const translator = translatorOf(ctx);
  const wrong =
    error && translator.text(error.name === 'AbortedError' ? 'device.declined' : 'device.wrong');
  sendPage(
    ctx,
    page(services, {
      request: ctx.req,
      translator,
      title: translator.text('device.title'),
      body: html`<p>${translator.text('device.about')}</p>
<form method="post" action="${ctx.oidc.urlFor('code_verification')}">
<input type="hidden" name="xsrf" value="${formSecret(ctx)}">
<div class="field">
<label for="user_code">${translator.text('device.code')}</label>
<input class="code" id="user_code" type="text" name="user_code" dir="ltr" autocomplete="off" autocapitalize="characters" spellcheck="false" required${wrong && html` aria-invalid="true" aria-describedby="wrong"`}>
${wrong && html`<p class="error" role="alert" id="wrong">${wrong}</p>`}
</div>
<button class="button main" type="submit">${translator.text('page.continue')}</button>
</form>`,
      ...(wrong && { phase: 'error' }),
    }),
  );
}

/**
 * Renders the confirmation page before anything is granted to the device: its program, network,
 * time and permissions (RFC 8628 §5.4).
 */
export async function renderUserCodeConfirm(
  services: ProviderServices,
  ctx: ClientContext,
  origin: DeviceOrigin,
  userCode: string,
): Promise<void> {
  const { displayName, displayNames } = await clientNames(services, ctx.oidc.client.clientId);
  const translator = translatorOf(ctx);
  const name = localText(displayName, displayNames, [translator.locale]);
  const text = (id: MessageID): string => translator.text(id);
  sendPage(
    ctx,
    page(services, {
      request: ctx.req,
      translator,
      title: text('device.confirm'),
      body: html`<p>${message(translator, 'device.confirm.code', { app: inLanguage(name) })}</p>
<p class="digits"><bdi dir="ltr">${userCode}</bdi></p>
${originDetails(translator, origin)}
<p>${text('device.permissions')}</p>
<ul class="values">${await permissionsOf(services, translator, ctx.oidc)}</ul>
<p class="hint">${text('device.warning')}</p>
<form method="post" action="${ctx.oidc.urlFor('code_verification')}">
<input type="hidden" name="xsrf" value="${formSecret(ctx)}">
<input type="hidden" name="user_code" value="${userCode}">
<input type="hidden" name="confirm" value="yes">
<div class="pair">
<button class="button main" type="submit">${text('device.allow')}</button>
<button class="button" type="submit" name="abort" value="yes">${text('device.deny')}</button>
</div>
</form>
<p class="hint">${text('device.again')}</p>`,
    }),
  );
}

/** Returns what a scope permits, or its description, in the language of the page. */
function permissionTexts(scope: Scope, translator: Translator): readonly (Html | string)[] {
  const { name, provider, description, descriptions, permissions } = scope;
  if (provider.name !== builtInProvider.name) {
    return [inLanguage(localText(description, descriptions, [translator.locale]))];
  }
  const ids = permissions?.map((_, i) => `permission.${i + 1}`) ?? ['description'];
  return ids.map((id) => translator.text(`scope.${name}.${id}` as MessageID));
}

const inLanguage = ({ text, lang }: LocalText): Html =>
  html`<bdi${lang && html` lang="${lang}"`}>${text}</bdi>`;

/** Returns program, network and time of the request of a device. */
function originDetails(
  translator: Translator,
  { userAgent, network, askedAt }: DeviceOrigin,
): Html {
  const program = describeProgram(userAgent) ?? translator.text('device.program.unknown');
  return html`<dl class="values">
<div><dt>${translator.text('device.program')}</dt><dd><bdi>${program}</bdi></dd></div>
<div><dt>${translator.text('device.network')}</dt><dd><bdi dir="ltr">${network || translator.text('device.network.unknown')}</bdi></dd></div>
<div><dt>${translator.text('device.asked')}</dt><dd><time datetime="${toTimestamp(askedAt)}">${timeAgo(translator, Date.now() - askedAt)}</time></dd></div>
</dl>`;
}

/** Renders the page after a device was connected. */
export function renderConnected(services: ProviderServices, ctx: KoaContext): void {
  const translator = translatorOf(ctx);
  sendPage(
    ctx,
    page(services, {
      request: ctx.req,
      translator,
      title: translator.text('device.connected'),
      body: html`<p>${translator.text('device.connected.about')}</p>${wayOn(translator)}`,
    }),
  );
}

/** Returns the permissions of the requested scopes as list items, those of Audiences with its name. */
async function permissionsOf(
  services: ProviderServices,
  translator: Translator,
  { client, entities }: ClientContext['oidc'],
): Promise<Html[]> {
  const params = { ...entities.DeviceCode?.params };
  const names = new Set((params.scope ?? '').split(' '));
  const requested = await requestedAudiences(services, client.clientId, params);
  const ofClaims = services.claims
    .scopes()
    .filter((scope) => names.has(scope.name))
    .flatMap((scope) => permissionTexts(scope, translator))
    .map((line) => html`<li>${line}</li>`);
  const ofAudiences = requested.flatMap(({ audience, scopes }) =>
    scopes
      .flatMap((name) => audienceScope(audience, name) ?? [])
      .flatMap((scope) => permissionTexts(scope, translator))
      .map((title) => html`<li>${nameIn(audience.spec, translator)}: ${title}</li>`),
  );
  return [...ofClaims, ...ofAudiences];
}

const nameIn = (
  { displayName, displayNames }: AudienceObject['spec'],
  { locale }: Translator,
): Html => inLanguage(localText(displayName, displayNames, [locale]));

/** Returns how long ago something was, as a phrase. */
function timeAgo(translator: Translator, milliseconds: number): string {
  const minutes = Math.floor(milliseconds / 60_000);
  return minutes < 1 ? translator.text('ago.now') : translator.text('ago.minutes', { minutes });
}
