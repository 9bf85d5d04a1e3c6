// Generated from the OpenAPI document by hack/gen. Do not edit.

/** A request to be a member of a Group until a time. */
export interface AccessRequest {
  apiVersion: 'id.vestibule.org/v1beta1';
  kind: 'AccessRequest';
  metadata: ObjectMeta;
  spec: {
    group: string;
    reason: string;
    until: string;
  };
  status: {
    account: string;
    phase: 'Pending' | 'Approved' | 'Denied' | 'Expired';
    until?: string;
    decidedTimestamp?: string;
    decidedBy?: string;
    message?: string;
    conditions?: {
      type: string;
      status: 'True' | 'False' | 'Unknown';
      reason: string;
      message: string;
      observedGeneration?: number;
      lastTransitionTime: string;
    }[];
  };
}

/** A person who signs in, identified by a verified email address. */
export interface Account {
  apiVersion: 'id.vestibule.org/v1beta1';
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
    websiteURI?: string;
    gender?: string;
    locale?: string;
    timeZone?: string;
    birthdate?: string;
  };
  status: {
    disabledTimestamp?: string;
    email: {
      address: string;
      verifiedTimestamp?: string;
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

/** The name, logo, colour and links of this deployment, in one object named default. Anyone may read it. */
export interface Appearance {
  apiVersion: 'id.vestibule.org/v1beta1';
  kind: 'Appearance';
  metadata: ObjectMeta;
  spec: {
    displayName?: string;
    logo?: string;
    accentColor?: string;
    supportURI?: string;
    privacyPolicyURI?: string;
    termsOfServiceURI?: string;
  };
  status: Record<string, never>;
}

/** A service that supplies claims by responding to claims reviews; the one named vestibule is built in. */
export interface ClaimsProvider {
  apiVersion: 'id.vestibule.org/v1beta1';
  kind: 'ClaimsProvider';
  metadata: ObjectMeta;
  spec: {
    displayName: string;
    displayNames?: Record<string, string>;
    reviewURI?: string;
    caBundle?: string;
    timeoutMilliseconds?: number;
    failurePolicy?: 'Omit' | 'Fail';
    scopes: {
      name: string;
      title: string;
      titles?: Record<string, string>;
      description: string;
      descriptions?: Record<string, string>;
      sensitive?: boolean;
      claims: {
        name: string;
        title: string;
        titles?: Record<string, string>;
        type: 'string' | 'number' | 'boolean' | 'strings';
      }[];
    }[];
  };
  status: {
    conditions?: {
      type: string;
      status: 'True' | 'False' | 'Unknown';
      reason: string;
      message: string;
      observedGeneration?: number;
      lastTransitionTime: string;
    }[];
  };
}

/** A request for the claims of a person from a claims provider. */
export interface ClaimsReview {
  apiVersion: 'id.vestibule.org/v1beta1';
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

/** What a person agreed to share with a Client. */
export interface Grant {
  apiVersion: 'id.vestibule.org/v1beta1';
  kind: 'Grant';
  metadata: ObjectMeta;
  spec: {
    scopes: string[];
    audiences?: {
      name: string;
      scopes: string[];
    }[];
  };
  status: {
    account: string;
    client: {
      name: string;
      displayName: string;
      displayNames?: Record<string, string>;
      declaredName?: string;
    };
    audiences?: {
      name: string;
      displayName: string;
      displayNames?: Record<string, string>;
      operatedBy?: string;
      homepageURI?: string;
      scopes: {
        name: string;
        title: string;
        titles?: Record<string, string>;
      }[];
    }[];
    grantedTimestamp: string;
    firstUsedTimestamp?: string;
    lastUsedTimestamp?: string;
    disclosures: {
      scope: string;
      claims: string[];
      provider: string;
      firstTimestamp: string;
      lastTimestamp: string;
    }[];
    policyDecision?: string;
    shareDecisions?: {
      scope: string;
      policyDecision: string;
    }[];
  };
}

/** What all replicas counted in an hour: sign-ins, mails and refusals. Its name is the hour in UTC. Each replica adds what it counted every minute, and at its end. It is gone 30 days after the hour. */
export interface HourlyCount {
  apiVersion: 'id.vestibule.org/v1beta1';
  kind: 'HourlyCount';
  metadata: ObjectMeta;
  spec: Record<string, never>;
  status: {
    startTimestamp: string;
    signIns: {
      name: string;
      count: number;
      lastTimestamp: string;
    }[];
    signInsFailed: {
      name: string;
      count: number;
      lastTimestamp: string;
    }[];
    mails: {
      name: string;
      count: number;
      lastTimestamp: string;
    }[];
    refusedByRule: {
      name: string;
      count: number;
      lastTimestamp: string;
    }[];
    refusedByLimit: {
      name: string;
      count: number;
      lastTimestamp: string;
    }[];
  };
}

/** A sign-in in progress. */
export interface Interaction {
  apiVersion: 'id.vestibule.org/v1beta1';
  kind: 'Interaction';
  metadata: ObjectMeta;
  spec: {
    client: string;
    scopes: string[];
    prompt: 'Login' | 'SelectAccount' | 'Consent';
    loginHint?: string;
    locales?: string[];
  };
  status: {
    phase: 'LoginRequired' | 'Authenticated' | 'ConsentRequired' | 'Completed' | 'Aborted';
    client: {
      name: string;
      displayName: string;
      displayNames?: Record<string, string>;
      declaredName?: string;
      redirectHost?: string;
      logoURI?: string;
      homepageURI?: string;
      initiateLoginURI?: string;
      privacyPolicyURI?: string;
      termsOfServiceURI?: string;
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
        required?: ('displayName' | 'passkey')[];
      };
    };
    returnTo?: string;
    resumeTo?: string;
    consent?: {
      scopes: {
        name: string;
        title: string;
        titles?: Record<string, string>;
        description: string;
        descriptions?: Record<string, string>;
        sensitive: boolean;
        required: boolean;
        granted: boolean;
        provider: {
          name: string;
          displayName: string;
          displayNames?: Record<string, string>;
        };
        audience?: {
          name: string;
          displayName: string;
          displayNames?: Record<string, string>;
          operatedBy?: string;
          homepageURI?: string;
        };
        allowed: boolean;
        reason?: string;
        reasons?: Record<string, string>;
        preview: {
          claim: string;
          title: string;
          titles?: Record<string, string>;
          value: string | number | boolean | string[];
          withScope?: string;
        }[];
        previewUnavailable?: boolean;
        claims?: {
          claim: string;
          title: string;
          titles?: Record<string, string>;
        }[];
        permissions?: string[];
      }[];
    };
    expirationTimestamp: string;
    previous?: string;
    next?: string;
    stepUp?: {
      reason: 'AcrRequested' | 'NewSignInRequested' | 'Policy' | 'DeviceConnection' | 'AccountChange';
      acr?: string;
    };
    refusal?: {
      message: string;
      messages?: Record<string, string>;
      policyDecision?: string;
    };
  };
}

/** A message in the mock mailbox, which exists only while email is mocked. */
export interface MockMessage {
  apiVersion: 'id.vestibule.org/v1beta1';
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
    conditions?: {
      type: string;
      status: 'True' | 'False' | 'Unknown';
      reason: string;
      message: string;
      observedGeneration?: number;
      lastTransitionTime: string;
    }[];
  };
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
  managedFields?: {
    manager: string;
    operation: 'Apply' | 'Update';
    apiVersion: string;
    time?: string;
    fieldsType: 'FieldsV1';
    fieldsV1: Record<string, never>;
    subresource?: 'status';
  }[];
}

/** A passkey that a person signs in with. */
export interface Passkey {
  apiVersion: 'id.vestibule.org/v1beta1';
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
    fullStrengthTimestamp: string;
    conditions?: {
      type: string;
      status: 'True' | 'False' | 'Unknown';
      reason: string;
      message: string;
      observedGeneration?: number;
      lastTransitionTime: string;
    }[];
  };
}

