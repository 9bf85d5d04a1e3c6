import type { Interaction, Status } from './api.gen.js';

export type {
  AccessRequest,
  Account,
  Appearance,
  ClaimsProvider,
  ClaimsReview,
  Grant,
  HourlyCount,
  Interaction,
  MockMessage,
  ObjectMeta,
  Passkey,
  Policy,
  PolicyDecision,
  Recovery,
  Replica,
  Session,
  Status,
} from './api.gen.js';

/** The app that started the sign-in. */
export type InteractionClient = Interaction['status']['client'];
/** The email with the code and the link. */
export type EmailChallenge = NonNullable<Interaction['status']['emailChallenge']>;
/** The account that signed in. */
export type InteractionAccount = NonNullable<Interaction['status']['account']>;
/** One requested scope. */
export type ConsentScope = NonNullable<Interaction['status']['consent']>['scopes'][number];
/** One value that would be shared. */
export type ClaimPreview = ConsentScope['preview'][number];
/** The details of a Status. */
export type StatusDetails = NonNullable<Status['details']>;

/** The part of a discovery document that pages read. */
export interface APIResourceList {
  readonly groupVersion: string;
  readonly resources: readonly {
    readonly name: string;
    readonly kind: string;
    readonly verbs: readonly string[];
  }[];
}

/** One app of the app menu. */
export interface App extends Pick<InteractionClient, 'displayName' | 'displayNames' | 'logoURI'> {
  readonly client: string;
  readonly access: 'Allowed' | 'SignInAgain' | 'PasskeyRequired' | 'Refused';
  /** Present if the person can start it. */
  readonly startURI?: string;
  /** The message of the rule that refuses it, unless access is Allowed. */
  readonly reason?: string;
  readonly reasons?: Readonly<Record<string, string>>;
  /** The Groups with which it would be permitted and that the person may request access to. */
  readonly requestableGroups?: readonly string[];
}

/** The apps that a person may use, and those that they may know of. */
export interface AccountApps {
  readonly items: readonly App[];
}

/** An email challenge for a new address of the account. */
export interface NewAddress {
  readonly spec: { readonly email: string };
  readonly status: Omit<EmailChallenge, 'email'>;
}

/** WebAuthn options in JSON form, and when they expire. */
export interface PasskeyChallenge<Options> {
  readonly status: { readonly options: Options; readonly expirationTimestamp: string };
}

/** One line of a watch. */
export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: T;
}
