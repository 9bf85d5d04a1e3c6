import type { Vocabulary } from '../model/vocabulary.js';
import { operatorRows } from './operator-rows.js';

/** Rules about one kind or about everything; omitted if the kind is not served. */
interface Section {
  readonly about?: string;
  readonly rules: string;
}

const operator = 'principal in Group::"operators" || principal in ClusterGroup::"system:masters"';

const beginning = `// The policy of this service, as it comes. Every request is put to it, and what no rule permits is refused.
//
// Operators are the members of Group "operators" and, where requests come through a cluster, its
// system:masters. resource.owner is the Account that something belongs to, resource.browser the
// browser that began a sign-in.
`;

const sections: readonly Section[] = [
  {
    rules: `
// ---- Open to anyone, signed in or not ----

@id("open")
@message("Anyone may open this.")
permit (
  principal,
  action in [Action::"discovery", Action::"health", Action::"page", Action::"asset", Action::"provider"],
  resource
);

@id("anyone-may-sign-up")
@message("Anyone may make an account.")
permit (principal, action == Action::"signUp", resource);

// To demand a passkey for a service, add a rule such as
//   @id("bank-by-passkey") @message("Sign in with a passkey.")
//   forbid (principal, action == Action::"signIn", resource == Client::"bank")
//   unless { context.assurance == "phr" };
// That is a passkey that counts in full: context.methods.contains("Passkey") is also true of one
// that was added after a sign-in by mail less than the wait of a recovery ago. To demand a passkey
// of those who have one, write context.passkeys == 0 || context.assurance == "phr".
@id("anyone-may-sign-in")
@message("Everyone with an account may sign in.")
permit (principal, action == Action::"signIn", resource);

@id("any-scope-may-be-shared")
@message("You decide what is shared with an app.")
permit (principal, action == Action::"share", resource);
`,
  },
  {
    about: 'Policy',
    rules: `
@id("anyone-reads-policies")
@message("Anyone may read the policy.")
permit (principal, action in [Action::"get", Action::"list", Action::"watch"], resource is Policy);
`,
  },
  {
    about: 'Appearance',
    rules: `
@id("anyone-reads-the-appearance")
@message("Anyone may see the name, logo and colour of this service.")
permit (principal, action in [Action::"get", Action::"list", Action::"watch"], resource is Appearance);
`,
  },
  {
    about: 'MockMessage',
    rules: `
// Exists only while mail is mocked.
@id("anyone-empties-the-mock-mailbox")
@message("Mail is kept here for tests.")
permit (
  principal,
  action in
    [Action::"get", Action::"list", Action::"watch", Action::"delete", Action::"deletecollection"],
  resource is MockMessage
);
`,
  },
  {
    about: 'Interaction',
    rules: `
// ---- A sign-in in progress belongs to the browser that began it ----

@id("own-interaction")
@message("The browser that began a sign-in may go on with it.")
permit (
  principal is Browser,
  action in [Action::"get", Action::"watch", Action::"delete", Action::"interactions/*"],
  resource is Interaction
)
when { resource.browser == principal };
`,
  },
  {
    rules: `
// ---- What people may do with what is theirs ----
`,
  },
  {
    about: 'Session',
    rules: `
@id("own-sessions")
@message("You may see and end your own sessions.")
permit (
  principal is Account,
  action in [Action::"get", Action::"list", Action::"watch", Action::"delete", Action::"deletecollection"],
  resource is Session
)
when { resource.owner == principal };
`,
  },
  {
    about: 'Account',
    rules: `
@id("own-account")
@message("You may see and change your own account.")
permit (
  principal is Account,
  action in
    [Action::"get", Action::"list", Action::"watch", Action::"patch", Action::"update", Action::"delete",
     Action::"accounts/emailchallenge", Action::"accounts/email", Action::"accounts/passkeychallenge",
     Action::"accounts/export", Action::"accounts/apps", Action::"accounts/recovery"],
  resource is Account
)
when { resource.owner == principal };

@id("operators-test-mail")
@message("Operators may send themselves a test mail.")
permit (principal in Group::"operators", action == Action::"accounts/testmail", resource is Account)
when { resource.owner == principal };
`,
  },
  {
    about: 'Passkey',
    rules: `
@id("own-passkeys")
@message("You may see and change your own passkeys.")
permit (
  principal is Account,
  action in [Action::"get", Action::"list", Action::"watch", Action::"patch", Action::"update", Action::"delete"],
  resource is Passkey
)
when { resource.owner == principal };

// What someone registers becomes theirs.
@id("new-passkeys")
@message("You may add passkeys.")
permit (principal is Account, action == Action::"create", resource is Passkey);
`,
  },
  {
    about: 'Recovery',
    rules: `
// The owner of an account may stop its recovery, and so may anyone who holds the token of one of the
// mails about it. The token is verified when the request is carried out.
@id("own-recoveries")
@message("You may see and stop a recovery of your account.")
permit (
  principal is Account,
  action in [Action::"get", Action::"list", Action::"watch", Action::"delete"],
  resource is Recovery
)
when { resource.owner == principal };

@id("recoveries-stopped-by-mail")
@message("The mail about a recovery may stop it.")
permit (principal, action == Action::"recoveries/cancel", resource is Recovery);
`,
  },
  {
    about: 'Invitation',
    rules: `
// The token is verified when the request is carried out, and only while no one operates the service.
@id("first-operator")
@message("The link on the console makes the first operator.")
permit (principal is Account, action == Action::"invitations/accept", resource is Invitation);
`,
  },
  {
    about: 'Grant',
    rules: `
@id("own-grants")
@message("You may see and take back what you agreed to.")
permit (
  principal is Account,
  action in
    [Action::"get", Action::"list", Action::"watch", Action::"patch", Action::"update", Action::"delete",
     Action::"deletecollection"],
  resource is Grant
)
when { resource.owner == principal };
`,
  },
  {
    about: 'AccessRequest',
    rules: `
@id("own-access-requests")
@message("You may see and take back your own requests.")
permit (
  principal is Account,
  action in [Action::"get", Action::"list", Action::"watch", Action::"delete"],
  resource is AccessRequest
)
when { resource.owner == principal };

// To let the members of Group "leads" decide who joins Group "staff" for a while, add a rule such as
//   permit (principal in Group::"leads", action in [Action::"read", Action::"accessrequests/*"], resource is AccessRequest)
//   when { resource.group == "staff" && (action in Action::"read" || context.signedInRecently) };
@id("new-access-requests")
@message("You may ask to join a group for a while.")
permit (principal is Account, action == Action::"create", resource is AccessRequest);

@id("someone-else-approves")
@message("Someone else must approve your request.")
forbid (principal is Account, action == Action::"accessrequests/approve", resource is AccessRequest)
when { resource.owner == principal };
`,
  },
  {
    about: 'PolicyDecision',
    rules: `
@id("decisions-about-oneself")
@message("You may read what was decided about you.")
permit (principal is Account, action in [Action::"get", Action::"list", Action::"watch"], resource is PolicyDecision)
when { resource.owner == principal };
`,
  },
  {
    about: 'ClaimsReview',
    rules: `
@id("reviews-about-oneself")
@message("You may read what was fetched about you.")
permit (principal is Account, action in [Action::"get", Action::"list", Action::"watch"], resource is ClaimsReview)
when { resource.owner == principal };
`,
  },
  {
    about: 'ClaimsProvider',
    rules: `
@id("people-see-claims-providers")
@message("People may see which services supply data.")
permit (principal is Account, action in [Action::"get", Action::"list", Action::"watch"], resource is ClaimsProvider);
`,
  },
  {
    rules: `
// ---- What operators may do ----

// Operators change anything but what is their own only soon after a sign-in, and by passkey as soon
// as one operator has one; once one of these counts in full, no lesser one will do. A token of the
// command is judged by the sign-in behind it. This is of people: callers from a cluster have no
// sign-in here. Operators who lost their passkeys get back in by a Policy in the folder of
// --manifests, at a start.
`,
  },
  ...operatorRows.map(({ kind, rule, actions }) => ({
    about: kind,
    rules: `
@id("operators-${rule}")
@message("Operators may do this.")
permit (
  principal,
  action ${actions},
  resource is ${kind}
)
when { ${operator} };
`,
  })),
];

