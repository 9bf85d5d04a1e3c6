import type { Call, ObjectOf } from '../../../registry/kind.js';
import { fromTimestamp } from '../../../registry/schema/timestamp.js';
import { canonicalAddress, domainOf } from '../../signin/email-address.js';
import { authenticationClaims } from '../session/acr.js';
import type { Method, Session } from '../session/session.js';
import type { Account } from './account.js';

/** The facts about a sign-in that policy sees; `authenticated` in seconds since the epoch. */
export interface SignInFacts {
  readonly methods: readonly string[];
  readonly assurance: string;
  readonly authenticated: number;
}

/** The facts about a person that policy sees. */
interface PersonFacts extends SignInFacts {
  readonly [fact: string]: unknown;
  readonly account?: string;
  readonly passkeys: number;
  readonly domain: string;
  readonly groups: readonly string[];
}

/** What an app asked for in a sign-in. */
interface Requested {
  readonly spec: { readonly client: string; readonly scopes: readonly string[] };
  readonly internal: { readonly acrRequested?: string | undefined };
}

/** Returns the facts about what an app asked for. */
export const requestedFacts = ({ spec, internal }: Requested) => ({
  client: spec.client,
  scopesRequested: spec.scopes,
  ...(internal.acrRequested !== undefined && { acrRequested: internal.acrRequested }),
});

/** The person who signs in; `account` is the name of the Account if one exists. */
export interface Person {
  readonly account: string | undefined;
  readonly address: string;
  readonly passkeys: number;
  /** When the account was created, in milliseconds since the epoch. */
  readonly created?: number | undefined;
}

/**
 * Returns the facts of a person and a sign-in for policy. They include the domain and the groups of
 * the address, never the address itself.
 */
export async function accountFacts(
  { ports }: Pick<Call, 'ports'>,
  { account, address, passkeys, created }: Person,
  signedIn: SignInFacts,
): Promise<PersonFacts> {
  const email = canonicalAddress(address);
  return {
    ...(account !== undefined && { account }),
    passkeys,
    ...(created !== undefined && { created }),
    domain: domainOf(email),
    groups: await ports.groupsOf(email),
    ...signedIn,
  };
}

/** Returns the facts of the person of a live session. */
export const sessionFacts = (
  call: Pick<Call, 'ports'>,
  { metadata, status }: ObjectOf<typeof Account>,
  session: ObjectOf<typeof Session>,
): Promise<PersonFacts> =>
  accountFacts(
    call,
    {
      account: metadata.name,
      address: status.email.address,
      passkeys: status.passkeys,
      created: fromTimestamp(metadata.creationTimestamp),
    },
    {
      methods: session.status.methods,
      assurance: session.status.assurance,
      authenticated: session.internal.loginSeconds,
    },
  );

/** Returns the facts of a sign-in at `now` (ms since the epoch). */
export const signedInNow = (method: Method, now: number, isFullStrength = true): SignInFacts => ({
  methods: [method],
  assurance: authenticationClaims(method, isFullStrength).acr,
  authenticated: Math.floor(now / 1000),
});
