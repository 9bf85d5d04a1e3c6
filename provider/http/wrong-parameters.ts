import type { KoaContext } from 'oidc-provider';
import { isLoopback } from '../../security/loopback.js';
import { unknownAcrs } from '../context/acr.js';
import { isRouted, type ProviderServices } from '../context/context.js';
import { sentScopes } from './requested-scopes.js';

/** The number of characters of a parameter that are shown. */
const maxShownLength = 200;

/**
 * Characters that pages and logs must not contain: control characters, line separators, and those
 * that change the direction of text.
 */
const unprintable = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu;

/** An error of oidc-provider; its detail is not part of the response. */
interface Refusal {
  readonly error?: unknown;
  readonly error_description?: string | undefined;
  readonly error_detail?: string | undefined;
}

/** The parameters that each error code is about (RFC 6749 §4.1.2.1). */
const parametersByError: Readonly<Record<string, readonly string[]>> = {
  invalid_client: ['client_id'],
  invalid_redirect_uri: ['client_id', 'redirect_uri'],
  invalid_scope: ['client_id', 'scope'],
  invalid_target: ['client_id', 'resource'],
};

/** The same by oidc-provider's description or detail, where the code covers other faults too. */
const parametersByDescription: Readonly<Record<string, readonly string[]>> = {
  "redirect_uri did not match any of the client's registered redirect_uris": [
    'client_id',
    'redirect_uri',
  ],
  'authorization code redirect_uri mismatch': ['client_id', 'redirect_uri'],
};

function parametersOf({
  error,
  error_description: description = '',
  error_detail: detail = '',
}: Refusal): readonly string[] | undefined {
  for (const text of [description, detail]) {
    if (Object.hasOwn(parametersByDescription, text)) return parametersByDescription[text];
  }
  return typeof error === 'string' && Object.hasOwn(parametersByError, error)
    ? parametersByError[error]
    : undefined;
}

/**
 * Patterns of mail addresses (also as URLs have them), JWTs and 256-bit secrets. People paste them into
 * the wrong field, and no log may contain them.
 */
const isAddress = (word: string): boolean => {
  const [local, domain] = word.split(/@|%(?:25){0,9}40/, 2);
  return Boolean(local && domain);
};
const isToken = (run: string): boolean =>
  /[\w-]{40}/.test(run) || (run.includes('eyJ') && run.includes('.', run.indexOf('eyJ')));
const redact = (value: string): string =>
  value.replaceAll(/\S+/g, (word) =>
    isAddress(word)
      ? '(hidden)'
      : word.replaceAll(/[\w.-]+/g, (run) => (isToken(run) ? '(hidden)' : run)),
  );

/** Returns a parameter as it may be shown: cut to 200 characters, with unprintable ones escaped. */
export const showableText = (text: string): string => {
  const cut = text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text;
  return cut.replaceAll(
    unprintable,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );
};

/**
 * Returns the parameters that a request was refused for, as they may be shown; undefined if the
 * error is not about parameters that were sent.
 */
export function wrongParameters(
  refusal: Refusal,
  sent: Readonly<Record<string, unknown>> = {},
): Record<string, string> | undefined {
  const shown = (parametersOf(refusal) ?? []).flatMap((name) => {
    const value = sent[name];
    return typeof value === 'string' ? [[name, showableText(value)] as const] : [];
  });
  return shown.length === 0 ? undefined : Object.fromEntries(shown);
}

/** Returns the parameters of a request, with the `client_id` of HTTP Basic (RFC 6749 §2.3.1). */
export function sentParameters(ctx: Pick<KoaContext, 'oidc' | 'get'>): Record<string, unknown> {
  const [, encoded] = /^Basic ([\w+/=-]+)$/i.exec(ctx.get('Authorization')) ?? [];
  const [, user] = /^([^:]*):/.exec(Buffer.from(encoded ?? '', 'base64').toString()) ?? [];
  const sent = ctx.oidc?.params ?? {};
  return { ...sent, client_id: sent.client_id ?? (user && decoded(user)) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return text;
  }
}

/**
 * Returns true if pages and responses may show parameters: while the base URL is loopback, where
 * the viewer is a developer.
 */
