import { Browser, locationOf } from '../browser.js';
import { Connection } from '../connection.js';
import { authorization, redeem } from '../flow.js';
import { knownAccounts } from '../known-accounts.js';
import type { MakeLoad } from '../load.js';

/** Sign-ins at Hydra, whose application for login and consent is at `port`. */
const make: MakeLoad<{ port: number; inFlight: number; accounts: number }> = async (args) => {
  const first = await Connection.open(args.port);
  const { open } = await new Browser(first, `http://localhost:${args.port}`).fetch('/ports');
  first.close();
  const origin = `http://localhost:${open}`;
  const beside = new Map<Connection, Connection>();
  return knownAccounts(
    { ...args, keysAt: '/.well-known/jwks.json' },
    async (place, email, journey) => {
      const connection = beside.get(place.connection) ?? (await Connection.open(open));
      beside.set(place.connection, connection);
      const [hydra, app] = [
        new Browser(connection, origin),
        new Browser(place.connection, place.origin),
      ];
      const { target, verifier } = authorization('/oauth2/auth', {
        state: 'a state of eight characters or more',
        ...(journey === 'asked' && { prompt: 'consent' }),
      });
      const login = locationOf(await hydra.navigate(target, 302));
      const to = await openPage(app, login);
      await app.post(to('/code'), { email });
      const code = await place.mailbox.codeFor(email);
      const { redirect_to: onward } = await app.post(to('/answer'), { code });
      const consent = locationOf(await hydra.navigate(onward, 302));
      const back = await agree(app, consent, journey === 'remembered');
      const callback = locationOf(await hydra.navigate(back, 303));
      return redeem(connection, origin, '/oauth2/token', callback, verifier);
    },
  );
};
export default make;

/** Opens a page of the application and fetches what it is about; returns its further addresses. */
async function openPage(app: Browser, page: string): Promise<(action: string) => string> {
  await app.navigate(page, 200);
  const { pathname, search } = new URL(page);
  const to = (action: string): string => `${pathname}${action}${search}`;
  await app.fetch(to('/request'));
  return to;
}

async function agree(app: Browser, page: string, isRemembered: boolean): Promise<string> {
  if (isRemembered) return locationOf(await app.navigate(page, 303));
  const to = await openPage(app, page);
  return (await app.post(to('/answer'), {})).redirect_to;
}
