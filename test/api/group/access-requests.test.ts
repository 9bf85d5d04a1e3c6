import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { toTimestamp } from '../../../registry/schema/timestamp.js';
import { clock } from '../../support/clock.js';
import { Stream } from '../../support/network/stream.js';
import { until } from '../../support/patience.js';
import { mailTo, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const [minute, day] = [60_000, 86_400_000];
const rules = `
@id("staff-only") @message("Only staff may sign in here.")
forbid (principal, action == Action::"signIn", resource == Client::"wiki")
unless { principal in Group::"staff" };
@id("vault-only") @message("Only keepers may sign in here.")
forbid (principal, action == Action::"signIn", resource == Client::"vault")
unless { principal in Group::"keepers" };
@id("no-requests-for-keepers") @message("Keepers are chosen.")
forbid (principal, action == Action::"create", resource is AccessRequest)
when { resource.group == "keepers" };
@id("leads-decide-for-staff") @message("Leads decide who joins staff.")
permit (principal in Group::"leads", action in [Action::"read", Action::"accessrequests/*"], resource is AccessRequest)
when { resource.group == "staff" };`;

describe.each(stores)('requests for access, on %s', (store) => {
  let service: TestService;
  let other: TestService;
  let operator: Tab;
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
    });
    other = await service.replica();
    for (const name of ['wiki', 'vault']) {
      await createClient(service, name, {
        homepageURI: `https://${name}.example.test/`,
        appMenu: 'Everyone',
      });
    }
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
    const { spec } = (await operator.get('policies/p-1').is(200)).body;
    await operator.post('policies', { spec: { cedar: `${spec.cedar}\n${rules}\n` } }).is(201);
    for (const [name, ...members] of [
      ['staff', 'max@example.test'],
      ['keepers'],
      ['crew'],
      ['leads', 'lead@example.test'],
    ]) {
      await operator
        .post('groups', { metadata: { name }, spec: { displayName: name, members } })
        .is(201);
    }
  });
  afterEach(() => clock.release());

  const ask = (tab: Tab, group: string, spec: object = {}) =>
    tab.post('accessrequests', {
      spec: { group, reason: 'Covers for Bob.', until: toTimestamp(Date.now() + day), ...spec },
    });
  const asked = async (tab: Tab, group: string, spec?: object): Promise<string> =>
    (await ask(tab, group, spec).is(201)).body.metadata.name;
  const decide = (tab: Tab, name: string, action: 'approve' | 'deny', spec: object = {}) =>
    tab.post(`accessrequests/${name}/${action}`, { spec });
  const person = async (email: string, on = service): Promise<Tab> => (await signIn(on, email)).tab;
  const appOf = async (tab: Tab, client: string) =>
    (await tab.get('accounts/~/apps').is(200)).body.items.find(
      (item: { client: string }) => item.client === client,
    );
  const temporary = async (group: string) =>
    (await operator.get(`groups/${group}`).is(200)).body.spec.temporaryMembers ?? [];

  test('the group that the app menu names is requested; its approval opens the app', async () => {
    const tab = await person('ada@example.test');
    const there = await person('ada@example.test', other);
    expect(await appOf(tab, 'wiki')).toMatchObject({
      access: 'Refused',
      reason: 'Only staff may sign in here.',
      requestableGroups: ['staff'],
    });
    const name = await asked(tab, 'staff', { until: toTimestamp(Date.now() + 10 * minute) });
    expect((await tab.get(`accessrequests/${name}`).is(200)).body).toMatchObject({
      spec: { group: 'staff', reason: 'Covers for Bob.' },
      status: { phase: 'Pending', conditions: [{ type: 'Approved', status: 'False' }] },
    });
    expect(await appOf(tab, 'wiki')).toMatchObject({ access: 'Refused' });
    const { body } = await decide(operator, name, 'approve', { message: 'Welcome.' }).is(200);
    expect(body.status).toMatchObject({
      phase: 'Approved',
      message: 'Welcome.',
      decidedBy: (await operator.get('accounts/~').is(200)).body.metadata.name,
      conditions: [{ type: 'Approved', status: 'True', reason: 'Approved' }],
    });
    const decider = body.status.decidedBy as string;
    const table = { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } };
    const stream = new Stream(tab, 'accessrequests?watch=true&resourceVersion=0');
    await stream.until(({ events }) => events.length > 0);
    stream.close();
    const read = [
      await tab.get(`accessrequests/${name}`).is(200),
      await tab.get('accessrequests').is(200),
      await tab.get('accessrequests?includeObject=Object', table).is(200),
      await tab.get('accounts/~/export').is(200),
      await tab.get('policydecisions').is(200),
    ].map(({ bytes }) => bytes.toString());
    for (const seen of [...read, JSON.stringify(stream.events)]) {
      expect(seen).not.toContain(decider);
    }
    expect(await temporary('staff')).toMatchObject([
      { email: 'ada@example.test', reason: 'Covers for Bob.', accessRequest: name },
    ]);
    for (const one of [tab, there]) {
      await until(async () => (await appOf(one, 'wiki')).access === 'Allowed');
    }
    clock.own();
    clock.advance(11 * minute);
    for (const one of [tab, there]) {
      expect(await appOf(one, 'wiki')).toMatchObject({ access: 'Refused' });
    }
    expect((await tab.get(`accessrequests/${name}`).is(200)).body.status).toMatchObject({
      phase: 'Expired',
      conditions: [{ type: 'Approved', status: 'False', reason: 'Expired' }],
    });
    const selected = await tab.get('accessrequests?fieldSelector=status.phase%3DExpired').is(200);
    expect(selected.body.items).toHaveLength(1);
  });

  test('the person gets a mail about what was decided', async () => {
    const tab = await person('mia@example.test');
    await decide(operator, await asked(tab, 'staff'), 'approve').is(200);
    const approved = await mailTo(service, 'mia@example.test', [], ({ subject }) =>
      subject.includes('approved'),
    );
    expect(approved.text).toContain('group staff');
    await decide(operator, await asked(tab, 'crew'), 'deny', {
      message: 'See https://evil.test/',
    }).is(200);
    const denied = await mailTo(service, 'mia@example.test', [], ({ subject }) =>
      subject.includes('denied'),
    );
    expect(denied.text).toContain('group crew');
    expect(denied.text).not.toContain('evil');
    expect(await temporary('crew')).toEqual([]);
  });

  test('those whom policy names decide about their group, and about no other', async () => {
    const [tab, lead] = [await person('eve@example.test'), await person('lead@example.test')];
    const [forStaff, forCrew] = [await asked(tab, 'staff'), await asked(tab, 'crew')];
    const listed = (await lead.get('accessrequests').is(200)).body.items;
    expect(listed.map((one: any) => one.spec.group)).not.toContain('crew');
    await decide(lead, forStaff, 'approve').is(200);
    await decide(lead, forCrew, 'approve').fails(404, 'NotFound');
    await decide(lead, forCrew, 'deny').fails(404, 'NotFound');
    await lead.get('groups/staff').fails(404, 'NotFound');
  });

  test('no one approves their own request, an operator neither', async () => {
    const own = await asked(operator, 'crew');
    const refused = await decide(operator, own, 'approve').fails(403, 'Forbidden');
    expect(refused.message).toContain('Someone else must approve');
    const tab = await person('ivy@example.test');
    await decide(tab, await asked(tab, 'crew'), 'approve').fails(403, 'Forbidden');
    expect(await temporary('crew')).toEqual([]);
  });

  test('an operator approves only soon after a sign-in', async () => {
    const name = await asked(await person('kay@example.test'), 'staff');
    clock.own();
    clock.advance(60 * minute);
    await decide(operator, name, 'approve').fails(403, 'Forbidden');
    clock.release();
    await decide(operator, name, 'approve').is(200);
  });

  test('a group that policy excludes can be neither requested nor offered', async () => {
    const tab = await person('leo@example.test');
    const refused = await ask(tab, 'keepers').fails(403, 'Forbidden');
    expect(refused.message).toContain('Keepers are chosen.');
    const vault = await appOf(tab, 'vault');
    expect(vault).toMatchObject({ access: 'Refused' });
    expect(vault.requestableGroups ?? []).toEqual([]);
  });

  test('a request does not say whether its group exists; its approval does', async () => {
    const tab = await person('ned@example.test');
    const name = await asked(tab, 'nowhere');
    const refused = await decide(operator, name, 'approve').fails(409, 'Conflict');
    expect(refused.message).toContain('there is no Group nowhere');
    expect((await tab.get(`accessrequests/${name}`).is(200)).body.status.phase).toBe('Pending');
  });

  test('one request for a group waits at a time, and none of a member without an end', async () => {
    const tab = await person('oda@example.test');
    const name = await asked(tab, 'staff');
    await ask(tab, 'staff').fails(409, 'Conflict');
    await asked(tab, 'crew');
    await tab.delete(`accessrequests/${name}`).is(200);
    await asked(tab, 'staff', { until: toTimestamp(Date.now() + minute) });
    clock.own();
    clock.advance(2 * minute);
    await asked(tab, 'staff');
    clock.release();
    await ask(await person('max@example.test'), 'staff').fails(422, 'Invalid', 'spec.group');
  });

  test('a decision is final, and only a pending request can be decided', async () => {
    const tab = await person('pam@example.test');
    const name = await asked(tab, 'staff');
    const [first, second] = await Promise.all([
      decide(operator, name, 'approve'),
      decide(operator, name, 'deny'),
    ]);
    expect([first.code, second.code].sort()).toEqual([200, 409]);
    await decide(operator, name, 'approve').fails(409, 'Conflict');
    const late = await asked(tab, 'crew', { until: toTimestamp(Date.now() + minute) });
    clock.own();
    clock.advance(2 * minute);
    const refused = await decide(operator, late, 'deny').fails(409, 'Conflict');
    expect(refused.message).toContain('already Expired');
  });

  test('an approval may shorten the membership and not lengthen it', async () => {
    const tab = await person('quin@example.test');
    const ends = Date.now() + day;
    const name = await asked(tab, 'staff', { until: toTimestamp(ends) });
    for (const until of [ends + minute, Date.now() - minute]) {
      await decide(operator, name, 'approve', { until: toTimestamp(until) }).fails(
        422,
        'Invalid',
        'spec.until',
      );
    }
    const until = toTimestamp(Date.now() + 5 * minute);
    await decide(operator, name, 'approve', { until }).is(200);
    expect(await temporary('staff')).toContainEqual(
      expect.objectContaining({ email: 'quin@example.test', until }),
    );
    clock.own();
    clock.advance(6 * minute);
    expect((await tab.get(`accessrequests/${name}`).is(200)).body.status.phase).toBe('Expired');
  });

  test('the membership ends when its approved request is deleted', async () => {
    const tab = await person('rex@example.test');
    const name = await asked(tab, 'staff');
    await decide(operator, name, 'approve').is(200);
    expect(await appOf(tab, 'wiki')).toMatchObject({ access: 'Allowed' });
    await tab.delete(`accessrequests/${name}`).is(200);
    expect(await appOf(tab, 'wiki')).toMatchObject({ access: 'Refused' });
    await decide(operator, await asked(tab, 'staff'), 'approve').is(200);
    await tab.delete('accounts/~').is(200);
    await until(async () =>
      (await temporary('staff')).every((one: any) => one.email !== 'rex@example.test'),
    );
  });

  test('a later approval replaces a shorter membership and keeps a longer one', async () => {
    const tab = await person('sue@example.test');
    const short = await asked(tab, 'crew', { until: toTimestamp(Date.now() + minute) });
    await decide(operator, short, 'approve').is(200);
    const long = await asked(tab, 'crew', { until: toTimestamp(Date.now() + day) });
    await decide(operator, long, 'approve').is(200);
    const shorter = await asked(tab, 'crew', { until: toTimestamp(Date.now() + 5 * minute) });
    await decide(operator, shorter, 'approve').is(200);
    const ofSue = async () =>
      (await temporary('crew')).filter((one: any) => one.email === 'sue@example.test');
    expect(await ofSue()).toMatchObject([{ accessRequest: long }]);
    await tab.delete(`accessrequests/${shorter}`).is(200);
    expect(await ofSue()).toHaveLength(1);
    const brief = await asked(await person('tim@example.test'), 'crew', {
      until: toTimestamp(Date.now() + minute),
    });
    await decide(operator, brief, 'approve').is(200);
    clock.own();
    clock.advance(2 * minute);
    const next = await asked(await person('una@example.test'), 'crew');
    clock.release();
    await decide(operator, next, 'approve').is(200);
    clock.own();
    clock.advance(2 * minute);
    expect((await temporary('crew')).map((one: any) => one.email)).toContain('una@example.test');
  });

  test.each(['approve', 'deny'] as const)(
    'a request of a disabled account is not decided: %s',
    async (action) => {
      const tab = await person(`off-${action}@example.test`);
      const name = await asked(tab, 'crew');
      const account = (await tab.get('accounts/~').is(200)).body.metadata.name;
      await operator.post(`accounts/${account}/disable`, { spec: {} }).is(200);
      await decide(operator, name, action).fails(409, 'Conflict');
      expect((await temporary('crew')).map((one: any) => one.email)).not.toContain(
        `off-${action}@example.test`,
      );
      await operator.post(`accounts/${account}/enable`, { spec: {} }).is(200);
      await decide(operator, name, action).is(200);
    },
  );

  test('an approval leaves members that GitOps listed, also when their time is over', async () => {
    const listed = [
      { email: 'listed@example.test', until: toTimestamp(Date.now() - day), reason: 'Was here.' },
      { email: 'stays@example.test', until: toTimestamp(Date.now() + day) },
    ];
    const spec = { displayName: 'Fleet', members: [], temporaryMembers: listed };
    await operator.post('groups', { metadata: { name: 'fleet' }, spec }).is(201);
    const name = await asked(await person('yan@example.test'), 'fleet');
    await decide(operator, name, 'approve').is(200);
    expect(await temporary('fleet')).toMatchObject([...listed, { email: 'yan@example.test' }]);
  });

  test('people see their own requests only, and make a limited number of them a day', async () => {
    const [tab, eve] = [await person('vic@example.test'), await person('wes@example.test')];
    const name = await asked(tab, 'crew');
    await eve.get(`accessrequests/${name}`).fails(404, 'NotFound');
    await eve.delete(`accessrequests/${name}`).fails(404, 'NotFound');
    expect((await eve.get('accessrequests').is(200)).body.items).toEqual([]);
    await service.tab().post('accessrequests', { spec: {} }).fails(401, 'Unauthorized');
  });
});

test('requests of one account in a day are limited', async () => {
  const service = await startTest({
    flags: ['--limits-access-requests-per-account-day', '2'],
  });
  await createClient(service, 'app');
  const { tab } = await signIn(service, 'ada@example.test');
  const ask = (group: string) =>
    tab.post('accessrequests', {
      spec: { group, reason: 'Why.', until: toTimestamp(Date.now() + day) },
    });
  await ask('a').is(201);
  await ask('b').is(201);
  await ask('c').fails(429, 'TooManyRequests');
});
