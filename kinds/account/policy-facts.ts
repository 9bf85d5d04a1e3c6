import type { Call, ObjectOf } from '../../registry/kind.js';
import type { Account } from './account.js';
import { canonical } from '../signin/email-address.js';
import { authenticationClaims } from '../session/acr.js';
import type { Method, Session } from '../session/session.js';

/** How someone signed in, as policy sees it. */
interface SignedIn {
  readonly methods: readonly string[];
  readonly assurance: string;
  readonly authenticated: number;
}

/** What policy is told of a person. */
interface PersonFacts extends SignedIn {
  readonly [fact: string]: unknown;
  readonly account?: string;
  readonly passkeys: number;
  readonly domain: string;
  readonly groups: readonly string[];
}

/**
 * Who signs in: the name of their Account where there is one, their address, and how many passkeys
 * they have.
 */
interface Person {
  readonly account: string | undefined;
  readonly address: string;
  readonly passkeys: number;
}

/**
 * What policy is told of the person whose sign-in a browser carries on: never the address, but its
 * domain and groups.
 */
export async function accountFacts(
  { ports }: Pick<Call, 'ports'>,
  { account, address, passkeys }: Person,
  signedIn: SignedIn,
): Promise<PersonFacts> {
  const email = canonical(address);
  return {
    ...(account !== undefined && { account }),
    passkeys,
    domain: email.slice(email.lastIndexOf('@') + 1),
    groups: await ports.groupsOf(email),
    ...signedIn,
  };
}

/** The same of the person of a live session. */
export const sessionFacts = (
  call: Pick<Call, 'ports'>,
  { metadata, status }: ObjectOf<typeof Account>,
  session: ObjectOf<typeof Session>,
): Promise<PersonFacts> =>
  accountFacts(
    call,
    { account: metadata.name, address: status.email.address, passkeys: status.passkeys },
    {
      methods: session.status.methods,
      assurance: session.status.assurance,
      authenticated: session.internal.loginSeconds,
    },
  );

/** A sign-in just made; `inFull` is whether a passkey counts in full. */
export const signedInNow = (method: Method, now: number, isFullStrength = true): SignedIn => ({
  methods: [method],
  assurance: authenticationClaims(method, isFullStrength).acr,
  authenticated: Math.floor(now / 1000),
});
