import { expect, test } from '@jest/globals';
import type { ClientSpec } from '../../kinds/apps/client/client.js';
import { pairwiseSubject, subjectOf } from '../../kinds/apps/client/subject-identifier.js';

const keys = { pairwise: Buffer.alloc(32, 7) };
const client = (spec: Partial<ClientSpec>) =>
  ({
    metadata: { name: 'app' },
    spec: {
      subjectType: 'pairwise',
      redirectURIs: [],
      grantTypes: ['authorization_code'],
      ...spec,
    },
  }) as unknown as Parameters<typeof subjectOf>[2];

test('the sub claim: the account’s name, or one for the host of a pairwise Client', () => {
  expect(subjectOf(keys, 'ada', undefined)).toBe('ada');
  expect(
    subjectOf(keys, 'ada', client({ subjectType: 'public', redirectURIs: ['https://a.test/cb'] })),
  ).toBe('ada');
  const subject = (spec: Partial<ClientSpec>, account = 'ada') =>
    subjectOf(keys, account, client(spec));
  expect(subject({ redirectURIs: ['https://a.test:8443/cb', 'https://a.test:8443/other'] })).toBe(
    pairwiseSubject(keys, 'a.test:8443', 'ada'),
  );
  expect(
    subject({
      grantTypes: ['urn:ietf:params:oauth:grant-type:device_code'],
      redirectURIs: ['https://a.test/cb'],
      jwksURI: 'https://keys.test/jwks',
    }),
  ).toBe(pairwiseSubject(keys, 'keys.test', 'ada'));
  expect(subject({ redirectURIs: ['https://a.test/cb'] })).toBe(
    subject({ redirectURIs: ['https://a.test/other'] }),
  );
  expect(
    new Set([
      subject({ redirectURIs: ['https://a.test/cb'] }),
      subject({ redirectURIs: ['https://b.test/cb'] }),
      subject({ redirectURIs: ['https://a.test/cb'] }, 'bob'),
    ]).size,
  ).toBe(3);
});
