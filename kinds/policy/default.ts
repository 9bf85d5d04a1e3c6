import type { Vocabulary } from './vocabulary.js';

/** Rules about one kind, or about everything; left out where that kind is not there. */
interface Section { readonly about?: string; readonly rules: string }

const operator = 'principal in Group::"operators" || principal in ClusterGroup::"system:masters"';

const beginning = `// The policy of this service, as it comes. Every request is put to it, and what no rule permits is refused.
//
// Operators are the members of Group "operators" and, where requests come through a cluster, its system:masters.
// resource.owner is the Account that something belongs to, resource.browser the browser that began a sign-in.
`;

const sections: readonly Section[] = [
  { rules: `
// ---- Open to anyone, signed in or not ----

@id("open")
permit (
  principal,
  action in [Action::"discovery", Action::"health", Action::"page", Action::"asset", Action::"provider"],
  resource
);

@id("anyone-may-sign-up")
permit (principal, action == Action::"signUp", resource);

// To demand a passkey for a service, add a rule such as
//   @id("bank-by-passkey") @message("Sign in with a passkey.")
//   forbid (principal, action == Action::"signIn", resource == Client::"bank")
//   unless { context.methods.contains("Passkey") };
@id("anyone-may-sign-in")
permit (principal, action == Action::"signIn", resource);

@id("any-scope-may-be-shared")
permit (principal, action == Action::"share", resource);
` },
  { about: 'Policy', rules: `
@id("anyone-reads-policies")
permit (principal, action in [Action::"get", Action::"list", Action::"watch"], resource is Policy);
` },
  { about: 'MockMessage', rules: `
// Exists only while mail is mocked.
@id("anyone-empties-the-mock-mailbox")
permit (
  principal,
  action in [Action::"get", Action::"list", Action::"watch", Action::"deletecollection"],
  resource is MockMessage
);
` },
  { about: 'Interaction', rules: `
// ---- A sign-in in progress belongs to the browser that began it ----

@id("own-interaction")
permit (
  principal is Browser,
  action in [Action::"get", Action::"watch", Action::"delete", Action::"interactions/*"],
  resource is Interaction
)
when { resource.browser == principal };
` },
  { rules: `
// ---- What people may do with what is theirs ----
` },
  { about: 'Session', rules: `
@id("own-sessions")
permit (
  principal is Account,
  action in [Action::"get", Action::"list", Action::"watch", Action::"delete", Action::"deletecollection"],
  resource is Session
)
when { resource.owner == principal };
` },
  { about: 'Account', rules: `
@id("own-account")
permit (
  principal is Account,
  action in
    [Action::"get", Action::"list", Action::"watch", Action::"patch", Action::"update", Action::"delete",
     Action::"accounts/emailchallenge", Action::"accounts/email", Action::"accounts/passkeychallenge"],
  resource is Account
)
when { resource.owner == principal };
` },
  { about: 'Passkey', rules: `
@id("own-passkeys")
permit (
  principal is Account,
  action in [Action::"get", Action::"list", Action::"watch", Action::"patch", Action::"update", Action::"delete"],
  resource is Passkey
)
when { resource.owner == principal };

// What somebody registers becomes theirs.
@id("new-passkeys")
permit (principal is Account, action == Action::"create", resource is Passkey);
` },
  { about: 'Grant', rules: `
@id("own-grants")
permit (
  principal is Account,
  action in
    [Action::"get", Action::"list", Action::"watch", Action::"patch", Action::"update", Action::"delete",
     Action::"deletecollection"],
  resource is Grant
)
when { resource.owner == principal };
` },
  { about: 'PolicyDecision', rules: `
@id("decisions-about-oneself")
permit (principal is Account, action in [Action::"get", Action::"list", Action::"watch"], resource is PolicyDecision)
when { resource.owner == principal };
` },
  { about: 'ClaimsReview', rules: `
@id("reviews-about-oneself")
permit (principal is Account, action in [Action::"get", Action::"list", Action::"watch"], resource is ClaimsReview)
when { resource.owner == principal };
` },
  { about: 'ClaimsProvider', rules: `
@id("people-see-claims-providers")
permit (principal is Account, action in [Action::"get", Action::"list", Action::"watch"], resource is ClaimsProvider);
` },
  { rules: `
// ---- What operators may do ----
` },
  ...[
    ['Interaction', 'interactions', '== Action::"list"'],
    ['Session', 'sessions', 'in [Action::"get", Action::"list", Action::"watch", Action::"delete", Action::"deletecollection"]'],
    ['Account', 'accounts', `in
    [Action::"get", Action::"list", Action::"watch", Action::"patch", Action::"update", Action::"delete",
     Action::"accounts/disable", Action::"accounts/enable"]`],
    ['Passkey', 'passkeys', 'in [Action::"get", Action::"list", Action::"delete"]'],
    ['Grant', 'grants', 'in [Action::"read", Action::"write"]'],
    ['PolicyDecision', 'decisions', 'in Action::"read"'],
    ['ClaimsReview', 'reviews', 'in Action::"read"'],
    ['Policy', 'policies', '== Action::"create"'],
    ['Client', 'clients', 'in [Action::"read", Action::"write", Action::"clients/*"]'],
    ['ClaimsProvider', 'claims-providers', 'in [Action::"read", Action::"write"]'],
    ['Group', 'groups', 'in [Action::"read", Action::"write"]'],
  ].map(([kind, name, actions]) => ({ about: kind!, rules: `
@id("operators-${name}")
permit (
  principal,
  action ${actions},
  resource is ${kind}
)
when { ${operator} };
` })),
];

/** A cluster's garbage collector looks at what may be deleted and deletes what an owner left behind; half of this would make it delete too much or block. */
const collector = (deletable: readonly string[], owned: readonly string[]): string => `
// ---- A cluster's own callers ----

// The garbage collector of the cluster that this API is part of: metadata of all that may be deleted, deletion of
// what an owner left behind. Take it away whole or not at all.
@id("cluster-garbage-collector")
permit (
  principal is Machine,
  action in [Action::"get", Action::"list", Action::"watch", Action::"delete"],
  resource
)
when
{
  principal == Machine::"system:serviceaccount:kube-system:generic-garbage-collector" ||
  principal == Machine::"system:kube-controller-manager"
}
when
{
  if action == Action::"delete"
  then ${are(owned)}
  else context.metadataOnly && (${are(deletable)})
};
`;

const are = (kinds: readonly string[]): string => kinds.map((kind) => `resource is ${kind}`).join(' || ') || 'false';

/** The policy in force until another is created: the table of `api.md` 4 and, for callers from a cluster, `operations.md` 8. */
export function defaultPolicy({ types, actions, groups }: Vocabulary): string {
  const known = (name: string): boolean => actions.has(name) || groups.has(name);
  const deletable = actions.get('delete')?.resources ?? [];
  const owned = deletable.filter((kind) => { const owner = types.get(kind)?.owner; return owner !== undefined && owner !== 'metadata.name' });
  const offered = (about: string): boolean => types.has(about) && [...actions.values()].some(({ resources, groups: [group] }) => group !== undefined && resources.includes(about));
  const text = [beginning, ...sections.filter(({ about }) => about === undefined || offered(about)).map(({ rules }) => rules), collector(deletable, owned)].join('');
  return text.replace(/,\s*Action::"([^"]+)"/g, (whole, name: string) => (known(name) ? whole : ''));
}
