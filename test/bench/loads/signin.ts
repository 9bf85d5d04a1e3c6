import type { Cookie } from '../browser.js';
import { signIn } from '../flow.js';
import { knownAccounts } from '../known-accounts.js';
import type { MakeLoad } from '../load.js';

/** The cookie by which a browser proves that someone signed in from it before. */
const knownBrowser = 'vestibule-known';

/** Sign-ins of known accounts by emailed code, each in the browser that it was made in before. */
const make: MakeLoad<{ port: number; inFlight: number; accounts: number }> = (args) => {
  const known = new Map<string, readonly Cookie[]>();
  return knownAccounts({ ...args, keysAt: '/oauth2/jwks' }, async (place, address, journey) => {
    const cookies = known.get(address);
    const { browser, ...tokens } = await signIn(
      { ...place, cookies },
      address,
      journey === 'asked' ? { prompt: 'consent' } : {},
    );
    known.set(
      address,
      browser.cookies.filter(({ name }) => name === knownBrowser),
    );
    return tokens;
  });
};
export default make;
