import { Browser, formOf, locationOf } from '../browser.js';
import { authorization, redeem } from '../flow.js';
import { knownAccounts } from '../known-accounts.js';
import type { MakeLoad } from '../load.js';

/** Sign-ins at Dex with its password form; it asks for approval where the request says so. */
const make: MakeLoad<{ port: number; inFlight: number; accounts: number }> = (args) =>
  knownAccounts({ ...args, keysAt: '/keys', mail: false }, async (place, login, journey) => {
    const { connection, origin } = place;
    const browser = new Browser(connection, origin);
    const approval: Record<string, string> =
      journey === 'asked' ? { approval_prompt: 'force' } : {};
    const { target, verifier } = authorization('/auth', approval);
    const connector = locationOf(await browser.navigate(target, 302));
    const page = locationOf(await browser.navigate(connector, 302));
    const form = formOf(await browser.navigate(page, 200));
    const next = locationOf(await browser.submit(form, { login, password: 'password' }, 303));
    const callback = next.includes('/approval?') ? await approve(browser, next) : next;
    return redeem(connection, origin, '/token', callback, verifier);
  });
export default make;

async function approve(browser: Browser, page: string): Promise<string> {
  await browser.navigate(page, 200);
  const req = new URL(page, 'http://localhost').searchParams.get('req')!;
  return locationOf(await browser.submit(page, { req, approval: 'approve' }, 303));
}
