import { Browser, locationOf } from '../browser.js';
import { authorization, client, redeem } from '../flow.js';
import { knownAccounts } from '../known-accounts.js';
import type { MakeLoad } from '../load.js';

const api = '/api/auth';

/** Sign-ins of known accounts at better-auth's OpenID provider, by its own exchanges. */
const make: MakeLoad<{ port: number; inFlight: number; accounts: number }> = (args) =>
  knownAccounts({ ...args, keysAt: `${api}/jwks` }, async (place, email, journey) => {
    const { connection, origin, mailbox } = place;
    const browser = new Browser(connection, origin);
    const prompt: Record<string, string> = journey === 'asked' ? { prompt: 'consent' } : {};
    const { target, verifier } = authorization(`${api}/oauth2/authorize`, prompt);
    const signInPage = locationOf(await browser.navigate(target, 302));
    const query = { oauth_query: queryOf(signInPage) };
    await browser.navigate(signInPage, 200);
    const named = { client_id: client.name, ...query };
    await browser.post(`${api}/oauth2/public-client-prelogin`, named);
    await browser.post(`${api}/email-otp/send-verification-otp`, { email, type: 'sign-in' });
    const otp = await mailbox.codeFor(email);
    const { url } = await browser.post(`${api}/sign-in/email-otp`, { email, otp, ...query });
    const callback = String(url).startsWith('/consent') ? await agree(browser, url) : url;
    return redeem(connection, origin, `${api}/oauth2/token`, callback, verifier);
  });
export default make;

const queryOf = (page: string): string => page.slice(page.indexOf('?') + 1);

async function agree(browser: Browser, page: string): Promise<string> {
  await browser.navigate(page, 200);
  await browser.fetch(`${api}/oauth2/public-client?client_id=${client.name}`);
  const answer = { accept: true, oauth_query: queryOf(page) };
  return (await browser.post(`${api}/oauth2/consent`, answer)).url;
}