/** The rule about every change by operators; `exceptions` are conditions. */
const signInAgain = (exceptions: readonly string[]): string => `
@id("operators-sign-in-again")
@message("Operators change this only soon after a sign-in, and by passkey once an operator has one: sign in again.")
forbid (principal in Group::"operators", action in Action::"change", resource)
unless
{
  ${exceptions.join(' ||\n  ')}
}
unless
{
  context.signedInRecently &&
  (!context.operatorsHavePasskeys || context.methods.contains("Passkey")) &&
  (!context.operatorsHaveFullPasskeys || context.assurance == "phr")
};
`;

/**
 * Returns the changes for which operators need no sign-in soon before: of what is their own, the
 * creation of what becomes their own, and what is open to anyone.
 */
function signInAgainExceptions({ types, actions }: Vocabulary): string[] {
  const changed = new Set(
    [...actions.values()]
      .filter(({ groups }) => groups.includes('change'))
      .flatMap(({ resources }) => resources),
  );
  const owned = [...changed].filter((kind) => types.get(kind)?.owner);
  const created = (actions.get('create')?.resources ?? []).filter(
    (kind) => owned.includes(kind) && types.get(kind)!.owner !== 'metadata.name',
  );
  return [
    `((${are(owned)}) && resource.owner == principal)`,
    ...(created.length > 0
      ? [`(action == Action::"create" && (${created.map(collectionOf).join(' || ')}))`]
      : []),
    ...(changed.has('MockMessage') ? ['resource is MockMessage'] : []),
    ...(actions.has('recoveries/cancel') ? ['action == Action::"recoveries/cancel"'] : []),
  ];
}

