/**
 * A promise about a policy: of the requests that `requests` describes, the policy permits none
 * (`never`) or all (`always`).
 */
export interface PolicyPromise {
  readonly id: string;
  /** A sentence for people. */
  readonly statement: string;
  readonly kind: 'never' | 'always';
  /** The requests, as rules in Cedar that permit them. */
  readonly requests: string;
  /** Rules that are added to the policy before; for promises about a recipe. */
  readonly withRules?: string;
}

const operator = 'principal in Group::"operators"';
const master = 'principal in ClusterGroup::"system:masters"';
const collectors =
  '(principal == ClusterUser::"system:serviceaccount:kube-system:generic-garbage-collector" || ' +
  'principal == ClusterUser::"system:kube-controller-manager")';
const recentSignIn =
  'context.signedInRecently && ' +
  '(!context.operatorsHavePasskeys || context.methods.contains("Passkey")) && ' +
  '(!context.operatorsHaveFullPasskeys || context.assurance == "phr")';

/** What anyone may change: the mock mailbox, and a recovery by the token of its mail. */
const openChanges = 'resource is MockMessage || action == Action::"recoveries/cancel"';

/** Rules for callers who have no account: an action on a kind, by none of them. */
const withoutAccount = (scope: string): string =>
  ['Anonymous', 'Browser', 'Client']
    .map((type) => `permit (principal is ${type}, ${scope});`)
    .join('\n');

/** An action on objects that people own, by someone who is neither the owner nor an operator. */
const byStrangers = (action: string, kind: string): string => `
permit (principal is Account, action in ${action}, resource is ${kind})
when { resource.owner != principal }
unless { ${operator} };
permit (principal is ClusterUser, action in ${action}, resource is ${kind})
unless { ${master} || ${collectors} };
${withoutAccount(`action in ${action}, resource is ${kind}`)}`;

/** An action on objects that no person owns, by anyone who is no operator. */
const byOthers = (action: string, kind: string): string => `
permit (principal is Account, action in ${action}, resource is ${kind}) unless { ${operator} };
permit (principal is ClusterUser, action in ${action}, resource is ${kind}) unless { ${master} };
${withoutAccount(`action in ${action}, resource is ${kind}`)}`;

const never = (id: string, statement: string, requests: string): PolicyPromise => ({
  id,
  statement,
  kind: 'never',
  requests,
});
const always = (id: string, statement: string, requests: string): PolicyPromise => ({
  id,
  statement,
  kind: 'always',
  requests,
});

