import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { isWrittenAsOpened } from '../../../kinds/signin/web-url.js';
import { DocumentError, metadataOfDocument } from '../../../provider/adapter/client-document.js';
import { expectFor } from '../../support/expect-for.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

/** URLs that a browser opens at another address than the text says, or writes otherwise. */
const others = [
  'https:rp.test/x',
  'https:/rp.test/x',
  'https:///rp.test/x',
  'HTTPS://rp.test/x',
  'https://RP.test/x',
  'https://rp.test:443/x',
  'https://rp.test:/x',
  'https://rp.test/a/../x',
  'https://rp.test/./x',
  'https://rp.test/%2e%2E/x',
  'https://rp.test/{x}',
  'https://rp.test/a|b',
  'https://rp.test/"x"',
  "https://rp.test/'x'",
  'https://rp.test/?a=<b>',
  'https://rp.test/`x`',
  'https://rp.test/^',
  'https://rp.test\\x',
  'https://%72p.test/x',
  'http://127.1/',
  'http://0x7f.1/',
  'http://2130706433/',
  'http://127.0.0.01/',
  'http://[0:0:0:0:0:0:0:1]/',
  'https://rp..test/%zz"',
  'https://rp.test/x y',
];

const good = [
  'https://rp.test',
  'https://rp.test/',
  'https://rp.test/x?a=b',
  'https://rp.test:8443/%7Bx%7D',
  'http://127.0.0.1/x',
  'http://[::1]:80a/'.replace('80a', '8080'),
];

test.each(good)('%s is as a browser opens it', (url) => expect(isWrittenAsOpened(url)).toBe(true));

test.each(['com.example.app:/callback', 'com.example.app://callback'])(
  'the private scheme of %s is as it is opened',
  (url) => expect(isWrittenAsOpened(url)).toBe(true),
);

describe.each(stores)('a URL that browsers open elsewhere, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--operators', 'op@example.test', '--limit-factor', '100'],
    });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
  });

  const client = { displayName: 'App', type: 'Public', redirectURIs: ['https://rp.test/cb'] };
  const scope = {
    name: 'card',
    title: 'Card',
    description: 'Card.',
    claims: [{ name: 'card', title: 'Card', type: 'string' }],
  };
  const fields: [collection: string, spec: object, field: string][] = [
    ...[
      'redirectURIs',
      'postLogoutRedirectURIs',
      'backchannelLogoutURI',
      'initiateLoginURI',
      'homepageURI',
      'privacyPolicyURI',
      'termsOfServiceURI',
      'logoURI',
      'jwksURI',
    ].map((field): [string, object, string] => ['clients', client, field]),
    ['claimsproviders', { displayName: 'One', scopes: [scope] }, 'reviewURI'],
    [
      'audiences',
      {
        displayName: 'One',
        identifier: 'https://one.test/',
        scopes: [{ name: 'read', title: 'Read', description: 'Read.' }],
      },
      'homepageURI',
    ],
  ];

  test.each(fields)('is refused in %s, %j, at %s', async (collection, spec, field) => {
    for (const url of others) {
      const isList = field.endsWith('URIs');
      const { code, body } = await operator.post(collection, {
        metadata: { generateName: 'one-' },
        spec: { ...spec, [field]: isList ? [url] : url },
      });
      expectFor(url, [code, body.details?.causes?.map((cause: any) => cause.field)]).toEqual([
        422,
        [`spec.${field}${isList ? '[0]' : ''}`],
      ]);
    }
  });

  test.each(['supportURI', 'privacyPolicyURI', 'termsOfServiceURI'])(
    'is refused in the Appearance, at %s',
    async (field) => {
      for (const url of others) {
        await operator
          .patch('appearances/default', { spec: { [field]: url } })
          .fails(422, 'Invalid', `spec.${field}`);
      }
    },
  );

  test.each(['redirect_uris', 'post_logout_redirect_uris'])(
    'is refused in the %s of a metadata document',
    (field) => {
      const url = new URL('https://rp.test/client.json');
      const document = { client_id: url.href, redirect_uris: ['https://rp.test/cb'] };
      const read = (value: object) =>
        metadataOfDocument(
          { claims: { scopes: () => [] }, settings: service.store.settings },
          url,
          Buffer.from(JSON.stringify({ ...document, ...value })),
        );
      for (const other of others) expect(() => read({ [field]: [other] })).toThrow(DocumentError);
    },
  );
});
