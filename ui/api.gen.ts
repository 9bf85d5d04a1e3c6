// Generated from the OpenAPI document by hack/gen. Do not edit.

/** A person who signs in, identified by a verified email address. */
export interface Account {
  apiVersion: 'id.vestibule.org/v1alpha1';
  kind: 'Account';
  metadata: ObjectMeta;
  spec: {
    displayName?: string;
    givenName?: string;
    familyName?: string;
    middleName?: string;
    nickname?: string;
    preferredUsername?: string;
    profileURI?: string;
    pictureURI?: string;
    website?: string;
    gender?: string;
    locale?: string;
    zoneinfo?: string;
    birthdate?: string;
  };
  status: {
    disabledTimestamp?: string;
    email: {
      address: string;
      verifiedTimestamp: string;
    };
    setup: {
      complete: boolean;
      missing: ('displayName' | 'passkey')[];
    };
    passkeys: number;
    lastSignInTimestamp?: string;
    profileTimestamp?: string;
  };
}

/** One line of a watch on accounts. */
export interface AccountEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: Account | Bookmark | Status;
}

/** A list of accounts. */
export interface AccountList {
  apiVersion: 'id.vestibule.org/v1alpha1';
  kind: 'AccountList';
  metadata: ListMeta;
  items: Account[];
}

/** Nothing up to this version is missing. */
export interface Bookmark {
  apiVersion: string;
  kind: string;
  metadata: {
    resourceVersion: string;
    annotations?: Record<string, string>;
  };
}

/** A service that supplies claims by responding to claims reviews; the one named vestibule is built in. */
export interface ClaimsProvider {
  apiVersion: 'id.vestibule.org/v1alpha1';
  kind: 'ClaimsProvider';
  metadata: ObjectMeta;
  spec: {
    displayName: string;
    url?: string;
    caBundle?: string;
    timeoutMilliseconds?: number;
    failurePolicy?: 'Omit' | 'Fail';
    scopes: {
      name: string;
      title: string;
      description: string;
      sensitive?: boolean;
      claims: {
        name: string;
        title: string;
        type: 'string' | 'number' | 'boolean' | 'strings';
      }[];
    }[];
  };
  status: Record<string, never>;
}

/** One line of a watch on claimsproviders. */
export interface ClaimsProviderEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: ClaimsProvider | Bookmark | Status;
}

/** A list of claimsproviders. */
export interface ClaimsProviderList {
  apiVersion: 'id.vestibule.org/v1alpha1';
  kind: 'ClaimsProviderList';
  metadata: ListMeta;
  items: ClaimsProvider[];
}

/** A request for the claims of a person from a claims provider. */
export interface ClaimsReview {
  apiVersion: 'id.vestibule.org/v1alpha1';
  kind: 'ClaimsReview';
  metadata: ObjectMeta;
  spec: {
    account: string;
    client: string;
    provider: string;
    scopes: string[];
    purpose: 'Preview' | 'Release';
  };
  status: {
    outcome: 'Answered' | 'TimedOut' | 'Failed' | 'Refused';
    claims: string[];
    durationMilliseconds: number;
    timestamp: string;
  };
}

/** One line of a watch on claimsreviews. */
export interface ClaimsReviewEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: ClaimsReview | Bookmark | Status;
}

/** A list of claimsreviews. */
export interface ClaimsReviewList {
  apiVersion: 'id.vestibule.org/v1alpha1';
  kind: 'ClaimsReviewList';
  metadata: ListMeta;
  items: ClaimsReview[];
}

/** An OpenID Connect relying party; its name is the client_id. */
export interface Client {
  apiVersion: 'id.vestibule.org/v1alpha1';
  kind: 'Client';
  metadata: ObjectMeta;
  spec: {
    displayName: string;
    redirectURIs?: string[];
    postLogoutRedirectURIs?: string[];
    backchannelLogoutURI?: string;
    initiateLoginURI?: string;
    homepageURI?: string;
    policyURI?: string;
    termsURI?: string;
    logoURI?: string;
    type?: 'Public' | 'Confidential';
    applicationType?: 'web' | 'native';
    tokenEndpointAuthMethod?: 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt' | 'none';
    profile?: 'FAPI2';
    pkce?: 'Required' | 'Optional';
    requirePushedAuthorizationRequests?: boolean;
    dpopBoundAccessTokens?: boolean;
    tokenEndpointAuthSigningAlg?: 'ES256' | 'PS256' | 'RS256' | 'EdDSA' | 'Ed25519';
    jwks?: {
      keys: (Record<string, string | string[] | boolean>)[];
    };
    jwksURI?: string;
    grantTypes?: ('authorization_code' | 'refresh_token' | 'urn:ietf:params:oauth:grant-type:device_code')[];
    scopes?: {
      name: string;
      required?: boolean;
    }[];
    subjectType?: 'public' | 'pairwise';
    idTokenClaims?: string[];
    idTokenSignedResponseAlg?: 'ES256' | 'RS256';
    firstParty?: boolean;
    lifetimes?: {
      accessToken?: string;
      idToken?: string;
      refreshToken?: string;
      signIn?: string;
    };
    secretHashes?: string[];
  };
  status: {
    secrets: {
      hint: string;
      creationTimestamp: string;
    }[];
    conditions?: {
      type: string;
      status: 'True' | 'False' | 'Unknown';
      reason: string;
      message: string;
      lastTransitionTime: string;
    }[];
  };
}

