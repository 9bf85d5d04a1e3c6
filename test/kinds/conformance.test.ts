import { afterAll } from '@jest/globals';
import { AccessRequest } from '../../kinds/access/accessrequest/access-request.js';
import { Invitation } from '../../kinds/access/invitation/invitation.js';
import { Appearance } from '../../kinds/appearance/appearance.js';
import { Audience } from '../../kinds/apps/audience/audience.js';
import { ClaimsProvider } from '../../kinds/apps/claims/claims-provider.js';
import { ClaimsReview } from '../../kinds/apps/claims/claims-review.js';
import { Client } from '../../kinds/apps/client/client.js';
import { Grant } from '../../kinds/apps/grant.js';
import { HourlyCount } from '../../kinds/hourly-count.js';
import { MockMessage } from '../../kinds/mail/mock-message.js';
import { Account } from '../../kinds/people/account/account.js';
import { Group } from '../../kinds/people/group/group.js';
import { Passkey } from '../../kinds/people/passkey/passkey.js';
import { Session } from '../../kinds/people/session/session.js';
import { Policy } from '../../kinds/policy/policy.js';
import { PolicyDecision } from '../../kinds/policy/policy-decision.js';
import { Replica } from '../../kinds/replica.js';
import { Settings } from '../../kinds/settings/settings.js';
import { toTimestamp } from '../../registry/schema/timestamp.js';
import { stopAll } from '../support/service.js';
import { conforms } from './conformance.js';

afterAll(stopAll);

const now = toTimestamp(Date.now());

conforms(Account, {
  valid: () => ({
    name: 'bcdfghjklmnpqrstvwxz',
    spec: { displayName: 'Ada', locale: 'en-GB' },
    status: {
      email: { address: 'ada@example.test', verifiedTimestamp: now },
      setup: { complete: true, missing: [] },
      passkeys: 0,
    },
    internal: { userHandle: 'x' },
  }),
  invalid: [
    { spec: { displayName: '' }, field: 'spec.displayName' },
    { spec: { displayName: 'a\u0007b' }, field: 'spec.displayName' },
    { spec: { displayName: 'a\u202eb' }, field: 'spec.displayName' },
    { spec: { displayName: 'x'.repeat(65) }, field: 'spec.displayName' },
    { spec: { pictureURI: 'http://pictures.example.test/' }, field: 'spec.pictureURI' },
    { spec: { locale: 'not a tag' }, field: 'spec.locale' },
    { spec: { displayName: 7 }, field: 'spec.displayName' },
  ],
  patch: { displayName: 'Ada Lovelace', locale: null },
});
/** Names in `count` languages. */
const languages = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`de-x-${i + 10}`, 'Muster']));

