import { CommandError, SignedOut } from '../terminal/errors.js';
import type { Context } from './contexts.js';
import { send, trusted } from './http.js';

/** The command's own Client: native and public. */
const clientID = 'vestibule';
const scope = 'openid offline_access api';
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

/** The service to sign in to, and its trusted CA. */
type Place = Pick<Context, 'server' | 'certificateAuthority'>;

interface Provider {
  readonly issuer: string /** Absent where the service connects no devices. */;
  readonly device_authorization_endpoint?: string;
  readonly token_endpoint: string;
  readonly revocation_endpoint: string;
}
interface Started {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete?: string;
  readonly expires_in: number;
  readonly interval?: number;
}
interface Issued {
  readonly access_token: string;
  readonly refresh_token?: string;
  readonly expires_in: number;
}

async function discover(place: Place): Promise<Provider> {
  const { server } = place;
  const { ok, body } = await send(
    'GET',
    `${server}/.well-known/openid-configuration`,
    {},
    trusted(place),
  );
  const found = body as Provider | undefined;
  if (found && found.issuer !== server)
    throw new CommandError(
      `${server} has the issuer ${JSON.stringify(found.issuer)}: sign in there instead`,
    );
  if (
    found &&
    [found.device_authorization_endpoint, found.token_endpoint, found.revocation_endpoint].some(
      (url) => typeof url === 'string' && new URL(url).origin !== server,
    )
  )
    throw new CommandError(`${server} has sign-in endpoints on another origin`);
  if (!ok || !found?.token_endpoint)
    throw new CommandError(`${server} is not an identity service that this command can sign in to`);
  return found;
}

async function post(
  place: Place,
  url: string,
  values: Record<string, string>,
): Promise<{ ok: boolean; body: any }> {
  const { ok, body = {} } = await send(
    'POST',
    url,
    { 'content-type': 'application/x-www-form-urlencoded' },
    { ...trusted(place), body: new URLSearchParams({ client_id: clientID, ...values }).toString() },
  );
  return { ok, body };
}

const kept = (
  { server, certificateAuthority }: Place,
  { access_token, refresh_token, expires_in }: Issued,
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
export async function signIn(place: Place, show: (words: string) => void): Promise<Context> {
  const provider = await discover(place);
  const { device_authorization_endpoint: begin } = provider;
  if (begin === undefined)
    throw new CommandError(
      `${place.server} does not allow sign-in from this command: its operators switched off the device flow (--device-authorization)`,
    );
  const { ok, body } = await post(place, begin, { scope });
  if (!ok)
    throw new CommandError(
      `the service refused to start a sign-in: ${body.error ?? 'no reason given'}`,
    );
  const started = body as Started;
  show(
    `Open ${started.verification_uri_complete ?? started.verification_uri}\nand confirm the code ${started.user_code}\n`,
  );
  return kept(place, await poll(place, provider, started));
}

async function poll(
  place: Place,
  { token_endpoint: at }: Provider,
  { device_code, expires_in, interval = 5 }: Started,
): Promise<Issued> {
  let pause = interval;
  for (const end = Date.now() + expires_in * 1000; Date.now() < end; ) {
    await new Promise((resolve) => {
      setTimeout(resolve, pause * 1000);
    });
    const { ok, body } = await post(place, at, { grant_type: deviceGrant, device_code });
    if (ok) return body as Issued;
    if (body.error === 'slow_down') pause += 5;
    else if (body.error === 'access_denied') throw new CommandError('the sign-in was declined');
    else if (body.error !== 'authorization_pending') break;
  }
  throw new CommandError('the code was not confirmed in time; try again');
}

/** Exchanges a refresh token, which is used up, for new tokens. */
export async function refresh(context: Context): Promise<Context> {
  const { server, refreshToken } = context;
  if (!refreshToken) throw new SignedOut();
  const { ok, body } = await post(context, (await discover(context)).token_endpoint, {
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
  });
  if (ok) return kept(context, body as Issued);
  throw body.error === 'invalid_grant'
    ? new SignedOut()
    : new CommandError(
        `${server} refused to renew the sign-in: ${body.error_description ?? body.error ?? 'no reason given'}`,
      );
}

/** Ends what was issued to this command (RFC 7009). */
export async function revoke(context: Context): Promise<void> {
  const { server, refreshToken } = context;
  if (!refreshToken) return;
  const { ok } = await post(context, (await discover(context)).revocation_endpoint, {
    token: refreshToken,
    token_type_hint: 'refresh_token',
  });
  if (!ok) throw new CommandError(`${server} did not end the sign-in; try again`);
}