/** One line of a watch on clients. */
export interface ClientEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: Client | Bookmark | Status;
}

/** A list of clients. */
export interface ClientList {
  apiVersion: 'id.vestibule.org/v1alpha1';
  kind: 'ClientList';
  metadata: ListMeta;
  items: Client[];
}

/** What a person agreed to share with a Client. */
export interface Grant {
  apiVersion: 'id.vestibule.org/v1alpha1';
  kind: 'Grant';
  metadata: ObjectMeta;
  spec: {
    scopes: string[];
  };
  status: {
    account: string;
    client: {
      name: string;
      displayName: string;
    };
    grantedTimestamp: string;
    firstUsedTimestamp?: string;
    lastUsedTimestamp?: string;
    disclosures: {
      scope: string;
      claims: string[];
      provider: string;
      firstTimestamp?: string;
      lastTimestamp: string;
    }[];
    policyDecision?: string;
    shareDecisions?: {
      scope: string;
      policyDecision: string;
    }[];
  };
}

/** One line of a watch on grants. */
export interface GrantEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: Grant | Bookmark | Status;
}

/** A list of grants. */
export interface GrantList {
  apiVersion: 'id.vestibule.org/v1alpha1';
  kind: 'GrantList';
  metadata: ListMeta;
  items: Grant[];
}

/** A group of people: an account belongs to it while its verified address is listed. */
export interface Group {
  apiVersion: 'id.vestibule.org/v1alpha1';
  kind: 'Group';
  metadata: ObjectMeta;
  spec: {
    displayName: string;
    members?: string[];
  };
  status: Record<string, never>;
}

/** One line of a watch on groups. */
export interface GroupEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: Group | Bookmark | Status;
}

/** A list of groups. */
export interface GroupList {
  apiVersion: 'id.vestibule.org/v1alpha1';
  kind: 'GroupList';
  metadata: ListMeta;
  items: Group[];
}

/** A sign-in in progress. */
export interface Interaction {
  apiVersion: 'id.vestibule.org/v1alpha1';
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
    phase: 'LoginRequired' | 'Authenticated' | 'ConsentRequired' | 'Completed' | 'Aborted';
    client: {
      name: string;
      displayName: string;
      logoURI?: string;
      homepageURI?: string;
      initiateLoginURI?: string;
      policyURI?: string;
      termsURI?: string;
      firstParty: boolean;
    };
    methods?: ('EmailCode' | 'EmailLink' | 'Passkey')[];
    emailChallenge?: {
      email: string;
      sender?: string;
      deliveryState?: 'Deferred' | 'Failed' | 'Unknown';
      sentTimestamp: string;
      expirationTimestamp: string;
      resendAfterTimestamp: string;
      triesLeft: number;
      codeLength: number;
    };
    account?: {
      name: string;
      displayName?: string;
      email: string;
      setup: {
        complete: boolean;
        missing: ('displayName' | 'passkey')[];
      };
    };
    returnTo?: string;
    consent?: {
      scopes: {
        name: string;
        title: string;
        description: string;
        sensitive: boolean;
        required: boolean;
        granted: boolean;
        provider: {
          name: string;
          displayName: string;
        };
        allowed: boolean;
        reason?: string;
        preview: {
          claim: string;
          title: string;
          value: string | number | boolean | string[];
        }[];
        previewUnavailable?: boolean;
        claims?: {
          claim: string;
          title: string;
        }[];
        permissions?: string[];
      }[];
    };
    expirationTimestamp: string;
    previous?: string;
    next?: string;
    refusal?: {
      message: string;
      policyDecision?: string;
    };
  };
}

