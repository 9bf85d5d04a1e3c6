import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Session } from '../../../kinds/people/session/session.js';
import { Stream } from '../../support/network/stream.js';
import { begin, mailTo, redeem, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const flags = ['--operators', 'op@example.test', '--limit-factor', '1000'];

/** The service, its operator, and a function that adds rules to the first policy. */
async function startWithOperator(store: (typeof stores)[number]) {
  const service = await startTest({ store, flags });
  await createClient(service, 'app');
  const operator = (await signIn(service, 'op@example.test')).tab;
  const first = (await operator.get('policies/p-1').is(200)).body.spec.cedar as string;
  const addRules = (rules: string) =>
    operator.post('policies', { spec: { cedar: `${first}\n${rules}` } }).is(201);
  const createGroup = (name: string, members: readonly string[]) =>
    operator.post('groups', { metadata: { name }, spec: { displayName: name, members } }).is(201);
  return { service, operator, addRules, createGroup };
}

const spec = (groups?: readonly string[]) => ({
  displayName: 'An app',
  type: 'Public',
  redirectURIs: ['https://app.example.test/callback'],
  ...(groups && { groups }),
});

const names = (body: { items: { metadata: { name: string } }[] }): string[] =>
  body.items.map(({ metadata }) => metadata.name).sort();

/** The recipe of docs/how-to/policies.md. */
const delegation = `
@id("teams-manage-their-apps") @message("Members of a group manage its apps.")
permit (principal is Account, action in [Action::"read", Action::"write"], resource is Client)
when { resource == Client::"*" || resource.groups.containsAny(principal.groups) };
`;

describe.each(stores)('delegated administration, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let ada: Tab;
  beforeAll(async () => {
    const started = await startWithOperator(store);
    ({ service, operator } = started);
    await started.createGroup('team-a', ['ada@example.test']);
    await started.createGroup('team-b', ['bob@example.test']);
    await started.addRules(delegation);
    for (const [name, groups] of [
      ['a', ['team-a']],
      ['b', ['team-b']],
      ['both', ['team-a', 'team-b']],
      ['none', undefined],
    ] as const) {
      await operator.post('clients', { metadata: { name }, spec: spec(groups) }).is(201);
    }
    ada = (await signIn(service, 'ada@example.test')).tab;
  });

  test('a member sees the Clients of their group, and no other exists for them', async () => {
    expect(names((await ada.get('clients').is(200)).body)).toEqual(['a', 'both']);
    expect(names((await ada.get('clients?limit=1').is(200)).body)).toEqual(['a']);
    await ada.get('clients/a').is(200);
    await ada.get('clients/b').fails(404, 'NotFound');
    await ada.patch('clients/none', { spec: { displayName: 'Mine' } }).fails(404, 'NotFound');
    await ada.delete('clients/b').fails(404, 'NotFound');
  });

  test('a member changes, creates and deletes them', async () => {
    const changed = await ada.patch('clients/a', { spec: { displayName: 'Better' } }).is(200);
    expect(changed.body.spec.displayName).toBe('Better');
    await ada.post('clients', { metadata: { name: 'new' }, spec: spec(['team-a']) }).is(201);
    await ada.delete('clients/new').is(200);
  });

  test.each([
    ['of another group', ['team-b']],
    ['of no group', undefined],
  ])('a member creates no Client %s', async (_, groups) => {
    const { message } = await ada
      .post('clients', { metadata: { name: 'other' }, spec: spec(groups) })
      .fails(403, 'Forbidden');
    expect(message).toContain('"other"');
    await operator.get('clients/other').fails(404, 'NotFound');
  });

  test('a member does not move a Client to another group, by patch or update', async () => {
    const { body } = await ada.get('clients/a').is(200);
    await ada.patch('clients/a', { spec: { groups: ['team-b'] } }).fails(403, 'Forbidden');
    await ada
      .put('clients/a', { ...body, spec: { ...body.spec, groups: ['team-b'] } })
      .fails(403, 'Forbidden');
    expect((await operator.get('clients/a').is(200)).body.spec.groups).toEqual(['team-a']);
  });

  test('a watch shows what enters and leaves their groups, and nothing else', async () => {
    const stream = new Stream(ada, 'clients?watch=true&resourceVersion=0');
    await operator.patch('clients/none', { spec: { groups: ['team-a'] } }).is(200);
    await operator.patch('clients/b', { spec: { displayName: 'B' } }).is(200);
    await operator.patch('clients/none', { spec: { groups: [] } }).is(200);
    await operator.patch('clients/a', { spec: { displayName: 'A' } }).is(200);
    await stream.until(({ events }) =>
      events.some((event) => event.object.spec?.displayName === 'A'),
    );
    const seen = stream.events
      .filter(({ object }) => ['none', 'b'].includes(object.metadata.name))
      .map(({ type, object }) => `${type} ${object.metadata.name}`);
    expect(seen).toEqual(['ADDED none', 'DELETED none']);
    stream.close();
  });

  test('who leaves the group loses it at once', async () => {
    const eve = (await signIn(service, 'eve@example.test')).tab;
    await operator
      .patch('groups/team-b', { spec: { members: ['bob@example.test', 'eve@example.test'] } })
      .is(200);
    expect(names((await eve.get('clients').is(200)).body)).toContain('b');
    await operator.patch('groups/team-b', { spec: { members: ['bob@example.test'] } }).is(200);
    expect(names((await eve.get('clients').is(200)).body)).toEqual([]);
  });
});

