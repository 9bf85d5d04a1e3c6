import { Account } from '../../kinds/account.js';
import { Client } from '../../kinds/client.js';
import { Grant } from '../../kinds/grant.js';
import { MockMessage } from '../../kinds/mockmessage.js';
import { PolicyDecision } from '../../kinds/policy/decision.js';
import { Policy } from '../../kinds/policy/policy.js';
import { Session } from '../../kinds/session.js';
import { toTimestamp } from '../../registry/timestamp.js';
import { conforms } from './conformance.js';

const now = toTimestamp(Date.now());

conforms(Account, {
  valid: () => ({ name: 'bcdfghjklmnpqrstvwxz', spec: { displayName: 'Ada', locale: 'en-GB' }, status: { email: { address: 'ada@example.test', verifiedTimestamp: now }, setup: { complete: true, missing: [] }, passkeys: 0 }, internal: { userHandle: 'x', epoch: 0 } }),
  invalid: [{ spec: { displayName: '' }, field: 'spec.displayName' }, { spec: { displayName: 'a\u0007b' }, field: 'spec.displayName' }, { spec: { displayName: 'a\u202eb' }, field: 'spec.displayName' }, { spec: { displayName: 'x'.repeat(65) }, field: 'spec.displayName' },
    { spec: { pictureURI: 'http://pictures.example.test/' }, field: 'spec.pictureURI' }, { spec: { locale: 'not a tag' }, field: 'spec.locale' }, { spec: { displayName: 7 }, field: 'spec.displayName' }],
  patch: { displayName: 'Ada Lovelace', locale: null },
});
conforms(Client, {
  valid: () => ({ name: 'sample', spec: { displayName: 'Sample', redirectURIs: ['https://app.example.test/callback'], homepageURI: 'https://app.example.test/' }, status: { secrets: [] }, internal: { secrets: [] } }),
  invalid: [{ spec: { redirectURIs: ['https://app.example.test/#fragment'] }, field: 'spec.redirectURIs[0]' }, { spec: { redirectURIs: ['http://app.example.test/'] }, field: 'spec.redirectURIs[0]' },
    { spec: { redirectURIs: ['https://*.example.test/'] }, field: 'spec.redirectURIs[0]' }, { spec: { redirectURIs: ['https://u:p@app.example.test/'] }, field: 'spec.redirectURIs[0]' }, { spec: { logoURI: 'javascript:alert(1)' }, field: 'spec.logoURI' },
    { spec: { logoURI: 'data:image/png;base64,AA' }, field: 'spec.logoURI' }, { spec: { type: 'Public', tokenEndpointAuthMethod: 'client_secret_basic' }, field: 'spec.tokenEndpointAuthMethod' }, { spec: { secretHashes: ['sha256:x'] }, field: 'spec.secretHashes[0]' },
    { spec: { subjectType: 'pairwise', redirectURIs: ['https://a.example.test/', 'https://b.example.test/'] }, field: 'spec.subjectType' }],
  patch: { displayName: 'Another', homepageURI: null },
});
conforms(Grant, {
  valid: ({ name }) => ({ name: `${name}-sample`, spec: { scopes: ['openid'] }, status: { account: name, client: { name: 'sample', displayName: 'Sample' }, grantedTimestamp: now, disclosures: [] }, internal: { decision: 1, rejected: [], clientUID: '', decided: Date.now() } }),
});
conforms(PolicyDecision, {
  valid: ({ name }) => ({
    name: `${name}-sample`, internal: { client: 'notes' }, status: { allowed: false, reasons: [{ rule: 'default', message: 'No rule permits it.' }], count: 1, firstTimestamp: now, lastTimestamp: now },
    spec: { account: name, principal: `Account::"${name}"`, action: 'create', resource: { kind: 'Policy' }, policy: 'p-1', input: { caller: { type: 'Account', name }, facts: { domain: 'example.test', site: 'same-origin' } } },
  }),
});
conforms(Policy, {
  valid: () => ({ name: 'p-1000', spec: { cedar: 'permit (principal, action, resource);' }, status: { inForce: false, inForceSince: now, supersededTimestamp: now, author: 'vestibule', hash: 'x', rules: [{ id: 'rule1', effect: 'permit' }] } }),
});
conforms(Session, {
  valid: ({ name }) => ({
    name: `${name}-sample`, spec: {}, internal: { libraryKey: 'oidc/Session/x', uidDigest: 'x', loginSeconds: 1, epoch: 0, expires: Date.now() + 60_000 },
    status: { account: name, current: false, authenticationTimestamp: now, methods: ['EmailCode'], assurance: 'x', client: { browser: 'Firefox', os: 'Linux', device: 'Desktop' }, lastUsedTimestamp: now, expirationTimestamp: now, clients: [] },
  }),
});
conforms(MockMessage, {
  valid: () => ({ name: 'sample', spec: {}, status: { to: 'a@example.test', from: 'b@example.test', subject: 's', text: 't', html: 'h', sentTimestamp: now } }),
});