/** One line of a watch on interactions. */
export interface InteractionEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: Interaction | Bookmark | Status;
}

/** A list of interactions. */
export interface InteractionList {
  apiVersion: 'id.vestibule.org/v1alpha1';
  kind: 'InteractionList';
  metadata: ListMeta;
  items: Interaction[];
}

/** Metadata of a list. */
export interface ListMeta {
  resourceVersion: string;
  continue?: string;
  remainingItemCount?: number;
}

/** A message in the mock mailbox, which exists only while email is mocked. */
export interface MockMessage {
  apiVersion: 'id.vestibule.org/v1alpha1';
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

/** One line of a watch on mockmessages. */
export interface MockMessageEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: MockMessage | Bookmark | Status;
}

/** A list of mockmessages. */
export interface MockMessageList {
  apiVersion: 'id.vestibule.org/v1alpha1';
  kind: 'MockMessageList';
  metadata: ListMeta;
  items: MockMessage[];
}

/** ObjectMeta */
export interface ObjectMeta {
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  ownerReferences?: {
    apiVersion: string;
    kind: string;
    name: string;
    uid: string;
    controller?: boolean;
    blockOwnerDeletion?: boolean;
  }[];
  name: string;
  generateName?: string;
  uid: string;
  resourceVersion: string;
  generation: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
}

/** An object’s metadata alone. */
export interface PartialObjectMetadata {
  apiVersion: string;
  kind: 'PartialObjectMetadata';
  metadata: ObjectMeta;
}

/** A list of objects’ metadata. */
export interface PartialObjectMetadataList {
  apiVersion: string;
  kind: 'PartialObjectMetadataList';
  metadata: ListMeta;
  items: PartialObjectMetadata[];
}

/** A passkey that a person signs in with. */
export interface Passkey {
  apiVersion: 'id.vestibule.org/v1alpha1';
  kind: 'Passkey';
  metadata: ObjectMeta;
  spec: {
    displayName: string;
  };
  status: {
    account: string;
    deviceType: 'singleDevice' | 'multiDevice';
    backedUp: boolean;
    transports: ('ble' | 'cable' | 'hybrid' | 'internal' | 'nfc' | 'smart-card' | 'usb')[];
    authenticator: {
      aaguid: string;
      name?: string;
    };
    lastUsedTimestamp: string | null;
    fullStrengthTimestamp?: string;
  };
}

/** One line of a watch on passkeys. */
export interface PasskeyEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: Passkey | Bookmark | Status;
}

/** A list of passkeys. */
export interface PasskeyList {
  apiVersion: 'id.vestibule.org/v1alpha1';
  kind: 'PasskeyList';
  metadata: ListMeta;
  items: Passkey[];
}

/** The policy in force, or one that was. Anyone may read it. */
export interface Policy {
  apiVersion: 'id.vestibule.org/v1alpha1';
  kind: 'Policy';
  metadata: ObjectMeta;
  spec: {
    cedar: string;
    description?: string;
  };
  status: {
    inForce: boolean;
    inForceSince: string;
    supersededTimestamp?: string;
    author?: string;
    hash: string;
    rules: {
      id: string;
      effect: 'permit' | 'forbid';
      message?: string;
    }[];
    impact?: {
      replayed: number;
      unchanged: number;
      nowRefused: string[];
      nowAllowed: string[];
      undecidable: number;
      unnamed?: {
        nowRefused: number;
        nowAllowed: number;
      };
      notReached?: number;
    };
  };
}

/** What policy decided about someone. */
export interface PolicyDecision {
  apiVersion: 'id.vestibule.org/v1alpha1';
  kind: 'PolicyDecision';
  metadata: ObjectMeta;
  spec: {
    account?: string;
    principal: string;
    action: string;
    resource?: {
      kind: string;
      name?: string;
      subresource?: string;
    };
    scope?: string;
    client?: string;
    policy: string;
    input: {
      caller: {
        type: 'Anonymous' | 'Browser' | 'Account' | 'ClusterUser' | 'Client';
        name?: string;
      };
      groups?: string[];
      name?: string;
      owner?: string;
      facts: {
        account?: string;
        client?: string;
        domain?: string;
        method?: string;
        methods?: string[];
        assurance?: string;
        authenticated?: number;
        passkeys?: number;
        operatorsHavePasskeys?: boolean;
        operatorsHaveFullPasskeys?: boolean;
        signedInRecently?: boolean;
        metadataOnly?: boolean;
        site?: string;
      };
    };
  };
  status: {
    allowed: boolean;
    reasons: {
      rule: string;
      message: string;
    }[];
    count: number;
    firstTimestamp: string;
    lastTimestamp: string;
  };
}

