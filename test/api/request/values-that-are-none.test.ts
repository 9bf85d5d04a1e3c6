import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Account } from '../../../kinds/people/account/account.js';
import { expectFor } from '../../support/expect-for.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

/** Values of the right form that name nothing, and text that shows nothing. */
const none: Readonly<Record<string, readonly string[]>> = {
  timeZone: ['Mars/Base', 'europe/zurich', 'PST', 'SystemV/AST4', 'A'],
  birthdate: ['2000-02-31', '2001-02-29', '1900-02-29', '2000-04-31'],
  locale: ['xx-invalid', 'xx', 'qaa', 'de-QQ', 'de-ZZ', 'de-Xxxx', 'und', 'de-invalid', 'a1'],
  displayName: ['\u3164', '\u2800', ' ', 'a\u200bb', 'a\u{e0061}', 'a\u202eb', 'a\u00a0b'],
};
const some: Readonly<Record<string, readonly string[]>> = {
  timeZone: ['Europe/Zurich', 'Asia/Kolkata', 'UTC', 'US/Pacific', 'Etc/GMT+5'],
  birthdate: ['2000-02-29', '0000-02-29', '1970'],
  locale: ['de', 'gsw-CH', 'de-ch', 'sr-Latn-RS', 'es-419', 'ca-valencia', 'aaa'],
  displayName: ['\u0639\u0644\u06cc\u200c\u0631\u0636\u0627', '\u2764\ufe0f'],
};
const pairs = Object.entries(none).flatMap(([field, values]) =>
  values.map((value) => [field, value] as const),
);

describe.each(stores)('values that are none, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let tab: Tab;
  let name: string;

  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--limit-factor', '1000', '--operators', 'op@example.test'],
    });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
    tab = (await signIn(service, 'ada@example.test')).tab;
    name = (await tab.get('accounts/~').is(200)).body.metadata.name;
  });

  const patch = (of: Tab, type: string, body: unknown) =>
    of.send('PATCH', `accounts/${name}?fieldManager=test`, {
      headers: { 'content-type': `application/${type}` },
      body: JSON.stringify(body),
    });
  const roads: [string, (field: string, value: string) => Promise<{ code: number; body: any }>][] =
    [
      [
        'create by an operator',
        async (field, value) =>
          operator.post('accounts', { spec: { email: 'new@example.test', [field]: value } }),
      ],
      [
        'a dry run',
        async (field, value) =>
          operator.post('accounts?dryRun=All', {
            spec: { email: 'new@example.test', [field]: value },
          }),
      ],
      [
        'a merge patch of oneself',
        async (field, value) => tab.patch('accounts/~', { spec: { [field]: value } }),
      ],
      [
        'a merge patch by an operator',
        async (field, value) => operator.patch(`accounts/${name}`, { spec: { [field]: value } }),
      ],
      [
        'a JSON patch',
        async (field, value) =>
          patch(operator, 'json-patch+json', [{ op: 'add', path: `/spec/${field}`, value }]),
      ],
      [
        'PUT',
        async (field, value) => {
          const { body } = await operator.get(`accounts/${name}`).is(200);
          return operator.put(`accounts/${name}`, { ...body, spec: { [field]: value } });
        },
      ],
      [
        'apply',
        async (field, value) =>
          patch(operator, 'apply-patch+yaml', {
            apiVersion: 'id.vestibule.org/v1beta1',
            kind: 'Account',
            metadata: { name },
            spec: { [field]: value },
          }),
      ],
    ];

  test.each(roads)('are refused by %s', async (_, send) => {
    for (const [field, value] of pairs) {
      const { code, body } = await send(field, value);
      expectFor(
        [field, value],
        [code, body.details?.causes?.map((cause: any) => cause.field)],
      ).toEqual([422, [`spec.${field}`]]);
    }
  });

  test('leave their fields to values that are', async () => {
    for (const [field, values] of Object.entries(some)) {
      for (const value of values) {
        await tab.patch('accounts/~', { spec: { [field]: value } }).is(200);
      }
    }
  });

  test('stay where they are already, and other fields change', async () => {
    const validate = (next: object, old: object) =>
      Account.strategy.validate!({ spec: next } as never, { spec: old } as never, {} as never);
    expect(await validate({ locale: 'xx', nickname: 'A' }, { locale: 'xx' })).toEqual([]);
    expect(await validate({ locale: 'zz' }, { locale: 'xx' })).toHaveLength(1);
  });

  test('are no language of an Invitation', async () => {
    await operator
      .post('invitations', {
        metadata: { name: 'odd' },
        spec: { email: 'guest@example.test', locale: 'xx-invalid' },
      })
      .fails(422, 'Invalid', 'spec.locale');
  });

  const audience = (spec: object) => ({
    metadata: { name: 'billing' },
    spec: {
      identifier: 'https://billing.example.test',
      displayName: 'Billing',
      scopes: [{ name: 'read', title: 'Read', description: 'Read invoices.' }],
      ...spec,
    },
  });

  test('are no introspectors of an Audience, by any verb', async () => {
    const wrong = { introspectors: ['app', 'absent'] };
    const at = [422, 'Invalid', 'spec.introspectors[1]'] as const;
    const apply = (spec: object) =>
      operator.send('PATCH', 'audiences/billing?fieldManager=test&force=true', {
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body: JSON.stringify({
          apiVersion: 'id.vestibule.org/v1beta1',
          kind: 'Audience',
          ...audience(spec),
        }),
      });
    await operator.post('audiences', audience(wrong)).fails(...at);
    await operator.post('audiences?dryRun=All', audience(wrong)).fails(...at);
    await apply(wrong).fails(...at);
    await createClient(service, 'api');
    await operator.post('audiences', audience({ introspectors: ['app', 'api'] })).is(201);
    await operator.patch('audiences/billing', { spec: wrong }).fails(...at);
    // A second manager adds to the set.
    await apply(wrong).fails(422, 'Invalid', 'spec.introspectors[2]');
    const { body } = await operator.get('audiences/billing').is(200);
    await operator
      .put('audiences/billing', { ...body, spec: { ...body.spec, ...wrong } })
      .fails(...at);
    // A Client that is deleted stays in the list, and the Audience can be changed.
    await operator.delete('clients/api').is(200);
    await operator.patch('audiences/billing', { spec: { displayName: 'Bills' } }).is(200);
  });
});
