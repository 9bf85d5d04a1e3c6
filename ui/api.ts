import type { Interaction, Status } from './api.gen.js';

export type {
  Account,
  AccountList,
  ClaimsProviderList,
  ClaimsReview,
  Grant,
  GrantList,
  Interaction,
  MockMessage,
  MockMessageList,
  ObjectMeta,
  Passkey,
  Policy,
  PolicyDecision,
  Recovery,
  Session,
  Status,
} from './api.gen.js';

/** Who asks. */
export type InteractionClient = Interaction['status']['client'];
/** The email that was sent. */
export type EmailChallenge = NonNullable<Interaction['status']['emailChallenge']>;
/** Who signed in. */
export type InteractionAccount = NonNullable<Interaction['status']['account']>;
/** One scope asked for. */
export type ConsentScope = NonNullable<Interaction['status']['consent']>['scopes'][number];
/** One value that would be shared. */
export type ClaimPreview = ConsentScope['preview'][number];
/** What a Status knows beyond its reason. */
export type StatusDetails = NonNullable<Status['details']>;

/** What discovery lists, as far as pages read it. */
export interface APIResourceList {
  readonly resources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly verbs: readonly string[];
  }[];
}

/** A code on its way to an address that is to become the account's. */
export interface NewAddress {
  readonly spec: { readonly email: string };
  readonly status: Omit<EmailChallenge, 'email'>;
}

/** What the browser needs for a passkey, in WebAuthn's JSON form. */
export interface PasskeyChallenge<Options> {
  readonly status: { readonly options: Options; readonly expirationTimestamp: string };
}

/** One line of a watch. */
export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: T;
}