/** One line of a watch on policydecisions. */
export interface PolicyDecisionEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: PolicyDecision | Bookmark | Status;
}

/** A list of policydecisions. */
export interface PolicyDecisionList {
  apiVersion: 'id.vestibule.org/v1alpha1';
  kind: 'PolicyDecisionList';
  metadata: ListMeta;
  items: PolicyDecision[];
}

/** One line of a watch on policies. */
export interface PolicyEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: Policy | Bookmark | Status;
}

/** A list of policies. */
export interface PolicyList {
  apiVersion: 'id.vestibule.org/v1alpha1';
  kind: 'PolicyList';
  metadata: ListMeta;
  items: Policy[];
}

/** Recovery of an account whose passkeys are all lost: after a wait, they are removed. Until then, anyone who is signed in to the account can cancel it. */
export interface Recovery {
  apiVersion: 'id.vestibule.org/v1alpha1';
  kind: 'Recovery';
  metadata: ObjectMeta;
  spec: Record<string, never>;
  status: {
    account: string;
    phase: 'Waiting' | 'Completed' | 'Cancelled';
    startedBy: 'Person' | 'Operator';
    startedFrom?: string;
    startedTimestamp: string;
    halfwayTimestamp: string;
    readyTimestamp: string;
    endedTimestamp?: string;
  };
}

/** One line of a watch on recoveries. */
export interface RecoveryEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: Recovery | Bookmark | Status;
}

/** A list of recoveries. */
export interface RecoveryList {
  apiVersion: 'id.vestibule.org/v1alpha1';
  kind: 'RecoveryList';
  metadata: ListMeta;
  items: Recovery[];
}

/** A browser in which an account is signed in. */
export interface Session {
  apiVersion: 'id.vestibule.org/v1alpha1';
  kind: 'Session';
  metadata: ObjectMeta;
  spec: Record<string, never>;
  status: {
    account: string;
    current: boolean;
    authenticationTimestamp: string;
    methods: ('EmailCode' | 'EmailLink' | 'Passkey')[];
    assurance: string;
    client: {
      browser: string;
      os: string;
      device: string;
    };
    lastUsedTimestamp: string;
    expirationTimestamp: string;
    clients: {
      name: string;
      displayName: string;
    }[];
    recentEvents?: {
      type: 'SignedIn' | 'SignedInAgain' | 'CodeIssued' | 'TokensIssued';
      timestamp: string;
      method?: 'EmailCode' | 'EmailLink' | 'Passkey';
      browser?: string;
      client?: string;
    }[];
    signOut?: {
      clients: {
        name: string;
        state: 'Notified' | 'Retrying' | 'GaveUp' | 'Unsupported';
      }[];
    };
  };
}

/** One line of a watch on sessions. */
export interface SessionEvent {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: Session | Bookmark | Status;
}

/** A list of sessions. */
export interface SessionList {
  apiVersion: 'id.vestibule.org/v1alpha1';
  kind: 'SessionList';
  metadata: ListMeta;
  items: Session[];
}

/** Every error is a Status object. */
export interface Status {
  apiVersion: 'v1';
  kind: 'Status';
  metadata: Record<string, never>;
  status: 'Failure' | 'Success';
  reason?: 'BadRequest' | 'Unauthorized' | 'Forbidden' | 'NotFound' | 'MethodNotAllowed' | 'NotAcceptable' | 'RequestTimeout' | 'AlreadyExists' | 'Conflict' | 'Expired' | 'RequestEntityTooLarge' | 'UnsupportedMediaType' | 'Invalid' | 'TooManyRequests' | 'RequestHeaderFieldsTooLarge' | 'InternalError' | 'ServiceUnavailable' | 'Timeout';
  code: number;
  message?: string;
  details?: {
    name?: string;
    group?: string;
    kind?: string;
    uid?: string;
    causes?: {
      reason: string;
      message: string;
      field?: string;
    }[];
    retryAfterSeconds?: number;
    methods?: string[];
    triesLeft?: number;
    policyDecision?: string;
  };
}

/** Objects as rows of a table. */
export interface Table {
  apiVersion: string;
  kind: 'Table';
  metadata: ListMeta;
  columnDefinitions: {
    name: string;
    type: string;
    format: string;
    description: string;
    priority: number;
  }[];
  rows: {
    cells: string[];
    object: Record<string, never> | null;
  }[];
}
