import type { Limits } from '../../../../registry/limits/limit-settings.js';
import { dayMs } from '../../../../registry/schema/units.js';

/** Records that one sign-in leaves: their bytes with keys, and how long the store has them. */
interface SignInRecords {
  readonly what: string;
  readonly bytes: number;
  lifetimeMs(limits: Limits): number;
}

/**
 * What a sign-in with remembered consent leaves, as row 20 of `hack/bench` measures it. The row fails
 * if this is no longer true.
 */
export const signInRecords: readonly SignInRecords[] = [
  {
    what: 'the decision, with its row in the order of time',
    bytes: 470,
    lifetimeMs: ({ signInRetention }) => signInRetention,
  },
  {
    what: 'what the session was granted, with its index',
    bytes: 538,
    lifetimeMs: ({ sessionIdleLifetime }) => sessionIdleLifetime + dayMs,
  },
  {
    what: 'the session: the API’s object, the provider’s record, an index',
    bytes: 986,
    lifetimeMs: ({ sessionIdleLifetime }) => sessionIdleLifetime,
  },
  {
    what: 'the sign-in itself',
    bytes: 1_460,
    lifetimeMs: ({ interactionLifetime }) => 2 * interactionLifetime,
  },
  {
    what: 'an access token with its index',
    bytes: 664,
    lifetimeMs: ({ accessTokenLifetime }) => accessTokenLifetime,
  },
];

/**
 * Bytes of an account with the rows of its indexes, and of an app that it uses: its Grant and the
 * decisions that are counted.
 */
export const lastingBytes = { account: 1_230, grant: 2_300 } as const;

/**
 * How many bytes a store takes for each byte of content once records come and go: indexes, history,
 * space that is partly free.
 */
export const storeFactors = { embedded: 2.4, etcd: 2.7 } as const;

/** Returns the bytes of content that one sign-in a day leaves in the long run. */
export const bytesOfDailySignIn = (limits: Limits): number =>
  signInRecords.reduce(
    (sum, { bytes, lifetimeMs }) => sum + bytes * (lifetimeMs(limits) / dayMs),
    0,
  );

/** What a store has to hold. */
export interface Load {
  readonly signInsPerDay: number;
  readonly accounts: number;
  readonly grants: number;
}

/** Returns how many bytes a store needs. */
export const neededBytes = (
  { signInsPerDay, accounts, grants }: Load,
  limits: Limits,
  store: keyof typeof storeFactors,
): number =>
  storeFactors[store] *
  (signInsPerDay * bytesOfDailySignIn(limits) +
    accounts * lastingBytes.account +
    grants * lastingBytes.grant);
