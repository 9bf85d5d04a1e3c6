import { setTimeout as pause } from 'node:timers/promises';
import { CommandError, SignedOutError } from '../../terminal/errors.js';
import type { Context } from './contexts.js';
import { caOption, send } from './http.js';

/** The command's own Client: native and public. */
const clientID = 'vestibule';
const scope = 'openid offline_access api';
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

/** The service to sign in to, and its trusted CA. */
type SignInTarget = Pick<Context, 'server' | 'certificateAuthority'>;

interface ProviderMetadata {
  readonly issuer: string;
  /** Absent if the service has the device flow switched off. */
  readonly device_authorization_endpoint?: string;
  readonly token_endpoint: string;
  readonly revocation_endpoint: string;
}
interface DeviceAuthorization {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete?: string;
  readonly expires_in: number;
  readonly interval?: number;
}
interface TokenResponse {
  readonly access_token: string;
  readonly refresh_token?: string;
  readonly expires_in: number;
}

async function discover(target: SignInTarget): Promise<ProviderMetadata> {
  const { server } = target;
  const { ok, body } = await send(
    'GET',
    `${server}/.well-known/openid-configuration`,
    {},
    caOption(target),
  );
  const found = body as ProviderMetadata | undefined;
  if (found && found.issuer !== server) {
    throw new CommandError(
      `${server} has the issuer ${JSON.stringify(found.issuer)}: sign in there instead`,
    );
  }
  if (
    found &&
    [found.device_authorization_endpoint, found.token_endpoint, found.revocation_endpoint].some(
      (url) => typeof url === 'string' && new URL(url).origin !== server,
    )
  ) {
    throw new CommandError(`${server} has sign-in endpoints on another origin`);
  }
  if (!ok || !found?.token_endpoint) {
    throw new CommandError(`${server} is not an identity service that this command can sign in to`);
  }
  return found;
}

async function post(
  target: SignInTarget,
  url: string,
  values: Record<string, string>,
): Promise<{ ok: boolean; body: any }> {
  const { ok, body = {} } = await send(
    'POST',
    url,
    { 'content-type': 'application/x-www-form-urlencoded' },
    {
      ...caOption(target),
      body: new URLSearchParams({ client_id: clientID, ...values }).toString(),
    },
  );
  return { ok, body };
}

const contextOf = (
  { server, certificateAuthority }: SignInTarget,
  { access_token, refresh_token, expires_in }: TokenResponse,
): Context => ({
  server,
  ...(certificateAuthority !== undefined && { certificateAuthority }),
  accessToken: access_token,
  expires: Date.now() + expires_in * 1000,
  ...(refresh_token && { refreshToken: refresh_token }),
});

/**
 * Signs in by device flow (RFC 8628) and waits for the confirmation; `show` prints the address and
 * the code.
 */
export async function signIn(
  target: SignInTarget,
  show: (words: string) => void,
): Promise<Context> {
  const provider = await discover(target);
  const { device_authorization_endpoint: deviceEndpoint } = provider;
  if (deviceEndpoint === undefined) {
    throw new CommandError(
      `${target.server} does not allow sign-in from this command: its operators switched off the device flow (--device-authorization)`,
    );
  }
  const { ok, body } = await post(target, deviceEndpoint, { scope });
  if (!ok) {
    throw new CommandError(
      `the service refused to start a sign-in: ${body.error ?? 'no reason given'}`,
    );
  }
  const authorization = body as DeviceAuthorization;
  show(
    `Open ${authorization.verification_uri_complete ?? authorization.verification_uri}\nand confirm the code ${authorization.user_code}\n`,
  );
  return contextOf(target, await poll(target, provider, authorization));
}

async function poll(
  place: SignInTarget,
  { token_endpoint: tokenEndpoint }: ProviderMetadata,
  { device_code, expires_in, interval = 5 }: DeviceAuthorization,
): Promise<TokenResponse> {
  let intervalSeconds = interval;
  for (const deadline = Date.now() + expires_in * 1000; Date.now() < deadline; ) {
    await pause(intervalSeconds * 1000);
    const { ok, body } = await post(place, tokenEndpoint, { grant_type: deviceGrant, device_code });
    if (ok) return body as TokenResponse;
    if (body.error === 'slow_down') {
      intervalSeconds += 5;
    } else if (body.error === 'access_denied') {
      throw new CommandError('the sign-in was declined');
    } else if (body.error !== 'authorization_pending') {
      break;
    }
  }
  throw new CommandError('the code was not confirmed in time; try again');
}

/** Exchanges a refresh token, which is used up, for new tokens. */
export async function refresh(context: Context): Promise<Context> {
  const { server, refreshToken } = context;
  if (!refreshToken) throw new SignedOutError();
  const { ok, body } = await post(context, (await discover(context)).token_endpoint, {
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
  });
  if (ok) return contextOf(context, body as TokenResponse);
  throw body.error === 'invalid_grant'
    ? new SignedOutError()
    : new CommandError(
        `${server} refused to renew the sign-in: ${body.error_description ?? body.error ?? 'no reason given'}`,
      );
}

/** Revokes the refresh token of a context (RFC 7009). */
export async function revoke(context: Context): Promise<void> {
  const { server, refreshToken } = context;
  if (!refreshToken) return;
  const { ok } = await post(context, (await discover(context)).revocation_endpoint, {
    token: refreshToken,
    token_type_hint: 'refresh_token',
  });
  if (!ok) throw new CommandError(`${server} did not end the sign-in; try again`);
}
