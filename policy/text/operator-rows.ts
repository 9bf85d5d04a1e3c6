/** What operators may do with a kind. */
export interface OperatorRow {
  readonly kind: string;
  /** The name of the rule after `operators-`. */
  readonly rule: string;
  readonly actions: string;
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
  },
  {
    kind: 'Account',
    rule: 'accounts',
    actions: `in
    [Action::"get", Action::"list", Action::"watch", Action::"create", Action::"patch", Action::"update",
     Action::"delete", Action::"accounts/disable", Action::"accounts/enable", Action::"accounts/recovery"]`,
  },
  { kind: 'Passkey', rule: 'passkeys', actions: readsAndDeletes },
  { kind: 'Recovery', rule: 'recoveries', actions: readsAndDeletes },
  { kind: 'Grant', rule: 'grants', actions: readsAndWrites },
  {
    kind: 'AccessRequest',
    rule: 'access-requests',
    actions: `in
    [Action::"get", Action::"list", Action::"watch", Action::"delete", Action::"accessrequests/approve",
     Action::"accessrequests/deny"]`,
  },
  { kind: 'PolicyDecision', rule: 'decisions', actions: 'in Action::"read"' },
  { kind: 'ClaimsReview', rule: 'reviews', actions: 'in Action::"read"' },
  { kind: 'Policy', rule: 'policies', actions: '== Action::"create"' },
  {
    kind: 'Client',
    rule: 'clients',
    actions: 'in [Action::"read", Action::"write", Action::"clients/*"]',
  },
  { kind: 'ClaimsProvider', rule: 'claims-providers', actions: readsAndWrites },
  { kind: 'Group', rule: 'groups', actions: readsAndWrites },
  {
    kind: 'Invitation',
    rule: 'invitations',
    actions: 'in [Action::"read", Action::"write", Action::"invitations/mail"]',
  },
  {
    kind: 'Appearance',
    rule: 'appearance',
    actions: 'in [Action::"read", Action::"write", Action::"appearances/mails"]',
  },
  { kind: 'Settings', rule: 'settings', actions: readsAndWrites },
  { kind: 'Audience', rule: 'audiences', actions: readsAndWrites },
  { kind: 'Replica', rule: 'replicas', actions: 'in Action::"read"' },
  { kind: 'HourlyCount', rule: 'hourly-counts', actions: 'in Action::"read"' },
];