/** What the default policy promises (docs/design/policy.md#proof). */
export const promises: readonly PolicyPromise[] = [
  never(
    'sessions-are-private',
    'Only its owner and operators read or end a Session, and a garbage collector cleans up.',
    byStrangers('[Action::"read", Action::"change"]', 'Session'),
  ),
  never(
    'grants-are-private',
    'Only its owner and operators read or change a Grant, and a garbage collector cleans up.',
    byStrangers('[Action::"read", Action::"change"]', 'Grant'),
  ),
  never(
    'decisions-are-private',
    'Only the person whom it is about and operators read a PolicyDecision.',
    byStrangers('Action::"read"', 'PolicyDecision'),
  ),
  never(
    'passkeys-are-private',
    'Only its owner changes a Passkey; operators read and delete.',
    `permit (principal is Account, action in [Action::"update", Action::"patch"], resource is Passkey)
when { resource.owner != principal };
permit (principal is ClusterUser, action in [Action::"update", Action::"patch"], resource is Passkey);
${withoutAccount('action in Action::"change", resource is Passkey')}`,
  ),
  never(
    'accounts-are-private',
    'No one but its owner changes the address of an Account, adds a passkey to it or exports it.',
    ['email', 'emailchallenge', 'passkeychallenge', 'export', 'apps']
      .flatMap((name) => [
        `permit (principal is Account, action == Action::"accounts/${name}", resource is Account)
when { resource.owner != principal };`,
        `permit (principal is ClusterUser, action == Action::"accounts/${name}", resource is Account);`,
        withoutAccount(`action == Action::"accounts/${name}", resource is Account`),
      ])
      .join('\n'),
  ),
  never(
    'accounts-are-managed-by-operators',
    'No one but operators creates, disables or enables an Account.',
    byOthers(
      '[Action::"create", Action::"accounts/disable", Action::"accounts/enable"]',
      'Account',
    ),
  ),
  never(
    'no-own-approval',
    'No one approves their own AccessRequest, an operator neither.',
    `permit (principal is Account, action == Action::"accessrequests/approve", resource is AccessRequest)
when { resource.owner == principal };`,
  ),
  never(
    'requests-are-decided-by-operators',
    'No one but operators decides an AccessRequest.',
    byOthers('Action::"accessrequests/*"', 'AccessRequest'),
  ),
  never(
    'operators-sign-in-again',
    'No operator changes anything but what is their own without a recent sign-in, by passkey where one has one.',
    `permit (principal in Group::"operators", action in Action::"change", resource)
when
{
  !((resource is Session || resource is Account || resource is Passkey || resource is Recovery ||
     resource is Grant || resource is AccessRequest) && resource.owner == principal)
}
unless { action == Action::"create" && (resource == Passkey::"*" || resource == AccessRequest::"*") }
unless { ${openChanges} }
unless { ${recentSignIn} };`,
  ),
  never(
    'full-passkeys-only',
    'Once a passkey of an operator counts in full, no lesser sign-in writes a Policy.',
    `permit (principal in Group::"operators", action == Action::"create", resource is Policy)
when { context.operatorsHaveFullPasskeys && context.assurance != "phr" };`,
  ),
  never(
    'anonymous-changes-nothing',
    'Anonymous changes nothing but the mock mailbox, and stops a recovery by its mail.',
    `permit (principal is Anonymous, action in Action::"change", resource) unless { ${openChanges} };`,
  ),
  never(
    'browsers-keep-to-their-sign-in',
    'A Browser acts on its own Interaction only.',
    `permit (principal is Browser, action in [Action::"read", Action::"change"], resource is Interaction)
when { resource.browser != principal };
permit (principal is Browser, action in Action::"interactions/*", resource is Interaction)
when { resource.browser != principal };
permit (principal is Browser, action in Action::"change", resource)
unless { resource is Interaction || ${openChanges} };`,
  ),
  never(
    'clients-change-nothing',
    'A Client changes nothing but the mock mailbox, and reads what anyone reads.',
    `permit (principal is Client, action in Action::"change", resource) unless { ${openChanges} };
permit (principal is Client, action in Action::"read", resource)
unless { resource is Policy || resource is Appearance || resource is MockMessage };`,
  ),
  never(
    'cluster-users-change-nothing',
    'A user of a cluster who is neither a master nor a garbage collector changes nothing.',
    `permit (principal is ClusterUser, action in Action::"change", resource)
unless { ${master} || ${collectors} || ${openChanges} };`,
  ),
  never(
    'collectors-see-metadata',
    'A garbage collector reads metadata alone, and deletes only what a person owned.',
    `permit (principal is ClusterUser, action in Action::"read", resource)
when { ${collectors} && !context.metadataOnly }
unless { ${master} || resource is Policy || resource is Appearance || resource is MockMessage };
permit (principal is ClusterUser, action in Action::"change", resource)
when { ${collectors} }
unless { ${master} || ${openChanges} }
unless
{
  action == Action::"delete" &&
  (resource is Session || resource is Passkey || resource is Recovery || resource is Grant || resource is AccessRequest)
};`,
  ),
  ...(
    ['Policy', 'Group', 'Client', 'ClaimsProvider', 'Audience', 'Appearance', 'Settings'] as const
  ).map((kind) =>
    never(
      `only-operators-change-${kind.toLowerCase()}`,
      `No one but operators changes a ${kind}.`,
      byOthers('Action::"change"', kind),
    ),
  ),
  never(
    'only-operators-invite',
    'No one but operators makes or withdraws an Invitation.',
    byOthers('Action::"write"', 'Invitation'),
  ),
  never(
    'groups-are-read-by-operators',
    'No one but operators reads Groups, Clients, Audiences and Invitations.',
    ['Group', 'Client', 'Audience', 'Invitation']
      .map((kind) =>
        byOthers('Action::"read"', kind).replace(
          `unless { ${master} }`,
          `unless { ${master} || ${collectors} }`,
        ),
      )
      .join('\n'),
  ),
  {
    id: 'managers-keep-to-their-clients',
    statement:
      'With the recipe for it, who manages the Clients of a Group reads and changes no other.',
    kind: 'never',
    withRules: `permit (principal is Account, action in [Action::"read", Action::"write"], resource is Client)
when { resource == Client::"*" || resource.groups.containsAny(principal.groups) }
when { action in Action::"read" || context.signedInRecently };`,
    requests: `permit (principal is Account, action in [Action::"read", Action::"change"], resource is Client)
unless { ${operator} || resource == Client::"*" || resource.groups.containsAny(principal.groups) };`,
  },
  always(
    'policies-are-public',
    'Anyone may read the policy.',
    'permit (principal, action in Action::"read", resource is Policy);',
  ),
  always(
    'discovery-is-public',
    'Anyone may read what the API offers, and whether the service is healthy.',
    'permit (principal, action in [Action::"discovery", Action::"health"], resource);',
  ),
  always(
    'own-account',
    'A person may read and delete their account.',
    `permit (principal is Account, action in [Action::"get", Action::"delete"], resource is Account)
when { resource.owner == principal };`,
  ),
  always(
    'own-sessions',
    'A person may see and end their sessions.',
    `permit (principal is Account, action in [Action::"read", Action::"delete"], resource is Session)
when { resource.owner == principal };`,
  ),
  always(
    'own-sign-in',
    'The browser that began a sign-in may go on with it.',
    `permit (principal is Browser, action in Action::"interactions/*", resource is Interaction)
when { resource.browser == principal };`,
  ),
];