/** The active policy, a superseded one, or one in trial. Anyone may read it. */
export interface Policy {
  apiVersion: 'id.vestibule.org/v1beta1';
  kind: 'Policy';
  metadata: ObjectMeta;
  spec: {
    cedar: string;
    description?: string;
    mode?: 'Enforce' | 'Shadow';
    minAgreedSeconds?: number;
  };
  status: {
    inForce: boolean;
    inForceSince?: string;
    supersededTimestamp?: string;
    author?: string;
    hash: string;
    rules: {
      id: string;
      effect: 'permit' | 'forbid';
      message?: string;
      messages?: Record<string, string>;
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
    shadow?: {
      comparedWith: string;
      since: string;
      evaluated: number;
      unchanged: number;
      nowRefused: number;
      nowAllowed: number;
      undecidable: number;
      examples: {
        nowRefused: string[];
        nowAllowed: string[];
      };
      lastDifferenceTimestamp?: string;
      agreedTimestamp?: string;
    };
    conditions?: {
      type: string;
      status: 'True' | 'False' | 'Unknown';
      reason: string;
      message: string;
      observedGeneration?: number;
      lastTransitionTime: string;
    }[];
  };
}

/** A decision of the policy about someone. */
export interface PolicyDecision {
  apiVersion: 'id.vestibule.org/v1beta1';
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
        invited?: boolean;
        operatorsHavePasskeys?: boolean;
        operatorsHaveFullPasskeys?: boolean;
        signedInRecently?: boolean;
        metadataOnly?: boolean;
        newBrowser?: boolean;
        acrRequested?: string;
        scopesRequested?: string[];
        site?: string;
      };
    };
  };
  status: {
    allowed: boolean;
    reasons: {
      rule: string;
      message: string;
      messages?: Record<string, string>;
    }[];
    alternatives?: {
      message: string;
      changes: {
        fact: 'SignIn' | 'KnownBrowser' | 'Network' | 'Group' | 'NotInGroup' | 'EmailDomain' | 'Passkeys' | 'Invitation' | 'Time';
        value?: string;
      }[];
    }[];
    count: number;
    firstTimestamp: string;
    lastTimestamp: string;
    outcome?: 'Wrong' | 'Expired' | 'Refused' | 'Limited' | 'Reused' | 'Failed';
    request?: {
      auditID?: string;
      network?: string;
      program?: string;
    };
  };
}