/**
 * A cluster's garbage collector looks at what may be deleted and deletes what an owner left behind;
 * half of this would make it delete too much or block.
 */
const collector = (deletable: readonly string[], owned: readonly string[]): string => `
// ---- A cluster's own callers ----

// The garbage collector of the cluster that this API is part of: metadata of all that may be
// deleted, deletion of what an owner left behind. Take it away whole or not at all.
@id("cluster-garbage-collector")
@message("The garbage collector of the cluster may clean up.")
permit (
  principal is ClusterUser,
  action in [Action::"get", Action::"list", Action::"watch", Action::"delete"],
  resource
)
when
{
  principal == ClusterUser::"system:serviceaccount:kube-system:generic-garbage-collector" ||
  principal == ClusterUser::"system:kube-controller-manager"
}
when
{
  if action == Action::"delete"
  then ${are(owned)}
  else context.metadataOnly && (${are(deletable)})
};
`;

const collectionOf = (kind: string): string => `resource == ${kind}::"*"`;

const are = (kinds: readonly string[]): string =>
  kinds.map((kind) => `resource is ${kind}`).join(' || ') || 'false';

/**
 * Returns the first policy, active until another is created (docs/design/api.md#default-policy).
 */
export function defaultPolicy(vocabulary: Vocabulary): string {
  const { types, actions, groups } = vocabulary;
  const known = (name: string): boolean => actions.has(name) || groups.has(name);
  const deletable = actions.get('delete')?.resources ?? [];
  const owned = deletable.filter((kind) => {
    const owner = types.get(kind)?.owner;
    return owner !== undefined && owner !== 'metadata.name';
  });
  const offered = (about: string): boolean =>
    types.has(about) &&
    [...actions.values()].some(
      ({ resources, groups: [group] }) => group !== undefined && resources.includes(about),
    );
  const text = [
    beginning,
    ...sections
      .filter(({ about }) => about === undefined || offered(about))
      .map(({ rules }) => rules),
    signInAgain(signInAgainExceptions(vocabulary)),
    collector(deletable, owned),
  ].join('');
  return text.replace(/,\s*Action::"([^",]+)"/g, (whole, name: string) =>
    known(name) ? whole : '',
  );
}
