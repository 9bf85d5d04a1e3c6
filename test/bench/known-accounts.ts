import { createLocalJWKSet, jwtVerify } from 'jose';
import { Browser } from './browser.js';
import type { Connection } from './connection.js';
import { client, type Tokens } from './flow.js';
import type { Load } from './load.js';
import { Mailbox } from './mailbox.js';
import { connections } from './people.js';

/** What one sign-in has to work with. */
export interface Place {
  readonly connection: Connection;
  readonly origin: string;
  readonly mailbox: Mailbox;
}

/** What is needed to sign people in at one server. */
export interface KnownAccounts {
  readonly port: number;
  readonly inFlight: number;
  readonly accounts: number;
  /** The path of the server's key set. */
  readonly keysAt: string;
  /** Whether it sends codes; without them the mailbox must not be used. */
  readonly mail?: boolean;
}

/** The two journeys of someone known: consent is asked again, or was given before. */
export type Journey = 'asked' | 'remembered';

/** Signs one person in: for the first time, where consent is asked anyway, or on a journey. */
export type SignIn = (place: Place, address: string, journey?: Journey) => Promise<Tokens>;

/**
 * A load of sign-ins of known accounts. Each account is signed in once before, where its ID token is
 * verified; later ones must name the same subject.
 */
export async function knownAccounts(
  { port, inFlight, accounts, keysAt, mail = true }: KnownAccounts,
  signIn: SignIn,
): Promise<Load> {
  const mailbox = mail ? await Mailbox.open(port) : new Mailbox();
  const all = await connections(port, inFlight * 4);
  const origin = `http://localhost:${port}`;
  const free = [...all];
  const keys = createLocalJWKSet(await new Browser(free[0]!, origin).fetch(keysAt));
  const subjects = new Map<string, unknown>();
  let [count, turn] = [0, 0];
  const next = async (journey?: Journey): Promise<Tokens> => {
    const connection = free.shift()!;
    const address = `person-${count++ % accounts}@bench.test`;
    const tokens = await signIn({ connection, origin, mailbox }, address, journey);
    const { sub } = tokens.claims;
    if (journey ? subjects.get(address) !== sub : sub === undefined) {
      throw new Error(`${address} signed in as ${String(sub)}`);
    }
    subjects.set(address, sub);
    free.push(connection);
    return tokens;
  };
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (turn++ < accounts) {
        await jwtVerify((await next()).idToken, keys, { audience: client.name });
      }
    }),
  );
  return {
    inFlight,
    operation: async (_worker, kind) => {
      await next(kind as Journey);
    },
    close: () => {
      mailbox.close();
      for (const connection of all) connection.close();
    },
  };
}
