import type { Browser } from './browser.js';
import { Connection } from './connection.js';
import { signIn } from './flow.js';
import { Mailbox } from './mailbox.js';

/** Someone who is signed in, with an account page to look at. */
export interface Person {
  readonly name: string;
  readonly browser: Browser;
  readonly connection: Connection;
}

/** Kept-alive connections from as many networks (a /24 is one), as browsers at home would have. */
export const connections = (port: number, count: number): Promise<Connection[]> =>
  Promise.all(
    Array.from({ length: count }, (_, i) =>
      Connection.open(port, `127.${1 + (i >> 8)}.${i & 255}.1`),
    ),
  );

/** Signs so many people in, each with a connection of their own. */
export async function people(port: number, count: number): Promise<Person[]> {
  const mailbox = await Mailbox.open(port);
  const all = await connections(port, count);
  const signedIn = await Promise.all(
    all.map(async (connection, i) => {
      const { browser, claims } = await signIn(
        { connection, origin: `http://localhost:${port}`, mailbox },
        `person-${i}@bench.test`,
      );
      return { name: String(claims.sub), browser, connection };
    }),
  );
  mailbox.close();
  return signedIn;
}
