import { signIn } from '../flow.js';
import type { MakeLoad } from '../load.js';
import { Mailbox } from '../mailbox.js';
import { connections } from '../people.js';

/** Sign-ins of known accounts by emailed code, one after another by turns; `parameters` go into each authorization request. */
const make: MakeLoad<{ port: number; inFlight: number; accounts: number; parameters: Record<string, string> }> = async ({ port, inFlight, accounts, parameters }) => {
  const mailbox = await Mailbox.open(port);
  const all = await connections(port, inFlight * 4);
  const origin = `http://localhost:${port}`;
  const addresses = Array.from({ length: accounts }, (_, i) => `somebody-${i}@bench.test`);
  let [count, turn] = [0, 0];
  const free = [...all];
  const next = async (more: Record<string, string>): Promise<void> => {
    const connection = free.shift()!;
    await signIn({ connection, origin, mailbox }, addresses[count++ % accounts]!, more);
    free.push(connection);
  };
  await Promise.all(Array.from({ length: inFlight }, async () => { while (turn++ < accounts) await next({}) }));
  return {
    inFlight, operation: () => next(parameters),
    close: () => { mailbox.close(); for (const connection of all) connection.close() },
  };
};
export default make;
