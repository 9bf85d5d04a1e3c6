import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Account } from '../../../kinds/people/account/account.js';
import { Group } from '../../../kinds/people/group/group.js';
import { begin, mailTo, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

/** K in ASCII after normalisation, and by no other measure. */
const kelvin = '\u212a';
const [decomposed, composed] = ['Ze\u0301', 'Z\u00e9'];
const ambiguous = [
  'a%b@example.test',
  'a!b@example.test',
  '-a@example.test',
  'a=?b@example.test',
  '%@example.test',
  'a|b@example.test',
  '|a@example.test',
  'a`b@example.test',
  '/a@example.test',
];

describe.each(stores)('text, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--limit-factor', '1000', '--operators', 'op@example.test'],
    });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
  });

  test('for people is kept in normal form C, in every kind and by every verb', async () => {
    expect(
      (
        await operator
          .patch('accounts/~', { spec: { displayName: decomposed, givenName: decomposed } })
          .is(200)
      ).body.spec,
    ).toMatchObject({ displayName: composed, givenName: composed });
    const { body } = await operator
      .post('groups', { metadata: { name: 'people' }, spec: { displayName: decomposed } })
      .is(201);
    expect(body.spec.displayName).toBe(composed);
    expect(
      (
        await operator
          .put('groups/people', { ...body, spec: { displayName: `${decomposed}!` } })
          .is(200)
      ).body.spec.displayName,
    ).toBe(`${composed}!`);
    const scopes = [
      {
        name: 'text',
        title: decomposed,
        description: decomposed,
        claims: [{ name: 'c', title: decomposed, type: 'string' }],
      },
    ];
    const provider = await operator
      .post('claimsproviders', {
        metadata: { name: 'text' },
        spec: { displayName: decomposed, reviewURI: 'https://supplier.example.test', scopes },
      })
      .is(201);
    expect(provider.body.spec).toMatchObject({
      displayName: composed,
      scopes: [{ title: composed, description: composed, claims: [{ title: composed }] }],
    });
  });

  test('is judged as it was sent: what would be valid in another form is not', async () => {
    await operator
      .patch('accounts/~', { spec: { displayName: 'e\u0301'.repeat(33) } })
      .fails(422, 'Invalid', 'spec.displayName');
    const { tab, I } = await begin(service);
    await tab
      .post(`${I}/emailchallenge`, { spec: { email: `${kelvin}@example.test` } })
      .fails(422, 'Invalid', 'spec.email');
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'k@example.test' } }).is(200);
    const { token } = await mailTo(service, 'k@example.test');
    const other = token.includes('K')
      ? token.replace('K', kelvin)
      : `${token.slice(0, -1)}${kelvin}`;
    await tab
      .post(`${I}/login`, { spec: { method: 'EmailLink', token: other } })
      .fails(422, 'Invalid', 'spec.token');
    await tab.post(`${I}/login`, { spec: { method: 'EmailLink', token } }).is(200);
  });

  test('for programs stays as it was sent', async () => {
    const { body } = await operator
      .post('groups', {
        metadata: { name: 'programs', annotations: { note: decomposed } },
        spec: { displayName: 'x' },
      })
      .is(201);
    expect(body.metadata.annotations.note).toBe(decomposed);
    const cedar = (await operator.get('policies').is(200)).body.items.find(
      ({ status }: any) => status.inForce,
    ).spec.cedar as string;
    expect(
      (
        await operator
          .post('policies?dryRun=All', { spec: { cedar: `${cedar}\n// ${decomposed}\n` } })
          .is(201)
      ).body.spec.cedar,
    ).toContain(decomposed);
  });

  test('in one line has no character that ends one', async () => {
    for (const end of ['\u2028', '\u2029', '\u0085', '\n', '\r', '\u000b', '\u000c', '\u001c']) {
      await operator
        .patch('accounts/~', { spec: { displayName: `a${end}b` } })
        .fails(422, 'Invalid', 'spec.displayName');
      await operator
        .patch('accounts/~', { spec: { websiteURI: `https://a.test/${end}b` } })
        .fails(422, 'Invalid', 'spec.websiteURI');
      await operator
        .patch('clients/app', { spec: { redirectURIs: [`https://a.test/${end}b`] } })
        .fails(422, 'Invalid', 'spec.redirectURIs[0]');
      await operator
        .patch('clients/app', { spec: { idTokenClaims: [`a${end}b`] } })
        .fails(422, 'Invalid', 'spec.idTokenClaims[0]');
      await operator
        .patch(`clients/app?fieldManager=a${encodeURIComponent(end)}b`, { spec: {} })
        .fails(422, 'Invalid', 'fieldManager');
    }
  });

  test('of a policy has no line that editors show and Cedar does not see', async () => {
    const { spec } = (await operator.get('policies/p-1').is(200)).body;
    const check = (comment: string) =>
      operator.post('policies?dryRun=All', { spec: { cedar: `${spec.cedar}\n// ${comment}\n` } });
    await check('nothing').is(201);
    for (const end of ['\u2028', '\u2029']) {
      await check(`nothing${end}forbid (principal, action, resource);`).fails(
        422,
        'Invalid',
        'spec.cedar',
      );
    }
  });

  test('of a redirect is printable ASCII without a space or a backslash', async () => {
    for (const uri of [
      'https://a.test/a b',
      'https://a.test\\b',
      'https:\\\\a.test',
      ' https://a.test',
      'https://a.test/\u00e9',
      'https://a.test/\u00a0',
    ]) {
      for (const field of ['redirectURIs', 'postLogoutRedirectURIs']) {
        await operator
          .patch('clients/app', { spec: { [field]: [uri] } })
          .fails(422, 'Invalid', `spec.${field}[0]`);
      }
    }
    // Only here is the character itself what is wrong: browsers do not escape it in such a URI.
    await operator
      .patch('clients/app', {
        spec: { applicationType: 'native', redirectURIs: ['com.example.app:a b'] },
      })
      .fails(422, 'Invalid', 'spec.redirectURIs[0]');
  });

  test('of an address that mail servers may misread is no new account’s', async () => {
    const { tab, I } = await begin(service);
    for (const email of ambiguous) {
      const { message } = await tab
        .post(`${I}/emailchallenge`, { spec: { email } })
        .fails(422, 'Invalid', 'spec.email');
      expect(message).toContain(
        'must be an email address without %, !, |, ` and =? that does not begin with - or /',
      );
      await operator
        .post('accounts/~/emailchallenge', { spec: { email } })
        .fails(422, 'Invalid', 'spec.email');
      await operator.post('accounts', { spec: { email } }).fails(422, 'Invalid', 'spec.email');
      await operator
        .post('invitations', { metadata: { name: 'odd' }, spec: { email } })
        .fails(422, 'Invalid', 'spec.email');
      await operator
        .post('groups', {
          metadata: { name: 'odd' },
          spec: { displayName: 'x', members: ['ok@example.test', email] },
        })
        .fails(422, 'Invalid', 'spec.members[1]');
      await operator
        .post('groups', {
          metadata: { name: 'odd' },
          spec: {
            displayName: 'x',
            temporaryMembers: [{ email, until: '2999-01-01T00:00:00Z' }],
          },
        })
        .fails(422, 'Invalid', 'spec.temporaryMembers[0].email');
    }
    expect(
      (await service.tab().get('mockmessages').is(200)).body.items.filter(({ status }: any) =>
        ambiguous.includes(status.to),
      ),
    ).toEqual([]);
  });

  test('of such an address given up during a sign-in makes no new account', async () => {
    const { metadata } = (
      await operator.post('accounts', { spec: { email: `gone-${store}@example.test` } }).is(201)
    ).body;
    const email = `go|ne-${store}@example.test`;
    await service.store.change(service.store.systemCall(), (tx) =>
      tx.update(Account, metadata.name, ({ status }) => {
        status.email.address = email;
      }),
    );
    const { tab, I } = await begin(service);
    await tab.post(`${I}/emailchallenge`, { spec: { email } }).is(200);
    const { code } = await mailTo(service, email, [], (one) => one.code !== undefined);
    await operator.delete(`accounts/${metadata.name}`).is(200);
    await tab
      .post(`${I}/login`, { spec: { method: 'EmailCode', code } })
      .fails(422, 'Invalid', 'spec.email');
  });

  test('that is wrong is answered in words, one cause a field', async () => {
    const { tab, I } = await begin(service);
    const { details, message } = await tab
      .post(`${I}/emailchallenge`, { spec: { email: 'absent' } })
      .fails(422, 'Invalid', 'spec.email');
    expect([details!.causes, message]).toEqual([
      [
        {
          reason: 'FieldValueInvalid',
          field: 'spec.email',
          message: 'Invalid value: must be an email address',
        },
      ],
      expect.stringMatching(/is invalid: spec\.email: Invalid value: must be an email address$/),
    ]);
    const group = await operator
      .post('groups', {
        metadata: { name: 'wrong', labels: { 'a b': 'c' } },
        spec: { displayName: '\u0000'.repeat(65), members: ['x', 'y@example.test'] },
      })
      .fails(422, 'Invalid');
    const client = await operator
      .post('clients', {
        metadata: { name: 'wrong' },
        spec: {
          displayName: 'x',
          profile: 'FAPI2',
          type: 'Public',
          pkce: 'Optional',
          tokenEndpointAuthMethod: 'client_secret_basic',
          tokenEndpointAuthSigningAlg: 'RS256',
          redirectURIs: ['http://a.test/'],
          jwks: { keys: [] },
          jwksURI: 'http://10.0.0.1/',
        },
      })
      .fails(422, 'Invalid', 'spec.jwksURI');
    for (const causes of [group.details!.causes!, client.details!.causes!]) {
      for (const { message: words } of causes) expect(words).not.toMatch(/pattern|\^/);
      expect(new Set(causes.map(({ field }) => field)).size).toBe(causes.length);
    }
  });

  test('of such an address that an account has goes on signing in', async () => {
    await signIn(service, 'before@example.test');
    const reader = service.store.reader(Account);
    const before = await reader.byUnique('email', 'before@example.test');
    const {
      metadata: { name },
    } = before!;
    await service.store.change(service.store.systemCall(), (tx) =>
      tx.update(Account, name, ({ status }) => {
        status.email.address = 'be%fore@example.test';
      }),
    );
    const { tab } = await signIn(service, 'be%fore@example.test');
    expect((await tab.get('accounts/~').is(200)).body.metadata.name).toBe(name);
    const members = (...all: string[]) =>
      ({ metadata: { name: 'x' }, spec: { displayName: 'x', members: all } }) as never;
    const fields = async (next: never, old?: never) =>
      (await Group.strategy.validate!(next, old, undefined as never)).map(({ field }) => field);
    expect(
      await fields(members('a%b@example.test', 'c!d@example.test'), members('c!d@example.test')),
    ).toEqual(['spec.members[0]']);
  });
});
