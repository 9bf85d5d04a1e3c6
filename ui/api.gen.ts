// Generated from the OpenAPI document by hack/gen. Do not edit.

export interface ObjectMeta {
  name: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

export interface ListMeta {
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
}

export interface StatusCause {
  reason: string;
  message: string;
  field?: string;
}

export interface StatusDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: StatusCause[];
  retryAfterSeconds?: number;
  triesLeft?: number;
  policyDecision?: string;
}

export interface Status {
  apiVersion: 'v1';
  kind: 'Status';
  metadata: Record<string, never>;
  status: 'Failure' | 'Success';
  message?: string;
  reason?: string;
  details?: StatusDetails;
  code: number;
}

export type Phase = 'LoginRequired' | 'Authenticated' | 'ConsentRequired' | 'Completed' | 'Aborted';
export type Method = 'EmailCode' | 'EmailLink' | 'Passkey';
export type Missing = 'displayName' | 'passkey';

export interface InteractionClient {
  name: string;
  displayName: string;
  logoURI?: string;
  homepageURI?: string;
  initiateLoginURI?: string;
  policyURI?: string;
  termsURI?: string;
  firstParty: boolean;
}

export interface EmailChallenge {
  email: string;
  sentTimestamp: string;
  expirationTimestamp: string;
  resendAfterTimestamp: string;
  triesLeft: number;
}

export interface AccountSetup {
  complete: boolean;
  missing: Missing[];
}

export interface InteractionAccount {
  name: string;
  displayName?: string;
  email: string;
  setup: AccountSetup;
}

export interface ClaimPreview {
  claim: string;
  title: string;
  value: string | number | boolean | string[];
}

export interface ConsentScope {
  name: string;
  title: string;
  description: string;
  sensitive: boolean;
  required: boolean;
  granted: boolean;
  provider: { name: string; displayName: string };
  allowed: boolean;
  reason?: string;
  preview: ClaimPreview[];
  previewUnavailable?: boolean;
}

export interface Refusal {
  message: string;
  policyDecision?: string;
}

/** A sign-in in progress. */
export interface Interaction {
  apiVersion: string;
  kind: 'Interaction';
  metadata: ObjectMeta;
  spec: {
    client: string;
    scopes: string[];
    prompt: 'Login' | 'Consent';
    loginHint?: string;
    locales?: string[];
  };
  status: {
    phase: Phase;
    client: InteractionClient;
    methods?: Method[];
    emailChallenge?: EmailChallenge;
    account?: InteractionAccount;
    returnTo?: string;
    consent?: { scopes: ConsentScope[] };
    expirationTimestamp: string;
    previous?: string;
    next?: string;
    refusal?: Refusal;
  };
}

/** A person who signs in, known by an address they proved to hold. */
export interface Account {
  apiVersion: string;
  kind: 'Account';
  metadata: ObjectMeta;
  spec: {
    displayName?: string;
    givenName?: string;
    familyName?: string;
    nickname?: string;
    preferredUsername?: string;
    pictureURI?: string;
    website?: string;
    locale?: string;
    zoneinfo?: string;
    birthdate?: string;
  };
  status: {
    disabledTimestamp?: string;
    email: { address: string; verifiedTimestamp: string };
    setup: AccountSetup;
    passkeys: number;
    lastSignInTimestamp?: string;
  };
}

/** A message in the mock mailbox, which exists only while email is mocked. */
export interface MockMessage {
  apiVersion: string;
  kind: 'MockMessage';
  metadata: ObjectMeta;
  spec: Record<string, never>;
  status: {
    to: string;
    from: string;
    subject: string;
    text: string;
    html: string;
    sentTimestamp: string;
    code?: string;
    link?: string;
  };
}

export interface MockMessageList {
  apiVersion: string;
  kind: 'MockMessageList';
  metadata: ListMeta;
  items: MockMessage[];
}

export interface APIResourceList {
  apiVersion: string;
  kind: 'APIResourceList';
  groupVersion: string;
  resources: { name: string; kind: string; verbs: string[] }[];
}

export interface WatchEvent<T> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: T;
}