describe.each(stores)('facts about the owner of an object, on %s', (store) => {
  let service: TestService;
  let helper: Tab;
  let ada: Tab;
  let session: string;
  let operatorSession: string;
  let operator: Tab;
  beforeAll(async () => {
    const started = await startWithOperator(store);
    ({ service, operator } = started);
    await started.createGroup('helpdesk', ['helper@example.test']);
    await started.addRules(`
@id("helpdesk") @message("The help desk looks after people, not operators.")
permit (principal in Group::"helpdesk", action in [Action::"read", Action::"delete"], resource is Session);
@id("not-of-operators") @message("No one touches the sessions of operators.")
forbid (principal in Group::"helpdesk", action, resource is Session)
when { resource.owner in Group::"operators" };
@id("not-of-other-domains") @message("Not theirs.")
forbid (principal in Group::"helpdesk", action, resource is Session)
when { resource.owner.emailDomain == "other.test" || resource.owner.passkeys > 0 };
@id("not-of-newcomers") @message("Not of accounts from the future.")
forbid (principal in Group::"helpdesk", action, resource is Session)
when { resource.owner.created > context.now };
`);
    ada = (await signIn(service, 'ada@example.test')).tab;
    await signIn(service, 'bob@other.test');
    session = (await ada.get('sessions/~').is(200)).body.metadata.name;
    operatorSession = (await started.operator.get('sessions/~').is(200)).body.metadata.name;
    helper = (await signIn(service, 'helper@example.test')).tab;
  });

  test('decide what is listed, watched and read', async () => {
    const own = (await helper.get('sessions/~').is(200)).body.metadata.name;
    expect(names((await helper.get('sessions').is(200)).body)).toEqual([own, session].sort());
    await helper.get(`sessions/${session}`).is(200);
    await helper.get(`sessions/${operatorSession}`).fails(404, 'NotFound');
    const stream = new Stream(helper, 'sessions?watch=true&resourceVersion=0');
    await stream.until(({ events }) => events.length >= 2);
    expect(stream.events.map(({ object }) => object.metadata.name).sort()).toEqual(
      [own, session].sort(),
    );
    stream.close();
  });

  test('decide what is listed of accounts that this replica does not know yet', async () => {
    const all = names((await helper.get('sessions').is(200)).body);
    const other = (await service.replica()).tab();
    other.cookies = helper.cookies;
    expect(names((await other.get('sessions').is(200)).body)).toEqual(all);
  });

  test('decide what a watch shows of accounts that this replica does not know yet', async () => {
    const all = names((await helper.get('sessions').is(200)).body);
    const replica = await service.replica();
    const other = replica.tab();
    other.cookies = helper.cookies;
    const stream = new Stream(other, 'sessions?watch=true&resourceVersion=0');
    await stream.until(({ events }) => events.length >= all.length);
    const { tab } = await signIn(service, 'late@example.test');
    const late = (await tab.get('sessions/~').is(200)).body.metadata.name;
    await stream.until(({ events }) => events.length > all.length);
    expect([...new Set(stream.events.map(({ object }) => object.metadata.name))]).toEqual([
      ...all,
      late,
    ]);
    stream.close();
    await tab.delete('sessions/~').is(200);
  });

  test('decide what a watch of one object shows when the facts change', async () => {
    const replica = await service.replica();
    const other = replica.tab();
    other.cookies = helper.cookies;
    const asOperator = replica.tab();
    asOperator.cookies = operator.cookies;
    const [stream, witness] = [other, asOperator].map(
      (tab) =>
        new Stream(
          tab,
          `sessions?watch=true&resourceVersion=0&fieldSelector=metadata.name=${session}`,
        ),
    ) as [Stream, Stream];
    const label = async (changed: string, seenBy: Stream) => {
      await service.store.change(service.store.systemCall(), (tx) =>
        tx.update(Session, session, ({ metadata }) => {
          metadata.labels = { changed };
        }),
      );
      await seenBy.until(
        ({ events }) => events.at(-1)?.object.metadata.labels?.changed === changed,
      );
    };
    await Promise.all(
      [stream, witness].map((one) => one.until(({ events }) => events.length === 1)),
    );
    const members = ['op@example.test', 'ada@example.test'];
    const group = { metadata: { name: 'operators' }, spec: { displayName: 'Operators', members } };
    await operator.post('groups', group).is(201);
    for (let code = 0; code !== 404; ) ({ code } = await other.get(`sessions/${session}`));
    await label('hidden', witness);
    await operator.delete('groups/operators').is(200);
    for (let code = 0; code !== 200; ) ({ code } = await other.get(`sessions/${session}`));
    await label('shown', stream);
    expect(stream.events.map(({ object }) => object.metadata.labels?.changed)).toEqual([
      undefined,
      'shown',
    ]);
    stream.close();
    witness.close();
  });

  test('decide what is deleted', async () => {
    await helper.delete(`sessions/${operatorSession}`).fails(404, 'NotFound');
    await helper.delete(`sessions/${session}`).is(200);
    await ada.get('accounts/~').is(401);
  });
});