/** Recovery of an account whose passkeys are all lost: after a wait, they are removed. Until then, anyone who is signed in to the account can cancel it. */
export interface Recovery {
  apiVersion: 'id.vestibule.org/v1beta1';
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

/** A running process of this service: its state, its settings, and what it counted in the last hour. The process writes it each minute. It is gone when the process ends, or three minutes after its last write. */
export interface Replica {
  apiVersion: 'id.vestibule.org/v1beta1';
  kind: 'Replica';
  metadata: ObjectMeta;
  spec: Record<string, never>;
  status: {
    release: string;
    startTimestamp: string;
    renewTimestamp: string;
    ready: boolean;
    failedChecks: string[];
    policy?: string;
    store: {
      driver: 'Embedded' | 'Etcd';
      copies: {
        name: string;
        bytes: number;
        quotaBytes?: number;
      }[];
      lastSnapshotTimestamp?: string;
    };
    manifests?: {
      file: string;
      state: 'Applied' | 'Faulty';
      objects: number;
      message?: string;
      timestamp: string;
    }[];
    lastMailTimestamp?: string;
    activity: {
      endTimestamp: string;
      signIns: number[];
      signInsFailed: number[];
      mailsSent: number[];
      mailsFailed: number[];
      requestsRefused: number[];
    };
    refusals?: {
      limit: string;
      setting?: string;
      value?: string;
      count: number;
    }[];
    settings: {
      name: string;
      value?: string;
      source: 'Flag' | 'Environment' | 'File' | 'Settings' | 'Default';
    }[];
  };
}

/** A browser in which an account is signed in. */
export interface Session {
  apiVersion: 'id.vestibule.org/v1beta1';
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
      displayNames?: Record<string, string>;
    }[];
    recentEvents?: {
      type: 'SignedIn' | 'SignedInAgain' | 'CodeIssued' | 'TokensIssued';
      timestamp: string;
      method?: 'EmailCode' | 'EmailLink' | 'Passkey';
      browser?: string;
      client?: string;
    }[];
    emailDeliveryState?: 'Deferred' | 'Failed' | 'Unknown';
    signOut?: {
      clients: {
        name: string;
        state: 'Notified' | 'Retrying' | 'GaveUp' | 'Unsupported';
      }[];
    };
  };
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
    messages?: Record<string, string>;
  };
}
