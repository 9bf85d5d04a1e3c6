import { send } from '../../../cmd/vestibule/client/connection/http.js';
import type { Tab } from './tab.js';

const inputs = (html: string): string =>
  new URLSearchParams(
    [...html.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
      ([, name, value]) => [name!, value!],
    ),
  ).toString();

/** What a person does in the browser with the address that the command printed. */
export async function confirm(tab: Tab, address: string): Promise<void> {
  const { pathname, search } = new URL(address);
  const send = (body: string) =>
    tab.send('POST', '/oauth2/device', {
      body,
      headers: {
        accept: 'text/html',
        'content-type': 'application/x-www-form-urlencoded',
        'sec-fetch-mode': 'navigate',
        'sec-fetch-site': 'same-origin',
        origin: tab.origin,
      },
    });
  let page = await tab.navigate(`${pathname}${search}`).is(200);
  const form = (): string => inputs(page.bytes.toString());
  for (let steps = 0; page.code === 200 && form() !== ''; steps += 1) {
    if (steps === 2) throw new Error('the page asks again');
    page = await send(form());
  }
  for (let to = page.headers.location; to; ) {
    if (to.startsWith('/api/')) {
      const { body } = await tab.get(to).is(200);
      to = (
        await tab
          .post(`${to}/consent`, {
            spec: { scopes: body.status.consent.scopes.map((scope: any) => scope.name) },
          })
          .is(200)
      ).body.status.returnTo as string;
    } else {
      to = (await tab.navigate(to)).headers.location;
    }
  }
}

const form = { 'content-type': 'application/x-www-form-urlencoded' };
const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code';

const post = async (
  service: { readonly baseURL: string },
  path: string,
  values: Record<string, string>,
): Promise<any> => {
  const body = new URLSearchParams({ client_id: 'vestibule', ...values }).toString();
  return (await send('POST', service.baseURL + path, form, { body })).body;
};

/** The address that the command prints to connect a device. */
export const verificationAddress = async (service: { readonly baseURL: string }): Promise<string> =>
  (await post(service, '/oauth2/device/auth', { scope: 'openid api' })).verification_uri_complete;

/** A device code of the command that the person in `tab` has confirmed. */
export async function confirmedDeviceCode(
  service: { readonly baseURL: string },
  tab: Tab,
): Promise<string> {
  const asked = await post(service, '/oauth2/device/auth', {
    scope: 'openid offline_access api',
  });
  await confirm(tab, asked.verification_uri_complete);
  return asked.device_code;
}

/** What the token endpoint answers the command for a device code. */
export const redeemDeviceCode = (
  service: { readonly baseURL: string },
  code: string,
): Promise<{ access_token: string; refresh_token: string; error?: string }> =>
  post(service, '/oauth2/token', { grant_type: deviceGrant, device_code: code });

/** What the token endpoint answers for a refresh token of the command. */
export const refreshCommand = (
  service: { readonly baseURL: string },
  token: string,
): Promise<{ access_token: string; error?: string }> =>
  post(service, '/oauth2/token', { grant_type: 'refresh_token', refresh_token: token });

/**
 * The access token of anyone who is signed in in `tab`, by the device flow of the command, without
 * its five seconds of waiting between two requests.
 */
export async function tokenOf(service: { readonly baseURL: string }, tab: Tab): Promise<string> {
  const code = await confirmedDeviceCode(service, tab);
  return (await redeemDeviceCode(service, code)).access_token;
}