conforms(Client, {
  valid: () => ({
    name: 'sample',
    spec: {
      displayName: 'Sample',
      redirectURIs: ['https://app.example.test/callback'],
      homepageURI: 'https://app.example.test/',
      displayNames: languages(32),
    },
    status: { secrets: [] },
    internal: { secrets: [] },
  }),
  invalid: [
    {
      spec: { redirectURIs: ['https://app.example.test/#fragment'] },
      field: 'spec.redirectURIs[0]',
    },
    { spec: { redirectURIs: ['http://app.example.test/'] }, field: 'spec.redirectURIs[0]' },
    { spec: { redirectURIs: ['https://*.example.test/'] }, field: 'spec.redirectURIs[0]' },
    { spec: { redirectURIs: ['https://u:p@app.example.test/'] }, field: 'spec.redirectURIs[0]' },
    { spec: { logoURI: 'javascript:alert(1)' }, field: 'spec.logoURI' },
    { spec: { logoURI: 'data:image/png;base64,AA' }, field: 'spec.logoURI' },
    {
      spec: { type: 'Public', tokenEndpointAuthMethod: 'client_secret_basic' },
      field: 'spec.tokenEndpointAuthMethod',
    },
    { spec: { secretHashes: ['sha256:x'] }, field: 'spec.secretHashes[0]' },
    {
      spec: {
        subjectType: 'pairwise',
        redirectURIs: ['https://a.example.test/', 'https://b.example.test/'],
      },
      field: 'spec.subjectType',
    },
    { spec: { displayNames: languages(33) }, field: 'spec.displayNames' },
    { spec: { displayNames: { 'de-ch': 'Muster' } }, field: 'spec.displayNames.de-ch' },
    { spec: { displayNames: { 'x y': 'Muster' } }, field: 'spec.displayNames.x y' },
    { spec: { displayNames: { de: '' } }, field: 'spec.displayNames.de' },
    { spec: { displayNames: { de: 'x'.repeat(65) } }, field: 'spec.displayNames.de' },
    { spec: { displayNames: { de: 'a\u202eb' } }, field: 'spec.displayNames.de' },
  ],
  patch: { displayName: 'Another', homepageURI: null, displayNames: { 'de-x-10': null } },
});
const supplied = {
  name: 'card',
  title: 'Card',
  description: 'Your card.',
  claims: [{ name: 'card_number', title: 'Number', type: 'string' }],
};
conforms(ClaimsProvider, {
  valid: () => ({
    name: 'sample',
    spec: {
      displayName: 'Sample',
      reviewURI: 'https://supplier.example.test/claims',
      scopes: [supplied],
    },
  }),
  invalid: [
    { spec: { reviewURI: 'ftp://supplier.example.test/' }, field: 'spec.reviewURI' },
    { spec: { reviewURI: 'https://10.0.0.1/' }, field: 'spec.reviewURI' },
    { spec: { reviewURI: 'http://supplier.example.test/' }, field: 'spec.reviewURI' },
    { spec: { reviewURI: 'https://a:b@supplier.example.test/' }, field: 'spec.reviewURI' },
    { spec: { reviewURI: null }, field: 'spec.reviewURI' },
    { spec: { timeoutMilliseconds: 2501 }, field: 'spec.timeoutMilliseconds' },
    { spec: { failurePolicy: 'Maybe' }, field: 'spec.failurePolicy' },
    { spec: { displayNames: { EN: 'Sample' } }, field: 'spec.displayNames.EN' },
    {
      spec: { scopes: [{ ...supplied, titles: { de_CH: 'Karte' } }] },
      field: 'spec.scopes[0].titles.de_CH',
    },
    {
      spec: { scopes: [{ ...supplied, descriptions: { de: 'x'.repeat(501) } }] },
      field: 'spec.scopes[0].descriptions.de',
    },
    {
      spec: {
        scopes: [{ ...supplied, claims: [{ ...supplied.claims[0], titles: languages(33) }] }],
      },
      field: 'spec.scopes[0].claims[0].titles',
    },
    {
      spec: { scopes: [{ ...supplied, name: 'billing/read' }] },
      field: 'spec.scopes[0].name',
    },
    { spec: { caBundle: 'junk' }, field: 'spec.caBundle' },
    { spec: { scopes: [supplied, supplied] }, field: 'spec.scopes[1]' },
    {
      spec: {
        scopes: [
          { ...supplied, claims: [{ name: 'email_verified', title: 'x', type: 'boolean' }] },
        ],
      },
      field: 'spec.scopes[0].claims[0].name',
    },
    {
      spec: {
        scopes: [{ ...supplied, claims: [{ name: '__proto__', title: 'x', type: 'string' }] }],
      },
      field: 'spec.scopes[0].claims[0].name',
    },
    {
      spec: { scopes: [{ ...supplied, claims: [{ name: 'x', title: 'x', type: 'object' }] }] },
      field: 'spec.scopes[0].claims[0].type',
    },
  ],
  patch: { displayName: 'Another', caBundle: null },
});
const scopeOfAudience = { name: 'read', title: 'Read', description: 'Read invoices.' };
conforms(Audience, {
  valid: ({ name }) => ({
    name: 'sample',
    spec: {
      identifier: `https://${name}.example.test/invoices`,
      displayName: 'Billing',
      displayNames: { de: 'Rechnungen' },
      operatedBy: 'The accountants',
      homepageURI: 'https://billing.example.test/',
      scopes: [scopeOfAudience],
      introspectors: [],
    },
  }),
  invalid: [
    { spec: { identifier: 'https://other.example.test/' }, field: 'spec.identifier' },
    { spec: { homepageURI: 'http://billing.example.test/' }, field: 'spec.homepageURI' },
    { spec: { scopes: [] }, field: 'spec.scopes' },
    { spec: { scopes: [scopeOfAudience, scopeOfAudience] }, field: 'spec.scopes[1]' },
    { spec: { scopes: [{ ...scopeOfAudience, name: 'openid' }] }, field: 'spec.scopes[0].name' },
    { spec: { scopes: [{ ...scopeOfAudience, name: 'a b' }] }, field: 'spec.scopes[0].name' },
    {
      spec: { scopes: [{ ...scopeOfAudience, titles: { de_CH: 'Lesen' } }] },
      field: 'spec.scopes[0].titles.de_CH',
    },
    { spec: { accessTokenLifetime: '25h' }, field: 'spec.accessTokenLifetime' },
    {
      spec: { accessTokenLifetime: '2h', accessTokenFormat: 'JWT' },
      field: 'spec.accessTokenLifetime',
    },
    { spec: { tokenSigningAlg: 'HS256' }, field: 'spec.tokenSigningAlg' },
    { spec: { introspectors: ['billing', 'billing'] }, field: 'spec.introspectors[1]' },
  ],
  patch: { displayName: 'Invoices', operatedBy: null, accessTokenLifetime: '10m' },
});
conforms(ClaimsReview, {
  valid: ({ name }) => ({
    name: `${name}-sample`,
    spec: {
      account: name,
      client: 'sample',
      provider: 'sample',
      scopes: ['card'],
      purpose: 'Preview',
    },
    status: { outcome: 'Answered', claims: ['tier'], durationMilliseconds: 12, timestamp: now },
  }),
});
conforms(Grant, {
  valid: ({ name }) => ({
    name: `${name}-sample`,
    spec: { scopes: ['openid', 'email', 'profile'] },
    status: {
      account: name,
      client: { name: 'sample', displayName: 'Sample' },
      grantedTimestamp: now,
      disclosures: [],
    },
    internal: { decision: 1, rejected: [], clientUID: '', decided: Date.now() },
  }),
  patch: { scopes: ['openid', 'email'] },
  invalid: [
    { spec: { scopes: ['openid', 'groups'] }, field: 'spec.scopes[1]' },
    { spec: { scopes: ['openid', 'openid'] }, field: 'spec.scopes[1]' },
    { spec: { scopes: [] }, field: 'spec.scopes' },
  ],
});
conforms(Group, {
  valid: () => ({
    name: 'sample',
    spec: { displayName: 'Sample', members: ['ada@example.test', 'Grace@Example.test'] },
  }),
  invalid: [
    { spec: { displayName: '' }, field: 'spec.displayName' },
    { spec: { members: ['absent'] }, field: 'spec.members[0]' },
    {
      spec: { members: ['a@example.test', `${'x'.repeat(60)}.${'y'.repeat(60)}@example.test`] },
      field: 'spec.members[1]',
    },
    {
      spec: { members: Array.from({ length: 1001 }, (_, i) => `p${i}@example.test`) },
      field: 'spec.members',
    },
  ],
  patch: { members: ['ada@example.test'] },
});
conforms(Passkey, {
  valid: ({ name }) => ({
    name: `${name}-sample`,
    spec: { displayName: 'Laptop' },
    internal: { credentialID: 'AAAAAAAAAAAAAAAAAAAAAA', publicKey: 'oA', counter: 0 },
    status: {
      account: name,
      deviceType: 'multiDevice',
      backedUp: true,
      transports: ['internal', 'hybrid'],
      authenticator: { aaguid: 'bada5566-a7aa-401f-bd96-45619a55120d', name: '1Password' },
      lastUsedTimestamp: null,
      fullStrengthTimestamp: now,
    },
  }),
  invalid: [
    { spec: { displayName: '' }, field: 'spec.displayName' },
    { spec: { displayName: null }, field: 'spec.displayName' },
    { spec: { displayName: 'x'.repeat(65) }, field: 'spec.displayName' },
    { spec: { displayName: 'a\u202eb' }, field: 'spec.displayName' },
  ],
  patch: { displayName: 'Telephone' },
});
conforms(PolicyDecision, {
  valid: ({ name }) => ({
    name: `${name}-sample`,
    internal: { client: 'notes' },
    status: {
      allowed: false,
      reasons: [{ rule: 'default', message: 'No rule permits it.' }],
      count: 1,
      firstTimestamp: now,
      lastTimestamp: now,
    },
    spec: {
      account: name,
      principal: `Account::"${name}"`,
      action: 'create',
      resource: { kind: 'Policy' },
      policy: 'p-1',
      input: {
        caller: { type: 'Account', name },
        facts: { domain: 'example.test', site: 'same-origin' },
      },
    },
  }),
});
conforms(Policy, {
  valid: () => ({
    name: 'p-1000',
    spec: { cedar: 'permit (principal, action, resource);' },
    status: {
      inForce: false,
      inForceSince: now,
      supersededTimestamp: now,
      author: 'vestibule',
      hash: 'x',
      rules: [{ id: 'rule1', effect: 'permit' }],
    },
  }),
});
conforms(Session, {
  valid: ({ name }) => ({
    name: `${name}-sample`,
    spec: {},
    internal: {
      recordKey: 'oidc/Session/x',
      uidDigest: 'x',
      loginSeconds: 1,
      epoch: 0,
      expires: Date.now() + 60_000,
    },
    status: {
      account: name,
      current: false,
      authenticationTimestamp: now,
      methods: ['EmailCode'],
      assurance: 'x',
      client: { browser: 'Firefox', os: 'Linux', device: 'Desktop' },
      lastUsedTimestamp: now,
      expirationTimestamp: now,
      clients: [],
    },
  }),
});
conforms(MockMessage, {
  valid: () => ({
    name: 'sample',
    spec: {},
    status: {
      to: 'a@example.test',
      from: 'b@example.test',
      subject: 's',
      text: 't',
      html: 'h',
      sentTimestamp: now,
    },
  }),
});
const tomorrow = toTimestamp(Date.now() + 86_400_000);
conforms(AccessRequest, {
  valid: ({ name }) => ({
    name: `${name}-sample`,
    spec: { group: 'staff', reason: 'Covers for Bob.', until: tomorrow },
    status: { account: name, phase: 'Pending' },
  }),
  invalid: [
    { spec: { group: 'No Group' }, field: 'spec.group' },
    { spec: { reason: '' }, field: 'spec.reason' },
    { spec: { reason: 'x'.repeat(201) }, field: 'spec.reason' },
    { spec: { until: 'soon' }, field: 'spec.until' },
    { spec: { until: '2001-01-01T00:00:00Z' }, field: 'spec.until' },
    { spec: { until: toTimestamp(Date.now() + 367 * 86_400_000) }, field: 'spec.until' },
  ],
});
conforms(Invitation, {
  valid: () => ({ name: 'sample', spec: { email: 'guest@example.test', groups: [] } }),
  invalid: [
    { spec: { email: 'guest' }, field: 'spec.email' },
    { spec: { groups: [] }, field: 'spec.email' },
  ],
});
conforms(Appearance, {
  valid: () => ({ name: 'default', spec: { displayName: 'Sample', accentColor: '#0c6b62' } }),
  invalid: [
    { spec: { displayName: '' }, field: 'spec.displayName' },
    { spec: { accentColor: 'red' }, field: 'spec.accentColor' },
    { spec: { accentColor: '#ffd400' }, field: 'spec.accentColor' },
    { spec: { supportURI: 'http://help.example.test/' }, field: 'spec.supportURI' },
    { spec: { privacyPolicyURI: 'javascript:alert(1)' }, field: 'spec.privacyPolicyURI' },
    { spec: { termsOfServiceURI: 'https://u:p@example.test/' }, field: 'spec.termsOfServiceURI' },
    { spec: { logo: '/assets/logo-of-another.png' }, field: 'spec.logo' },
  ],
  patch: { displayName: 'Another', accentColor: null },
});
conforms(Settings, {
  valid: () => ({
    name: 'default',
    spec: { limits: { recoveryWait: '24h', mailsPerNetwork: 60 } },
  }),
  invalid: [
    { spec: { limits: { recoveryWait: '1m' } }, field: 'spec.limits.recoveryWait' },
    { spec: { limits: { mailsPerNetwork: '60' } }, field: 'spec.limits.mailsPerNetwork' },
    { spec: { limits: { mailsPerNetwork: 0 } }, field: 'spec.limits.mailsPerNetwork' },
    {
      spec: { limits: { emailResendWait: '10m', emailCodeLifetime: '5m' } },
      field: 'spec.limits.emailResendWait',
    },
    {
      spec: { limits: { signInIdle: null, interactionLifetime: '9m' } },
      field: 'spec.limits.interactionLifetime',
    },
    { spec: { emailFrom: 'sender' }, field: 'spec.emailFrom' },
    { spec: { nameFallback: 'Nickname' }, field: 'spec.nameFallback' },
    { spec: { policyTimeZone: '+01:00' }, field: 'spec.policyTimeZone' },
  ],
  patch: { limits: { recoveryWait: '36h', mailsPerNetwork: null } },
  decorated: 'effective',
});
conforms(Replica, {
  valid: () => ({
    name: 'sample',
    spec: {},
    status: {
      release: '0.1.0',
      startTimestamp: now,
      renewTimestamp: now,
      ready: false,
      failedChecks: ['policy'],
      policy: 'p-1',
      store: {
        driver: 'Etcd',
        copies: [{ name: 'etcd-0', bytes: 4096, quotaBytes: 8192 }],
        lastSnapshotTimestamp: now,
      },
      lastMailTimestamp: now,
      activity: {
        endTimestamp: now,
        signIns: [1, 2],
        signInsFailed: [0, 1],
        mailsSent: [2, 2],
        mailsFailed: [0, 0],
        requestsRefused: [3, 0],
      },
      settings: [{ name: 'port', value: '8080', source: 'Default' }],
    },
  }),
});
conforms(HourlyCount, {
  valid: () => ({
    name: 'sample',
    spec: {},
    status: {
      startTimestamp: now,
      signIns: [{ name: 'Passkey', count: 2, lastTimestamp: now }],
      signInsFailed: [],
      mails: [{ name: 'Sent', count: 1, lastTimestamp: now }],
      refusedByRule: [],
      refusedByLimit: [{ name: 'limits-mails-per-network', count: 1, lastTimestamp: now }],
    },
  }),
});
