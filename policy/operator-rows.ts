/** What operators may do with a kind, and whose objects they may write. */
export interface OperatorRow {
  readonly kind: string;
  /** The name of the rule after `operators-`. */
  readonly rule: string;
  readonly actions: string;
  /** `shared`: no person owns the object; `owned`: a person does. Absent if operators only read. */
  readonly writes?: 'shared' | 'owned';
}

const readsAndWrites = 'in [Action::"read", Action::"write"]';
const readsAndDeletes = 'in [Action::"get", Action::"list", Action::"watch", Action::"delete"]';

/** The kinds that operators may use by the default policy. */
export const operatorRows: readonly OperatorRow[] = [
  { kind: 'Interaction', rule: 'interactions', actions: 'in [Action::"list", Action::"watch"]' },
  {
    kind: 'Session',
    rule: 'sessions',
    actions:
      'in [Action::"get", Action::"list", Action::"watch", Action::"delete", Action::"deletecollection"]',
    writes: 'owned',
  },
  {
    kind: 'Account',
    rule: 'accounts',
    actions: `in
    [Action::"get", Action::"list", Action::"watch", Action::"create", Action::"patch", Action::"update",
     Action::"delete", Action::"accounts/disable", Action::"accounts/enable", Action::"accounts/recovery"]`,
    writes: 'owned',
  },
  { kind: 'Passkey', rule: 'passkeys', actions: readsAndDeletes, writes: 'owned' },
  { kind: 'Recovery', rule: 'recoveries', actions: readsAndDeletes, writes: 'owned' },
  { kind: 'Grant', rule: 'grants', actions: readsAndWrites, writes: 'owned' },
  {
    kind: 'AccessRequest',
    rule: 'access-requests',
    actions: `in
    [Action::"get", Action::"list", Action::"watch", Action::"delete", Action::"accessrequests/approve",
     Action::"accessrequests/deny"]`,
    writes: 'owned',
  },
  { kind: 'PolicyDecision', rule: 'decisions', actions: 'in Action::"read"' },
  { kind: 'ClaimsReview', rule: 'reviews', actions: 'in Action::"read"' },
  { kind: 'Policy', rule: 'policies', actions: '== Action::"create"', writes: 'shared' },
  {
    kind: 'Client',
    rule: 'clients',
    actions: 'in [Action::"read", Action::"write", Action::"clients/*"]',
    writes: 'shared',
  },
  { kind: 'ClaimsProvider', rule: 'claims-providers', actions: readsAndWrites, writes: 'shared' },
  { kind: 'Group', rule: 'groups', actions: readsAndWrites, writes: 'shared' },
  { kind: 'Invitation', rule: 'invitations', actions: readsAndWrites, writes: 'shared' },
  { kind: 'Appearance', rule: 'appearance', actions: readsAndWrites, writes: 'shared' },
  { kind: 'Audience', rule: 'audiences', actions: readsAndWrites, writes: 'shared' },
  { kind: 'Replica', rule: 'replicas', actions: 'in Action::"read"' },
];
