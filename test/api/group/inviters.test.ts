import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Invitation } from '../../../kinds/access/invitation/invitation.js';
import { contextAttributes } from '../../../policy/model/context-attributes.js';
import { clock } from '../../support/clock.js';
import { until } from '../../support/patience.js';
import { mailTo, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

beforeAll(() => clock.own());
afterAll(async () => {
  await stopAll();
  clock.release();
});

const flags = ['--operators', 'op@example.test', '--limit-factor', '1000'];
const day = 86_400_000;
const inDays = (days: number): string => new Date(Date.now() + days * day).toISOString();

/** The recipes of docs/how-to/policies.md. */
const leadsInvite = `
@id("leads-invite") @message("Leads may invite readers.")
permit (principal in Group::"leads", action == Action::"create", resource is Invitation)
when { context.signedInRecently };
@id("leads-change-readers") @message("Leads may change the readers.")
permit (principal in Group::"leads", action == Action::"update", resource == Group::"readers")
when { context.signedInRecently };`;

const inAMinute = (): number => Date.now() + 60_000;
const msOfDay = (ms: number): number => ms % day;
const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** For each fact of a request, what holds when it invites; where it can, not a minute later. */
const conditions: Record<string, () => string> = {
  acrRequested: () => 'context.acrRequested == ""',
  assurance: () => 'context.assurance != "phr" && context.assurance != ""',
  client: () => '!(context has client)',
  domain: () => 'context.domain == "example.test"',
  invited: () => '!context.invited',
  metadataOnly: () => '!context.metadataOnly',
  method: () => '!(context has method)',
  methods: () => 'context.methods.contains("EmailCode")',
  network: () => 'context has network && context.network.isLoopback()',
  newBrowser: () => '!context.newBrowser',
  now: () => `context.now < datetime("${new Date(inAMinute()).toISOString()}")`,
  operatorsHavePasskeys: () => '!context.operatorsHavePasskeys',
  operatorsHaveFullPasskeys: () => '!context.operatorsHaveFullPasskeys',
  passkeys: () => 'context has passkeys && context.passkeys == 0',
  scopesRequested: () => 'context.scopesRequested.isEmpty()',
  signInAge: () => 'context has signInAge && context.signInAge < 60',
  signedInRecently: () => 'context.signedInRecently',
  site: () => 'context.site == "same-origin"',
  timeOfDay: () =>
    msOfDay(inAMinute()) < 60_000
      ? `context.timeOfDay >= duration("${msOfDay(Date.now())}ms")`
      : `context.timeOfDay < duration("${msOfDay(inAMinute())}ms")`,
  weekday: () => `context.weekday == "${weekdays[new Date().getUTCDay()]}"`,
};

describe.each(stores)('who invited, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let first: string;
  let count = 0;
  beforeAll(async () => {
    service = await startTest({ store, flags });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
    first = (await operator.get('policies/p-1').is(200)).body.spec.cedar;
    for (const name of ['leads', 'readers']) {
      await operator.post('groups', { metadata: { name }, spec: { displayName: name } }).is(201);
    }
  });

  const write = (rules: string) =>
    operator.post('policies', { spec: { cedar: `${first}\n${rules}` } }).is(201);
  const setLeads = (spec: object) => operator.patch('groups/leads', { spec }).is(200);
  const read = async (name: string) => (await operator.get(`invitations/${name}`).is(200)).body;
  const readers = async (): Promise<string[]> =>
    (await operator.get('groups/readers').is(200)).body.spec.members;

  /** A new lead who has invited a guest. */
  const invited = async (condition = 'context.signedInRecently') => {
    count += 1;
    const [lead, guest] = [`lead${count}@example.test`, `guest${count}@example.test`];
    await setLeads({ members: [lead] });
    await write(leadsInvite.replaceAll('context.signedInRecently', condition));
    const { tab } = await signIn(service, lead);
    const account = (await tab.get('accounts/~').is(200)).body.metadata.name as string;
    const { body } = await tab
      .post('invitations', {
        metadata: { generateName: 'i-' },
        spec: { email: guest, groups: ['readers'] },
      })
      .is(201);
    return { lead, guest, tab, account, invitation: body };
  };

  /** Every road on which a lead loses the right to invite. */
  const losses: Record<string, (of: Awaited<ReturnType<typeof invited>>) => PromiseLike<unknown>> =
    {
      'is taken out of the group': () => setLeads({ members: [] }),
      'is disabled': ({ account }) => operator.post(`accounts/${account}/disable`, { spec: {} }),
      'deletes the account': ({ tab }) => tab.delete('accounts/~').is(200),
      'changes to an address that the group does not list': async ({ tab, lead }) => {
        const email = `other-${lead}`;
        await tab.post('accounts/~/emailchallenge', { spec: { email } }).is(200);
        const { code } = await mailTo(service, email, [], (status) => status.code !== undefined);
        return tab.post('accounts/~/email', { spec: { code } }).is(200);
      },
      'is refused by a new policy that keeps leads from inviting': () => write(''),
      'is refused by a new policy about the group': () =>
        write(leadsInvite.replace('Group::"readers"', 'Group::"others"')),
      'has a group that was deleted': async () => {
        await operator.delete('groups/leads').is(200);
        const spec = { displayName: 'leads' };
        return operator.post('groups', { metadata: { name: 'leads' }, spec }).is(201);
      },
    };

  test.each(Object.keys(losses))('invites no one any more who %s', async (loss) => {
    const one = await invited();
    await losses[loss]!(one);
    await until(async () => (await read(one.invitation.metadata.name)).status.phase === 'Revoked');
    const guest = await signIn(service, one.guest);
    expect(await readers()).not.toContain(one.guest);
    expect((await read(one.invitation.metadata.name)).status).toMatchObject({
      phase: 'Revoked',
      conditions: [{ type: 'Accepted', status: 'False', reason: 'Revoked' }],
    });
    await setLeads({ members: [one.lead] });
    await write(leadsInvite);
    await signIn(service, one.guest, { tab: guest.tab, parameters: { prompt: 'login' } });
    expect(await readers()).not.toContain(one.guest);
  });

  test('a membership that is over ends what was invited by it', async () => {
    const one = await invited();
    const ends = new Date(Date.now() + 500).toISOString();
    await setLeads({ members: [], temporaryMembers: [{ email: one.lead, until: ends }] });
    await until(async () => (await read(one.invitation.metadata.name)).status.phase === 'Revoked');
    await setLeads({ members: [one.lead], temporaryMembers: [] });
  });

  test('stays pending while the policy cannot be applied', async () => {
    const one = await invited();
    const failing = `@id("sum") permit (principal is Account, action == Action::"create", resource is Invitation)
when { (principal.passkeys + 1) * 999999999999999 * 999999999999999 > 0 };`;
    await write(`${leadsInvite}\n${failing}`);
    await setLeads({ members: [one.lead, 'more@example.test'] });
    await signIn(service, one.guest);
    expect((await read(one.invitation.metadata.name)).status.phase).toBe('Pending');
    await write(leadsInvite);
  });

  test('stays pending over the start of another replica', async () => {
    const one = await invited();
    const replica = await service.replica();
    await replica.tab().get('policies').is(200);
    await setLeads({ members: [one.lead, 'another@example.test'] });
    await signIn(service, one.guest);
    expect(await readers()).toContain(one.guest);
    await replica.stop();
  });

  test('the invitation of one who lost the right lets no one sign up', async () => {
    const one = await invited();
    await write(`${leadsInvite}
@id("by-invitation") @message("Ask for an invitation.")
forbid (principal, action == Action::"signUp", resource)
unless { context.invited || principal in Group::"operators" };`);
    await setLeads({ members: [] });
    await expect(signIn(service, one.guest)).rejects.toThrow(/Ask for an invitation/);
    await setLeads({ members: [one.lead] });
  });

  test('invites while nothing changed, long after the sign-in', async () => {
    const one = await invited();
    await signIn(service, one.guest);
    expect(await readers()).toContain(one.guest);
  });

  test('is shown to operators, and to no one else', async () => {
    const one = await invited();
    expect(one.invitation.status).not.toHaveProperty('invitedBy');
    await write(
      `${leadsInvite}\npermit (principal in Group::"leads", action in Action::"read", resource is Invitation);`,
    );
    const { name } = one.invitation.metadata;
    for (const path of [`invitations/${name}`, 'invitations']) {
      expect((await one.tab.get(path).is(200)).bytes.toString()).not.toContain(one.account);
    }
    expect((await read(name)).status.invitedBy).toBe(one.account);
  });

  describe.each(Object.keys(conditions))('a rule about the fact %s', (fact) => {
    test('holds later for the request that invited', async () => {
      const one = await invited(conditions[fact]!());
      const spec = { email: `second-${one.guest}`, groups: ['readers'] };
      const second = await one.tab
        .post('invitations', { metadata: { generateName: 'i-' }, spec })
        .is(201);
      clock.advance(61_000);
      operator = (await signIn(service, 'op@example.test')).tab;
      await setLeads({ members: [one.lead, 'more@example.test'] });
      await signIn(service, one.guest);
      expect(await readers()).toContain(one.guest);
      await setLeads({ members: [] });
      const { name } = second.body.metadata;
      await until(async () => (await read(name)).status.phase === 'Revoked');
    });
  });

  test('the conditions are about every fact of a request', () => {
    expect(Object.keys(conditions).sort()).toEqual(Object.keys(contextAttributes).sort());
  });

  test.each([
    [['operators'], 6, 201],
    [['operators'], 8, 422],
    [['readers', 'operators'], 8, 422],
    [['readers'], 300, 201],
    [['readers'], 400, 422],
  ])('to %j for %d days is answered %d', async (groups, days, code) => {
    await operator.post('groups', {
      metadata: { name: 'operators' },
      spec: { displayName: 'Operators', members: ['op@example.test'] },
    });
    const email = `days${(count += 1)}@example.test`;
    const spec = { email, groups, until: inDays(days) };
    const answer = operator.post('invitations', { metadata: { generateName: 'i-' }, spec });
    if (code === 422) {
      await answer.fails(422, 'Invalid', 'spec.until');
    } else {
      await answer.is(201);
    }
  });

  test('from an older release lasts seven days at the most, to operators', async () => {
    const email = `older${(count += 1)}@example.test`;
    const name = `older${count}`;
    await operator.post('groups', {
      metadata: { name: 'operators' },
      spec: { displayName: 'Operators', members: ['op@example.test'] },
    });
    await service.store.change(service.store.systemCall(), (tx) =>
      tx.create(Invitation, {
        metadata: { name },
        spec: { email, groups: ['operators'], until: inDays(6) },
        status: { phase: 'Pending' },
        internal: undefined,
      }),
    );
    await service.store.change(service.store.systemCall(), (tx) =>
      tx.update(Invitation, name, ({ metadata, spec }) => {
        metadata.creationTimestamp = inDays(-8);
        spec.until = inDays(1);
      }),
    );
    expect((await read(name)).status.phase).toBe('Expired');
    await signIn(service, email);
    const { body } = await operator.get('groups/operators').is(200);
    expect(body.spec.members).not.toContain(email);
  });

  test('keeps nothing of who invited once it has ended', async () => {
    const one = await invited();
    const { name } = one.invitation.metadata;
    const stored = async () => (await service.store.stored(Invitation, name))!.object.internal;
    expect(await stored()).toMatchObject({ inviter: { network: expect.any(String) } });
    expect(JSON.stringify(await stored())).not.toContain('127.0.0.1');
    await signIn(service, one.guest);
    expect((await read(name)).status.phase).toBe('Accepted');
    expect(await stored()).toBeUndefined();
  });

  test('lasts seven days at the most by default, to operators', async () => {
    const spec = { email: `days${(count += 1)}@example.test`, groups: ['operators'] };
    const { body } = await operator
      .post('invitations', { metadata: { generateName: 'i-' }, spec })
      .is(201);
    expect(Date.parse(body.spec.until) - Date.now()).toBeLessThanOrEqual(7 * day);
  });
});

test('a longer invitationLifetime does not reach operators', async () => {
  const service = await startTest({ flags: [...flags, '--limits-invitation-lifetime', '720h'] });
  await createClient(service, 'app');
  const operator = (await signIn(service, 'op@example.test')).tab;
  await operator
    .post('groups', {
      metadata: { name: 'operators' },
      spec: { displayName: 'Operators', members: ['op@example.test'] },
    })
    .is(201);
  const spec = { email: 'next@example.test', groups: ['operators'] };
  const { body } = await operator.post('invitations', { metadata: { name: 'i' }, spec }).is(201);
  expect(Date.parse(body.spec.until) - Date.now()).toBeLessThanOrEqual(7 * day);
});
