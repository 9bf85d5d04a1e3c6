import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loadConfig } from '../../../cmd/vestibule/options/config.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const one = 'Ada.Lee@example.test';
const other = 'ada.lee@EXAMPLE.test';
const until = new Date(Date.now() + 3_600_000).toISOString();

const invitation = (email: string) => ({ metadata: { generateName: 'i-' }, spec: { email } });

describe.each(stores)('one person in two spellings, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let number = 0;

  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
    });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
  });

  const lists = [
    ['members', (email: string): unknown => email, (i: number) => `spec.members[${i}]`],
    [
      'temporaryMembers',
      (email: string): unknown => ({ email, until }),
      (i: number) => `spec.temporaryMembers[${i}]`,
    ],
  ] as const;

  const apply = (tab: Tab, name: string, spec: object, manager: string) =>
    tab.send('PATCH', `groups/${name}?fieldManager=${manager}`, {
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: JSON.stringify({
        apiVersion: 'id.vestibule.org/v1beta1',
        kind: 'Group',
        metadata: { name },
        spec: { displayName: 'Staff', ...spec },
      }),
    });

  describe.each(lists)('in %s of a Group', (list, item, fieldOf) => {
    const spec = (...emails: string[]) => ({ displayName: 'Staff', [list]: emails.map(item) });
    const create = async (...emails: string[]): Promise<string> => {
      const name = `staff-${(number += 1)}`;
      await operator.post('groups', { metadata: { name }, spec: spec(...emails) }).is(201);
      return name;
    };
    const roads: [
      string,
      (both: readonly [string, string]) => Promise<{ code: number; body: any }>,
    ][] = [
      [
        'create',
        async (both) => operator.post('groups', { metadata: { name: 'new' }, spec: spec(...both) }),
      ],
      [
        'create by a name that is generated',
        async (both) =>
          operator.post('groups', { metadata: { generateName: 'new-' }, spec: spec(...both) }),
      ],
      [
        'a merge patch',
        async (both) => operator.patch(`groups/${await create(both[0])}`, { spec: spec(...both) }),
      ],
      [
        'a JSON patch',
        async (both) =>
          operator.send('PATCH', `groups/${await create(both[0])}`, {
            headers: { 'content-type': 'application/json-patch+json' },
            body: JSON.stringify([{ op: 'add', path: `/spec/${list}/-`, value: item(both[1]) }]),
          }),
      ],
      [
        'PUT',
        async (both) => {
          const path = `groups/${await create(both[0])}`;
          const { body } = await operator.get(path).is(200);
          return operator.put(path, { ...body, spec: spec(...both) });
        },
      ],
      ['apply', async (both) => apply(operator, 'new', { [list]: both.map(item) }, 'a')],
      [
        'apply by a second manager',
        async (both) => {
          const name = await create();
          await apply(operator, name, { [list]: [item(both[0])] }, 'a').is(200);
          return apply(operator, name, { [list]: [item(both[1])] }, 'b');
        },
      ],
      [
        'a dry run',
        async (both) =>
          operator.post('groups?dryRun=All', { metadata: { name: 'new' }, spec: spec(...both) }),
      ],
    ];

    test.each(roads)('are refused by %s', async (_, send) => {
      const { code, body } = await send([one, other]);
      expect([code, body.details?.causes]).toEqual([
        422,
        [expect.objectContaining({ reason: 'FieldValueDuplicate', field: fieldOf(1) })],
      ]);
    });
  });

  test('is one account, one invitation and one result of a search', async () => {
    await operator.post('accounts', { spec: { email: 'Cy@example.test' } }).is(201);
    expect((await operator.post('accounts', { spec: { email: 'cY@Example.test' } })).code).toBe(
      409,
    );
    await operator.post('invitations', invitation('Di@example.test')).is(201);
    expect((await operator.post('invitations', invitation('dI@Example.test'))).code).toBe(409);
    const selector = encodeURIComponent('status.email.address=CY@example.TEST');
    const { body } = await operator.get(`accounts?fieldSelector=${selector}`).is(200);
    expect(body.items).toHaveLength(1);
  });
});

test('one person in two spellings among the operators of the settings is refused', async () => {
  await expect(
    loadConfig(
      ['--data-dir', 'x', '--mock-mail', '--operators', `${one},b@example.test,${other}`],
      {},
    ),
  ).rejects.toMatchObject({
    problems: ['--operators: item 3 is an address that is there before; remove it'],
  });
});