export const mayShowParameters = ({ settings }: Pick<ProviderServices, 'settings'>): boolean =>
  isLoopback(new URL(settings.baseURL).hostname);

/** A refused request of a Client as it is logged; undefined parts are left out. */
export interface LoggedRefusal {
  readonly client?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly error: string;
  readonly reason?: string | undefined;
  /** What to set. */
  readonly remedy?: string | undefined;
  /** The wrong parameters, which are already as they may be shown. */
  readonly parameters: Readonly<Record<string, string>>;
  readonly auditID: string;
}

/** Logs the refusal of a Client's request, and adds it to those at the Client. */
export function logRefusal(
  { runtime, signIns }: Pick<ProviderServices, 'runtime' | 'signIns'>,
  { client, parameters: sent, reason: why, ...rest }: LoggedRefusal,
): void {
  const parameters = Object.fromEntries(
    Object.entries(sent).map(([name, value]) => [name, redact(value)]),
  );
  const reason = why && redact(why);
  runtime.log.warn(
    {
      ...rest,
      ...(client !== undefined && { client: redact(showableText(client)) }),
      ...(reason && { reason }),
      ...(Object.keys(parameters).length > 0 && { parameters }),
    },
    'a request of a Client was refused',
  );
  if (client === undefined) return;
  const { endpoint = '', error, remedy, auditID } = rest;
  signIns.clientReports.addRefusal(client, {
    endpoint,
    error,
    message: reason || error,
    remedy,
    ...(Object.keys(parameters).length > 0 && { parameters }),
    auditID,
  });
}

/** Logs the parameters of a request that it is answered without: they are too long or cannot be believed. */
export function logIgnoredParameters(
  { runtime }: Pick<ProviderServices, 'runtime'>,
  names: readonly string[],
  auditID: string,
): void {
  const parameters = names.map((name) => redact(showableText(name)));
  runtime.log.info({ parameters, auditID }, 'parameters of a request were ignored');
}

/** Logs why the metadata document of a Client cannot be used. */
export function logRefusedDocument(
  { runtime }: Pick<ProviderServices, 'runtime'>,
  clientID: string,
  reason: string,
): void {
  const parameters = { client_id: redact(showableText(clientID)) };
  runtime.log.warn({ parameters, reason }, 'the metadata document of a Client was refused');
}

/** The endpoints that take scopes of a Client. */
const scopeRoutes: ReadonlySet<string> = new Set([
  'authorization',
  'pushed_authorization_request',
  'device_authorization',
]);

/**
 * Logs the values of a request that were ignored: scopes that do not exist or that the Client does not
 * list, `offline_access` where it needs `prompt=consent`, and unknown acr values.
 */
export function logIgnoredValues(
  { runtime, claims }: Pick<ProviderServices, 'runtime' | 'claims'>,
  ctx: KoaContext,
): void {
  if (!isRouted(ctx) || !scopeRoutes.has(ctx.oidc.route)) return;
  const { params, resourceServers } = ctx.oidc;
  const ofResources = Object.values(resourceServers).flatMap((resourceServer) => [
    ...resourceServer.scopes,
  ]);
  const kept = new Set(String(params?.scope ?? '').split(' '));
  const granted = new Set([
    ...ofResources,
    ...claims
      .scopes()
      .map(({ name }) => name)
      .filter((name) => kept.has(name)),
  ]);
  const clientID = redact(showableText(String(sentParameters(ctx).client_id)));
  const auditID = ctx.response.get('Audit-ID');
  const logIgnored = (name: string, values: readonly string[], message: string): void => {
    if (values.length === 0) return;
    const parameters = { client_id: clientID, [name]: redact(showableText(values.join(' '))) };
    runtime.log.info({ parameters, auditID }, message);
  };
  logIgnored(
    'scope',
    sentScopes(ctx).filter((name) => !granted.has(name)),
    'scopes of a request were ignored: set spec.scopes of the Client',
  );
  logIgnored(
    'acr_values',
    unknownAcrs(params?.acr_values),
    'acr values of a request were ignored: acr_values_supported of discovery lists those that are known',
  );
}
