import type { Cookie } from '../browser.js';
import { signIn } from '../flow.js';
import type { MakeLoad } from '../load.js';
import { Mailbox } from '../mailbox.js';
import { connections } from '../people.js';

/** The cookie by which a browser proves that someone signed in from it before. */
const knownBrowser = 'vestibule-known';

/**
 * Sign-ins of known accounts by emailed code, each in the browser that it was made in before;
 * `parameters` go into each authorization request.
 */
const make: MakeLoad<{
  port: number;
  inFlight: number;
  accounts: number;
  parameters: Record<string, string>;
}> = async ({ port, inFlight, accounts, parameters }) => {
  const mailbox = await Mailbox.open(port);
  const all = await connections(port, inFlight * 4);
  const origin = `http://localhost:${port}`;
  const addresses = Array.from({ length: accounts }, (_, i) => `somebody-${i}@bench.test`);
  let [count, turn] = [0, 0];
  const free = [...all];
  const known = new Map<string, readonly Cookie[]>();
  const next = async (more: Record<string, string>): Promise<void> => {
    const connection = free.shift()!;
    const address = addresses[count++ % accounts]!;
    const { browser } = await signIn(
      { connection, origin, mailbox, cookies: known.get(address) },
      address,
      more,
    );
    known.set(
      address,
      browser.cookies.filter(({ name }) => name === knownBrowser),
    );
    free.push(connection);
  };
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (turn++ < accounts) await next({});
    }),
  );
  return {
    inFlight,
    operation: () => next(parameters),
    close: () => {
      mailbox.close();
      for (const connection of all) connection.close();
    },
  };
};
export default make;
