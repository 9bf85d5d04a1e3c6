import { Browser, locationOf } from '../browser.js';
import { authorization, redeem } from '../flow.js';
import type { MakeLoad } from '../load.js';
import { connections } from '../people.js';

/**
 * The same sign-in at bare oidc-provider, whose interactions answer themselves; the ID token must
 * come from so many prompts.
 */
const make: MakeLoad<{
  port: number;
  inFlight: number;
  accounts: number;
  prompts: number;
  parameters: Record<string, string>;
}> = async ({ port, inFlight, accounts, prompts, parameters }) => {
  const free = await connections(port, inFlight * 4);
  const origin = `http://localhost:${port}`;
  let count = 0;
  return {
    inFlight,
    async operation() {
      const connection = free.shift()!;
      const browser = new Browser(connection, origin);
      const address = `person-${count++ % accounts}@bench.test`;
      const { target, verifier } = authorization('/auth', { login_hint: address, ...parameters });
      let to = locationOf(await browser.navigate(target, 303));
      let seen = 0;
      for (; new URL(to, origin).origin === origin; seen += 1) {
        to = locationOf(await browser.navigate(locationOf(await browser.navigate(to, 303)), 303));
      }
      const { claims } = await redeem(connection, origin, '/token', to, verifier);
      const { sub } = claims;
      if (sub !== address || seen !== prompts) {
        throw new Error(`signed in as ${String(sub)} after ${seen} prompts`);
      }
      free.push(connection);
    },
    close: () => {
      for (const connection of free) connection.close();
    },
  };
};
export default make;
