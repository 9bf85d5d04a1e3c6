import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { toTimestamp } from '../../../registry/schema/timestamp.js';
import { clock } from '../../support/clock.js';
import { until } from '../../support/patience.js';
import { redeem, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const minute = 60_000;
const rule =
  '@id("staff-read-apps") permit (principal in Group::"staff", action == Action::"list", resource is Client);';

describe.each(stores)('members until a time, on %s', (store) => {
  let service: TestService;
  let other: TestService;
  let operator: Tab;
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
    });
    other = await service.replica();
    await createClient(service, 'app', {
      scopes: [
        { name: 'openid', required: true },
        { name: 'email', required: false },
        { name: 'groups', required: false },
      ],
    });
    operator = (await signIn(service, 'op@example.test')).tab;
    const { spec } = (await operator.get('policies/p-1').is(200)).body;
    await operator.post('policies', { spec: { cedar: `${spec.cedar}\n${rule}\n` } }).is(201);
  });
  afterEach(() => clock.release());

  const member = (email: string, ms: number, reason = 'Covers for Bob.') => ({
    email,
    until: toTimestamp(Date.now() + ms),
    reason,
  });
  let number = 0;
  /** A group of its own with the members given. */
  const group = (spec: object, name = `g${(number += 1)}`) =>
    operator.post('groups', { metadata: { name }, spec: { displayName: 'A group', ...spec } });

  test('have its rights until then, on every replica, and not a moment longer', async () => {
    const { tab } = await signIn(service, 'ada@example.test');
    const there = (await signIn(other, 'ada@example.test')).tab;
    await tab.get('clients').fails(403, 'Forbidden');
    await group({ temporaryMembers: [member('Ada@example.test', 5 * minute)] }, 'staff').is(201);
    await tab.get('clients').is(200);
    await until(async () => (await there.get('clients')).code === 200);
    clock.own();
    clock.advance(5 * minute - 10_000);
    for (const one of [tab, there]) await one.get('clients').is(200);
    clock.advance(10_001);
    for (const one of [tab, there]) await one.get('clients').fails(403, 'Forbidden');
    const { body } = await operator.get('groups/staff').is(200);
    expect(body.spec.temporaryMembers).toMatchObject([{ email: 'Ada@example.test' }]);
    await operator.delete('groups/staff').is(200);
  });

  test('end by the clock alone, with no request and no change', async () => {
    const { tab } = await signIn(service, 'eve@example.test');
    await group({ temporaryMembers: [member('eve@example.test', 3_000)] }, 'staff').is(201);
    await tab.get('clients').is(200);
    await until(async () => (await tab.get('clients')).code === 403);
    await operator.delete('groups/staff').is(200);
  });

  test('have the group in their claims only for that time', async () => {
    await group({ temporaryMembers: [member('kim@example.test', 5 * minute)] }, 'crew').is(201);
    const scope = 'openid groups';
    const groupsOf = async (): Promise<unknown> => {
      const done = await signIn(service, 'kim@example.test', { scope });
      const { access_token: token } = (await redeem(service, done)).body;
      return (
        await service.tab().get('/oauth2/userinfo', {
          plain: true,
          cookies: false,
          headers: { authorization: `Bearer ${token}` },
        })
      ).body.groups;
    };
    expect(await groupsOf()).toEqual(['crew']);
    clock.own();
    clock.advance(6 * minute);
    expect((await groupsOf()) ?? []).toEqual([]);
  });

  test('operate the service only for that time, and never as the only operators', async () => {
    const { tab } = await signIn(service, 'lee@example.test');
    await tab.get('accounts').is(200);
    const own = (await tab.get('accounts').is(200)).body.items.length;
    expect(own).toBe(1);
    const temporaryMembers = [member('lee@example.test', 5 * minute)];
    const alone = await group({ temporaryMembers }, 'operators').fails(
      422,
      'Invalid',
      'spec.members',
    );
    expect(alone.message).toContain('temporary operators end');
    await group({ members: ['op@example.test'], temporaryMembers }, 'operators').is(201);
    expect((await tab.get('accounts').is(200)).body.items.length).toBeGreaterThan(1);
    clock.own();
    clock.advance(6 * minute);
    expect((await tab.get('accounts').is(200)).body.items).toHaveLength(1);
    clock.release();
    await operator.delete('groups/operators').is(200);
  });

  test('are counted as members while they are, and stay listed', async () => {
    const table = async (name: string): Promise<unknown> => {
      const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
      const { body } = await operator.get(`groups/${name}`, { headers: { accept } }).is(200);
      return body.rows[0].cells[2];
    };
    await group(
      { members: ['a@example.test'], temporaryMembers: [member('b@example.test', minute)] },
      'counted',
    ).is(201);
    expect(await table('counted')).toBe('2');
    clock.own();
    clock.advance(2 * minute);
    expect(await table('counted')).toBe('1');
  });

  test('that are wrong are refused with the field', async () => {
    const refused = (temporaryMembers: unknown, field: string) =>
      group({ temporaryMembers }).fails(422, 'Invalid', field);
    await refused(
      [{ email: 'no address', until: toTimestamp(Date.now()) }],
      'spec.temporaryMembers[0].email',
    );
    await refused([{ email: 'a@example.test', until: 'soon' }], 'spec.temporaryMembers[0].until');
    await refused([{ email: 'a@example.test' }], 'spec.temporaryMembers[0].until');
    await refused(
      [member('a@example.test', minute), member('a@example.test', 2 * minute)],
      'spec.temporaryMembers[1]',
    );
    await refused(
      [member('a@example.test', minute, 'x'.repeat(201))],
      'spec.temporaryMembers[0].reason',
    );
  });

  test('that are members for good too stay members', async () => {
    const { tab } = await signIn(service, 'max@example.test');
    await group(
      { members: ['max@example.test'], temporaryMembers: [member('max@example.test', minute)] },
      'staff',
    ).is(201);
    clock.own();
    clock.advance(2 * minute);
    await tab.get('clients').is(200);
    await operator.delete('groups/staff').is(200);
  });
});
