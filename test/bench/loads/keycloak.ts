import { Browser, formOf, locationOf } from '../browser.js';
import { authorization, redeem } from '../flow.js';
import { knownAccounts } from '../known-accounts.js';
import type { MakeLoad } from '../load.js';

const protocol = '/realms/bench/protocol/openid-connect';

/** Sign-ins at Keycloak with its password form; it asks for consent where the request says so. */
const make: MakeLoad<{ port: number; inFlight: number; accounts: number }> = (args) =>
  knownAccounts(
    { ...args, keysAt: `${protocol}/certs`, mail: false },
    async (place, username, journey) => {
      const { connection, origin } = place;
      const browser = new Browser(connection, origin);
      const prompt: Record<string, string> = journey === 'asked' ? { prompt: 'consent' } : {};
      const { target, verifier } = authorization(`${protocol}/auth`, prompt);
      const form = formOf(await browser.navigate(target, 200));
      const credentials = { username, password: 'password', credentialId: '' };
      const next = locationOf(await browser.submit(form, credentials, 302));
      const callback = next.startsWith(origin) ? await agree(browser, next) : next;
      return redeem(connection, origin, `${protocol}/token`, callback, verifier);
    },
  );
export default make;

async function agree(browser: Browser, page: string): Promise<string> {
  const consent = await browser.navigate(page, 200);
  const code = /name="code" value="([^"]+)"/.exec(consent.body.toString())?.[1] ?? '';
  return locationOf(await browser.submit(formOf(consent), { code, accept: 'Yes' }, 302));
}
