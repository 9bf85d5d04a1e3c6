// Generated from policy/model by hack/gen. Do not edit.

/** A name that rules may use. */
export interface VocabularyEntry {
  readonly of: 'type' | 'action' | 'attribute' | 'context';
  readonly label: string;
  /** What it is, in English. */
  readonly info?: string;
}

export const vocabulary: readonly VocabularyEntry[] = [
  {
    of: 'type',
    label: 'Anonymous',
    info:
      "Someone who is not signed in.",
  },
  {
    of: 'type',
    label: 'Browser',
    info:
      "A browser with the cookie of one sign-in in progress; its id is the " +
      "Interaction’s name.",
  },
  {
    of: 'type',
    label: 'Account',
    info:
      "A person; the id is the account’s name.",
  },
  {
    of: 'type',
    label: 'Group',
    info:
      "A group of accounts, by the addresses it lists.",
  },
  {
    of: 'type',
    label: 'ClusterUser',
    info:
      "A user of a cluster, vouched for by its front proxy; the id is the user’s name " +
      "there.",
  },
  {
    of: 'type',
    label: 'ClusterGroup',
    info:
      "A group of the cluster that a ClusterUser comes from, such as system:masters. It " +
      "is never one of ours.",
  },
  {
    of: 'type',
    label: 'Client',
    info:
      "A relying party; the id is its client_id.",
  },
  {
    of: 'type',
    label: 'Scope',
    info:
      "What may be shared with a Client; the id is the scope, and <audience>/<scope> " +
      "for one of an Audience.",
  },
  {
    of: 'type',
    label: 'Path',
    info:
      "An address that is no object: discovery, health, a page, an endpoint of the " +
      "provider.",
  },
  {
    of: 'type',
    label: 'Interaction',
    info:
      "A sign-in in progress.",
  },
  {
    of: 'type',
    label: 'Session',
    info:
      "A browser in which an account is signed in.",
  },
  {
    of: 'type',
    label: 'Passkey',
    info:
      "A passkey that a person signs in with.",
  },
  {
    of: 'type',
    label: 'Recovery',
    info:
      "Recovery of an account whose passkeys are all lost: after a wait, they are " +
      "removed. Until then, anyone who is signed in to the account can cancel it.",
  },
  {
    of: 'type',
    label: 'Grant',
    info:
      "What a person agreed to share with a Client.",
  },
  {
    of: 'type',
    label: 'PolicyDecision',
    info:
      "A decision of the policy about someone.",
  },
  {
    of: 'type',
    label: 'Policy',
    info:
      "The active policy, a superseded one, or one in trial. Anyone may read it.",
  },
  {
    of: 'type',
    label: 'ClaimsProvider',
    info:
      "A service that supplies claims by responding to claims reviews; the one named " +
      "vestibule is built in.",
  },
  {
    of: 'type',
    label: 'Audience',
    info:
      "A service that accepts access tokens of this one, with the scopes it knows.",
  },
  {
    of: 'type',
    label: 'ClaimsReview',
    info:
      "A request for the claims of a person from a claims provider.",
  },
  {
    of: 'type',
    label: 'AccessRequest',
    info:
      "A request to be a member of a Group until a time.",
  },
  {
    of: 'type',
    label: 'MockMessage',
    info:
      "A message in the mock mailbox, which exists only while email is mocked.",
  },
  {
    of: 'type',
    label: 'Invitation',
    info:
      "An invitation by mail: the person who signs in with its address joins its " +
      "groups.",
  },
  {
    of: 'type',
    label: 'Appearance',
    info:
      "The name, logo, colour and links of this deployment, in one object named " +
      "default. Anyone may read it.",
  },
  {
    of: 'type',
    label: 'Replica',
    info:
      "A running process of this service: its state, its settings, and what it counted " +
      "in the last hour. The process writes it each minute. It is gone when the process " +
      "ends, or three minutes after its last write.",
  },
  {
    of: 'action',
    label: 'get',
  },
  {
    of: 'action',
    label: 'list',
  },
  {
    of: 'action',
    label: 'watch',
  },
  {
    of: 'action',
    label: 'delete',
  },
  {
    of: 'action',
    label: 'deletecollection',
  },
  {
    of: 'action',
    label: 'create',
  },
  {
    of: 'action',
    label: 'patch',
  },
  {
    of: 'action',
    label: 'update',
  },
  {
    of: 'action',
    label: 'interactions/emailchallenge',
    info:
      "Emails a code and a link to the address.",
  },
  {
    of: 'action',
    label: 'interactions/passkeychallenge',
    info:
      "Returns WebAuthn options for the browser.",
  },
  {
    of: 'action',
    label: 'interactions/login',
    info:
      "Signs in.",
  },
  {
    of: 'action',
    label: 'interactions/account',
    info:
      "The account that just signed in, while it is being set up.",
  },
  {
    of: 'action',
    label: 'interactions/decision',
    info:
      "Returns the decision that refused the sign-up.",
  },
  {
    of: 'action',
    label: 'accounts/emailchallenge',
    info:
      "Emails a code to the new address of the account.",
  },
  {
    of: 'action',
    label: 'accounts/email',
    info:
      "Changes the address of the account to the one that received the code.",
  },
  {
    of: 'action',
    label: 'accounts/export',
    info:
      "Returns the account and every object that it owns.",
  },
  {
    of: 'action',
    label: 'accounts/apps',
    info:
      "Returns the apps that the person may sign in to.",
  },
  {
    of: 'action',
    label: 'accounts/testmail',
    info:
      "Sends a mail to the address of the account, which shows that mail works.",
  },
  {
    of: 'action',
    label: 'accounts/recovery',
    info:
      "Starts the removal of all passkeys of the account, which takes effect after a " +
      "wait.",
  },
  {
    of: 'action',
    label: 'recoveries/cancel',
    info:
      "Cancels the recovery with the token from any mail about it.",
  },
  {
    of: 'action',
    label: 'invitations/accept',
    info:
      "Makes the caller the first operator, with the token that the service printed.",
  },
  {
    of: 'action',
    label: 'accounts/disable',
    info:
      "Ends every session of the account and blocks sign-ins until it is enabled.",
  },
  {
    of: 'action',
    label: 'accounts/enable',
    info:
      "Permits sign-ins to the account again.",
  },
  {
    of: 'action',
    label: 'interactions/passkeys',
    info:
      "Adds a passkey from the response to a Register challenge.",
  },
  {
    of: 'action',
    label: 'interactions/consent',
    info:
      "Records the scopes the person agrees to.",
  },
  {
    of: 'action',
    label: 'accounts/passkeychallenge',
    info:
      "Returns WebAuthn options to register a passkey.",
  },
  {
    of: 'action',
    label: 'clients/secret',
    info:
      "Creates a new secret, which is shown once.",
  },
  {
    of: 'action',
    label: 'accessrequests/approve',
    info:
      "Approves the request: the person becomes a member of the Group until its end.",
  },
  {
    of: 'action',
    label: 'accessrequests/deny',
    info:
      "Denies the request.",
  },
  {
    of: 'action',
    label: 'discovery',
    info:
      "Reading what the API offers, its documents and its version.",
  },
  {
    of: 'action',
    label: 'health',
    info:
      "Asking whether the service lives and is ready.",
  },
  {
    of: 'action',
    label: 'page',
    info:
      "Opening one of the pages.",
  },
  {
    of: 'action',
    label: 'asset',
    info:
      "Loading what a page is made of.",
  },
  {
    of: 'action',
    label: 'provider',
    info:
      "Reaching the OpenID Connect provider.",
  },
  {
    of: 'action',
    label: 'register',
    info:
      "Using a client_id that is the URL of a metadata document; asked before the " +
      "document is fetched and at each use. The resource is the Client, and " +
      "resource.host is the host of the URL.",
  },
  {
    of: 'action',
    label: 'signUp',
    info:
      "Becoming an Account, for an address just verified that has none: the principal " +
      "is that Account, in the groups that list the address.",
  },
  {
    of: 'action',
    label: 'signIn',
    info:
      "Signing in to a Client; asked at login and whenever a live session is used.",
  },
  {
    of: 'action',
    label: 'share',
    info:
      "Sharing a scope with the Client in the context.",
  },
  {
    of: 'action',
    label: 'read',
    info:
      "get, list and watch",
  },
  {
    of: 'action',
    label: 'write',
    info:
      "create, update, patch, delete and deletecollection",
  },
  {
    of: 'action',
    label: 'change',
    info:
      "all of write, and every action on an object that may change something",
  },
  {
    of: 'action',
    label: 'interactions/*',
    info:
      "every action on interactions",
  },
  {
    of: 'action',
    label: 'accounts/*',
    info:
      "every action on accounts",
  },
  {
    of: 'action',
    label: 'recoveries/*',
    info:
      "every action on recoveries",
  },
  {
    of: 'action',
    label: 'invitations/*',
    info:
      "every action on invitations",
  },
  {
    of: 'action',
    label: 'clients/*',
    info:
      "every action on clients",
  },
  {
    of: 'action',
    label: 'accessrequests/*',
    info:
      "every action on accessrequests",
  },
  {
    of: 'attribute',
    label: 'groups',
    info:
      "Client: The Groups that it belongs to (spec.groups). Account: The names of its " +
      "Groups.",
  },
  {
    of: 'attribute',
    label: 'created',
    info:
      "Account: When it was created; for signUp, the time of the request.",
  },
  {
    of: 'attribute',
    label: 'passkeys',
    info:
      "Account: How many passkeys it has.",
  },
  {
    of: 'attribute',
    label: 'emailDomain',
    info:
      "Account: The domain of its address, in lower case; never the address.",
  },
  {
    of: 'attribute',
    label: 'owner',
  },
  {
    of: 'attribute',
    label: 'firstParty',
    info:
      "Client: Whether the operator of this service operates it.",
  },
  {
    of: 'attribute',
    label: 'type',
    info:
      "Client: Public or Confidential.",
  },
  {
    of: 'attribute',
    label: 'host',
    info:
      "Client: The host of its home page or, without one, of its first redirect URI. If " +
      "it has a metadata document: the host of the document’s URL, with the port unless " +
      "that is 443.",
  },
  {
    of: 'attribute',
    label: 'conditions',
    info:
      "Client: The types of its conditions that are true, such as Ready.",
  },
  {
    of: 'attribute',
    label: 'sensitive',
    info:
      "Scope: Whether it is shown as sensitive.",
  },
  {
    of: 'attribute',
    label: 'provider',
    info:
      "Scope: The name of the ClaimsProvider that supplies it, or an empty string for a " +
      "scope of an Audience.",
  },
  {
    of: 'attribute',
    label: 'audience',
    info:
      "Scope: The name of the Audience that it belongs to, or an empty string for a " +
      "scope of claims.",
  },
  {
    of: 'attribute',
    label: 'browser',
  },
  {
    of: 'attribute',
    label: 'group',
    info:
      "AccessRequest: The name of the Group that it asks for.",
  },
  {
    of: 'context',
    label: 'acrRequested',
    info:
      "The acr that the app requests: the weakest that satisfies acr_values and claims. " +
      "An empty string if it requests none.",
  },
  {
    of: 'context',
    label: 'assurance',
    info:
      "How strong the sign-in was: the acr that Clients receive, or an empty string. " +
      "phr means a passkey that counts in full.",
  },
  {
    of: 'context',
    label: 'client',
    info:
      "The Client that a sign-in, a scope or the object is for. Test `context has " +
      "client` first.",
  },
  {
    of: 'context',
    label: 'domain',
    info:
      "The domain of the person’s address, in lower case; never the address. An empty " +
      "string if there is none.",
  },
  {
    of: 'context',
    label: 'invited',
    info:
      "Whether a pending Invitation exists for the address of the person who signs in. " +
      "True for signUp and signIn in the sign-in that accepts it, and false from then " +
      "on.",
  },
  {
    of: 'context',
    label: 'metadataOnly',
    info:
      "Whether only metadata is requested, not whole objects.",
  },
  {
    of: 'context',
    label: 'method',
    info:
      "The sign-in method that is about to be used: EmailCode, EmailLink or Passkey. " +
      "Test `context has method` first.",
  },
  {
    of: 'context',
    label: 'methods',
    info:
      "The methods the caller signed in with: EmailCode, EmailLink, Passkey. How the " +
      "passkey was added is in assurance.",
  },
  {
    of: 'context',
    label: 'network',
    info:
      "The network that the request comes from: an IPv4 address, or the /64 of an IPv6 " +
      "address. Absent if an app sends the request, as for a refresh. Test `context has " +
      "network` first.",
  },
  {
    of: 'context',
    label: 'newBrowser',
    info:
      "Whether the person signs in from a browser that has not signed in to this " +
      "account before. False beside a sign-in.",
  },
  {
    of: 'context',
    label: 'now',
    info:
      "The time of the request.",
  },
  {
    of: 'context',
    label: 'operatorsHavePasskeys',
    info:
      "Whether any member of Group operators has a passkey. Set for requests by " +
      "operators; false for everyone else.",
  },
  {
    of: 'context',
    label: 'operatorsHaveFullPasskeys',
    info:
      "Whether one of those passkeys counts in full, so that an operator can sign in " +
      "with assurance phr.",
  },
  {
    of: 'context',
    label: 'passkeys',
    info:
      "How many passkeys the account has that makes the request, or that the sign-in or " +
      "scope concerns. Test `context has passkeys` first.",
  },
  {
    of: 'context',
    label: 'scopesRequested',
    info:
      "The scopes that the app requests in a sign-in; empty elsewhere.",
  },
  {
    of: 'context',
    label: 'signInAge',
    info:
      "Seconds since the caller last proved who they are. Test `context has signInAge` " +
      "first.",
  },
  {
    of: 'context',
    label: 'signedInRecently',
    info:
      "Whether the caller last proved who they are as recently as limits.recentSignIn " +
      "says, ten minutes unless set.",
  },
  {
    of: 'context',
    label: 'site',
    info:
      "The value of Sec-Fetch-Site: same-origin, same-site, cross-site or none; an " +
      "empty string if absent.",
  },
  {
    of: 'context',
    label: 'timeOfDay',
    info:
      "The time since midnight by the clock of the zone that policyTimeZone names.",
  },
  {
    of: 'context',
    label: 'weekday',
    info:
      "The day of the week in that zone: Monday, Tuesday and so on.",
  },
];