describe.each(stores)('facts about a sign-in, on %s', (store) => {
  let service: TestService;
  let addRules: Awaited<ReturnType<typeof startWithOperator>>['addRules'];
  beforeAll(async () => {
    ({ service, addRules } = await startWithOperator(store));
    await createClient(service, 'partner', { homepageURI: 'https://shop.partner.test/' });
  });

  /** What a sign-in by mail is answered. */
  const attempt = async (address: string, options: Parameters<typeof begin>[1] = {}) => {
    const { tab, I } = await begin(service, options);
    await tab.post(`${I}/emailchallenge`, { spec: { email: address } }).is(200);
    const { code } = await mailTo(service, address, [], (status) => status.code !== undefined);
    await service.tab().delete('mockmessages').is(200);
    return tab.post(`${I}/login`, { spec: { method: 'EmailCode', code } });
  };

  test.each([
    ['the host of the Client', 'resource.host like "*.partner.test"', { client: 'partner' }, {}],
    [
      'the scopes that it requests',
      'context.scopesRequested.contains("profile")',
      { scope: 'openid profile' },
      {},
    ],
    [
      'the acr that it requests',
      'context.acrRequested == "urn:vestibule:acr:email"',
      { parameters: { acr_values: 'urn:vestibule:acr:email phr' } },
      {},
    ],
    ['the network', 'context has network && context.network.isLoopback()', {}, undefined],
    [
      'the time of day and the weekday',
      'context.timeOfDay < duration("24h") && context.weekday like "*day"',
      {},
      undefined,
    ],
  ])('%s', async (_, condition, refusedOptions, permittedOptions) => {
    await addRules(
      `@id("no") @message("Not like this.") forbid (principal, action == Action::"signIn", resource) when { !(principal in Group::"operators") && ${condition} };`,
    );
    const { code, body } = await attempt('ada@example.test', refusedOptions);
    expect([code, body.message]).toEqual([403, expect.stringContaining('Not like this.')]);
    if (permittedOptions) {
      expect((await attempt('ada@example.test', permittedOptions)).code).toBe(200);
    }
  });

  test('an app that renews tokens has no network of a person', async () => {
    await addRules('');
    const begun = await signIn(service, 'eva@example.test', {
      scope: 'openid offline_access',
      parameters: { prompt: 'consent' },
    });
    const { body: tokens } = await redeem(service, begun);
    await addRules(
      '@id("no") @message("Not from here.") forbid (principal, action == Action::"signIn", resource) when { !(principal in Group::"operators") && context has network };',
    );
    const refreshed = await service.tab().send('POST', '/oauth2/token', {
      plain: true,
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        refresh_token: tokens.refresh_token,
        client_id: 'app',
      }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(refreshed.code).toBe(200);
    expect((await attempt('eva@example.test')).code).toBe(403);
  });

  test('a browser that is new to the account', async () => {
    await addRules('');
    const known = await signIn(service, 'carl@known.test');
    await addRules(
      '@id("no") @message("Use a browser that you know.") forbid (principal, action == Action::"signIn", resource) when { context.newBrowser && principal.emailDomain == "known.test" };',
    );
    const again = { tab: known.tab, parameters: { prompt: 'login' } };
    expect((await attempt('carl@known.test', again)).code).toBe(200);
    expect((await attempt('carl@known.test')).code).toBe(403);
  });

  test('a sensitive scope is not shared with an app of others', async () => {
    await addRules(
      '@id("no") @message("Too much.") forbid (principal, action == Action::"share", resource) when { resource.provider == "vestibule" && resource == Scope::"email" && !context.client.firstParty };',
    );
    const { tab, I } = await begin(service, { scope: 'openid email' });
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'dora@example.test' } }).is(200);
    const { code } = await mailTo(service, 'dora@example.test');
    const { body } = await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code } }).is(200);
    const { headers } = await tab.navigate(body.status.returnTo).is(303);
    const consent = (await tab.get(headers.location!).is(200)).body.status.consent;
    expect(consent.scopes.find(({ name }: any) => name === 'email')).toMatchObject({
      allowed: false,
      reason: 'Too much.',
    });
  });
});
