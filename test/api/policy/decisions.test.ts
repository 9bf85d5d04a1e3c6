import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type DecisionObject, PolicyDecision } from '../../../kinds/policy/policy-decision.js';
import { prefixRange } from '../../../storage/storage.js';
import { settles } from '../../support/patience.js';
import { begin, mailTo, redeem, signIn, wrong } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const flags = ['--operators', 'op@example.test', '--limit-factor', '1000'];

const until = async <T>(find: () => Promise<T | undefined | false>): Promise<T> =>
  (await settles(find, Boolean)) as T;

const all = async (service: TestService): Promise<DecisionObject[]> =>
  (await service.store.reader(PolicyDecision).list()) as DecisionObject[];
const recorded = (
  service: TestService,
  wanted: (one: DecisionObject) => boolean,
): Promise<DecisionObject> => until(async () => (await all(service)).find(wanted));

describe.each(stores)('decisions, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let ada: Tab;
  let bob: Tab;
  const names = { ada: '', bob: '', operator: '' };
  beforeAll(async () => {
    service = await startTest({ quickDecisions: true, store, flags });
    await createClient(service, 'app');
    for (const [who, address] of [
      ['operator', 'op@example.test'],
      ['ada', 'ada@example.test'],
      ['bob', 'bob@example.test'],
    ] as const) {
      const { tab } = await signIn(service, address);
      names[who] = (await tab.get('accounts/~').is(200)).body.metadata.name;
      if (who === 'ada') {
        ada = tab;
      } else if (who === 'bob') {
        bob = tab;
      } else {
        operator = tab;
      }
    }
  });

  test('a change is committed with its decision, and one that changes nothing with none', async () => {
    const { body } = await ada.patch('accounts/~', { spec: { displayName: 'Ada' } }).is(200);
    const patches = (await all(service)).filter(({ spec }) => spec.action === 'patch');
    expect(patches).toHaveLength(1);
    expect(patches[0]!.metadata.resourceVersion).toBe(body.metadata.resourceVersion);
    expect(patches[0]).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'Account', name: names.ada, uid: body.metadata.uid }] },
      spec: {
        account: names.ada,
        principal: `Account::"${names.ada}"`,
        action: 'patch',
        resource: { kind: 'Account', name: names.ada },
        policy: 'p-1',
        input: { facts: { site: 'same-origin', domain: 'example.test', methods: ['EmailCode'] } },
      },
      status: {
        allowed: true,
        reasons: [{ rule: 'own-account', message: 'You may see and change your own account.' }],
        count: 1,
      },
    });
    await ada.patch('accounts/~', { spec: { displayName: 'Ada' } }).is(200);
    await ada.patch('accounts/~?dryRun=All', { spec: { displayName: 'No one' } }).is(200);
    await ada.patch('accounts/~', { spec: { displayName: '' } }).fails(422, 'Invalid');
    expect((await all(service)).filter(({ spec }) => spec.action === 'patch')).toHaveLength(1);
  });

  test('a refusal is named in the answer and recorded by itself; a 404 names none', async () => {
    const { details, message } = await ada
      .post('policies', { spec: { cedar: 'x' } })
      .fails(403, 'Forbidden');
    expect(message).toBe(
      `policies.id.vestibule.org is forbidden: User "${names.ada}" cannot create resource "policies" in API group "id.vestibule.org" at the cluster scope: No rule permits it. It would be permitted in group operators.`,
    );
    const one = await recorded(
      service,
      ({ metadata }) => metadata.name === details!.policyDecision,
    );
    expect(one).toMatchObject({
      spec: { account: names.ada, action: 'create', resource: { kind: 'Policy' } },
      status: { allowed: false, reasons: [{ rule: 'default', message: 'No rule permits it.' }] },
    });
    expect((await ada.get(`policydecisions/${one.metadata.name}`).is(200)).body.spec.action).toBe(
      'create',
    );
    const hidden = await ada.get(`accounts/${names.bob}`).fails(404, 'NotFound');
    expect(hidden.details).toEqual({
      name: names.bob,
      group: 'id.vestibule.org',
      kind: 'accounts',
    });
    const [of, absent] = [
      await recorded(service, ({ spec }) => spec.resource?.name === names.bob),
      'zzzzzzzzzzzzzzzzzzzz',
    ];
    await ada.get(`accounts/${absent}`).fails(404, 'NotFound');
    const other = await recorded(service, ({ spec }) => spec.resource?.name === absent);
    const shown = ({ spec, status }: DecisionObject): string =>
      JSON.stringify([spec, status.reasons]).replaceAll(names.bob, absent);
    expect(shown(of)).toBe(shown(other));
  });

  test('reads are counted in one object', async () => {
    for (let i = 0; i < 7; i += 1) await bob.get('accounts/~').is(200);
    const one = await recorded(
      service,
      ({ spec, status }) =>
        spec.account === names.bob &&
        spec.action === 'get' &&
        spec.resource?.kind === 'Account' &&
        status.count >= 7,
    );
    expect(one.spec.resource).toEqual({ kind: 'Account' });
    expect(
      (await all(service)).filter(
        ({ spec }) =>
          spec.account === names.bob && spec.action === 'get' && spec.resource?.kind === 'Account',
      ),
    ).toHaveLength(1);
  });

  test('what Visitors are refused is counted in one object, which operators alone read', async () => {
    for (const path of ['clients', 'clients/app', 'clients/none']) {
      await service.tab().get(path).fails(401, 'Unauthorized');
    }
    const one = await recorded(
      service,
      ({ spec, status }) =>
        spec.principal === 'Anonymous' && spec.action === 'get' && status.count === 2,
    );
    expect(one.spec).not.toHaveProperty('account');
    await operator.get(`policydecisions/${one.metadata.name}`).is(200);
    await ada.get(`policydecisions/${one.metadata.name}`).fails(404, 'NotFound');
    expect(
      (await all(service)).filter(
        ({ spec }) => spec.principal === 'Anonymous' && spec.action === 'get',
      ),
    ).toHaveLength(1);
  });

  test('a list has the series first, then the newest first, page after page', async () => {
    await operator.patch('clients/app', { spec: { displayName: 'Once more' } }).is(200);
    const whole = (
      await operator.get(`policydecisions?fieldSelector=spec.account%3D${names.operator}`).is(200)
    ).body.items as DecisionObject[];
    const isSeries = ({ metadata }: DecisionObject): boolean =>
      metadata.name.startsWith(`${names.operator}-0`);
    const singles = whole.filter((one) => !isSeries(one));
    expect(whole).toEqual([...whole.filter(isSeries), ...singles]);
    expect(singles[0]!.spec.action).toBe('patch');
    expect(singles.map(({ status }) => status.firstTimestamp)).toEqual(
      singles
        .map(({ status }) => status.firstTimestamp)
        .sort()
        .reverse(),
    );
    expect(new Set(singles.map(({ metadata }) => metadata.name.length))).toEqual(new Set([42]));
    const paged: string[] = [];
    for (let next: string | undefined = ''; next !== undefined; ) {
      const { body } = await operator
        .get(
          `policydecisions?fieldSelector=spec.account%3D${names.operator}&limit=2&continue=${encodeURIComponent(next)}`,
        )
        .is(200);
      paged.push(...body.items.map(({ metadata }: DecisionObject) => metadata.name));
      next = body.metadata.continue as string | undefined;
    }
    expect(paged.filter((name) => singles.some(({ metadata }) => metadata.name === name))).toEqual(
      singles.map(({ metadata }) => metadata.name),
    );
  });

  test('people read those about them alone', async () => {
    const mine = (await ada.get('policydecisions').is(200)).body.items;
    expect(mine.length).toBeGreaterThan(3);
    expect(
      mine.every(
        (one: any) =>
          one.spec.account === names.ada && one.metadata.name.startsWith(`${names.ada}-`),
      ),
    ).toBe(true);
    const others = (
      await operator.get(`policydecisions?fieldSelector=spec.account%3D${names.bob}`).is(200)
    ).body.items;
    expect(others.length).toBeGreaterThan(0);
    for (const { metadata } of others) {
      await ada.get(`policydecisions/${metadata.name}`).fails(404, 'NotFound');
    }
    expect(
      (
        await ada
          .get(`policydecisions?fieldSelector=metadata.name%3D${others[0].metadata.name}`)
          .is(200)
      ).body.items,
    ).toEqual([]);
    await ada
      .get(`policydecisions?fieldSelector=spec.account%3D${names.bob}`)
      .fails(403, 'Forbidden');
  });

  test('a sign-in leaves those it went through, and none of its secrets or addresses', async () => {
    const { tab, I, verifier, client } = await begin(service, { scope: 'openid email profile' });
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'eve.secret@example.test' } }).is(200);
    const mail = await mailTo(service, 'eve.secret@example.test');
    await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code: wrong(mail.code) } }).is(422);
    const { body } = await tab
      .post(`${I}/login`, { spec: { method: 'EmailCode', code: mail.code } })
      .is(200);
    const at = (await tab.navigate(body.status.returnTo).is(303)).headers.location!;
    for (let i = 0; i < 2; i += 1) await tab.get(at).is(200);
    const agreed = await tab
      .post(`${at}/consent`, { spec: { scopes: ['openid', 'email', 'profile'] } })
      .is(200);
    const callback = new URL(
      (await tab.navigate(agreed.body.status.returnTo).is(303)).headers.location!,
    );
    const tokens = await redeem(service, { tab, I, name: '', verifier, client, callback } as never);
    await service
      .tab()
      .get('/oauth2/userinfo', {
        plain: true,
        headers: { authorization: `Bearer ${tokens.body.access_token}` },
      })
      .is(200);
    const name = body.status.account.name as string;
    const about = await until(async () => {
      const found = (await all(service)).filter(({ spec }) => spec.account === name);
      return found.some(({ spec, status }) => spec.action === 'share' && status.count > 1) && found;
    });
    expect(about.map(({ spec }) => spec.action)).toEqual(
      expect.arrayContaining(['signUp', 'signIn', 'interactions/consent', 'share']),
    );
    expect(
      about.filter(({ spec }) => ['signUp', 'interactions/consent'].includes(spec.action)),
    ).toHaveLength(2);
    expect(
      new Set(about.filter(({ spec }) => spec.action === 'share').map(({ spec }) => spec.scope)),
    ).toEqual(new Set(['openid', 'email', 'profile']));
    const grant = (await tab.get('grants').is(200)).body.items[0];
    expect(
      (await tab.get(`policydecisions/${grant.status.policyDecision}`).is(200)).body.spec.action,
    ).toBe('interactions/consent');
    const cookies = tab.cookies.map(({ value }) => value);
    const dump = (await service.storage.list(prefixRange('objects/policydecisions/'))).entries
      .map(({ key, value }) => key + value.toString('latin1'))
      .join('\n');
    for (const secret of [
      mail.code,
      mail.token,
      ...cookies,
      tokens.body.access_token,
      tokens.body.id_token,
      callback.searchParams.get('code')!,
      'eve.secret',
      '127.0.0.1',
      '@example.test',
    ]) {
      expect(dump.includes(secret)).toBe(false);
    }
  });

  test('a flood of refusals goes on in one object', async () => {
    for (let i = 0; i < 80; i += 1) await bob.get(`clients/none-${i}`).fails(404, 'NotFound');
    const isFlood = ({ spec }: DecisionObject): boolean =>
      spec.account === names.bob && spec.resource?.kind === 'Client' && spec.action === 'get';
    const one = await recorded(service, (each) => isFlood(each) && each.status.count > 1);
    expect(one.status.allowed).toBe(false);
    const count = async (): Promise<number> =>
      (await all(service)).filter(isFlood).reduce((sum, { status }) => sum + status.count, 0);
    expect(await settles(count, (sum) => sum >= 80)).toBe(80);
  });

  test('a flood of changes goes on in one object, which is no part of their commits', async () => {
    const { tab } = await signIn(service, 'flood@example.test');
    const { name } = (await tab.get('accounts/~').is(200)).body.metadata;
    const patches = async (): Promise<DecisionObject[]> =>
      (await all(service)).filter(({ spec }) => spec.account === name && spec.action === 'patch');
    const before = 5; // signUp, signIn, and consent with its two scopes
    const apart = 120 - before;
    for (let i = 0; i < apart; i += 1) {
      await tab.patch('accounts/~', { spec: { displayName: `Flood ${i}` } }).is(200);
    }
    expect((await patches()).map(({ status }) => status.count)).toEqual(
      Array.from({ length: apart }, () => 1),
    );
    const { body } = await tab.patch('accounts/~', { spec: { displayName: 'Over' } }).is(200);
    const written = await patches();
    expect(written.map(({ metadata }) => metadata.resourceVersion)).not.toContain(
      body.metadata.resourceVersion,
    );
    const series = await recorded(
      service,
      ({ metadata, spec }) =>
        spec.account === name &&
        spec.action === 'patch' &&
        !written.some((each) => each.metadata.name === metadata.name),
    );
    expect(series).toMatchObject({
      metadata: { ownerReferences: [{ kind: 'Account', name }] },
      spec: { account: name, principal: `Account::"${name}"`, resource: { kind: 'Account' } },
      status: { allowed: true, count: 1 },
    });
    expect(series.spec.resource).not.toHaveProperty('name');
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        tab.patch('accounts/~', { spec: { displayName: `At once ${i}` } }).is(200),
      ),
    );
    await tab.patch('accounts/~?dryRun=All', { spec: { displayName: 'No one' } }).is(200);
    await tab.patch('accounts/~', { spec: { displayName: '' } }).fails(422, 'Invalid');
    await recorded(
      service,
      ({ metadata, status }) => metadata.name === series.metadata.name && status.count === 21,
    );
    expect(
      (await patches()).map(({ status }) => status.count).filter((count) => count > 1),
    ).toEqual([21]);
    expect(await patches()).toHaveLength(apart + 1);
    expect(
      (await tab.get(`policydecisions/${series.metadata.name}`).is(200)).body.status.count,
    ).toBe(21);
    expect(
      (await bob.patch('accounts/~', { spec: { displayName: 'Bob' } }).is(200)).body.spec
        .displayName,
    ).toBe('Bob');
    expect(
      (await all(service)).filter(
        ({ spec, status }) =>
          spec.account === names.bob && spec.action === 'patch' && status.count === 1,
      ),
    ).toHaveLength(1);
  });

  test('what browsers change before anyone is known is counted in one object', async () => {
    const service = await startTest({ quickDecisions: true, store, flags });
    await createClient(service, 'app');
    const ofChallenges = async (): Promise<DecisionObject[]> =>
      (await all(service)).filter(({ spec }) => spec.action === 'interactions/emailchallenge');
    const count = async (): Promise<number> =>
      (await ofChallenges()).reduce((sum, { status }) => sum + status.count, 0);
    const begun = await Promise.all(
      ['one', 'two', 'three'].map(async (who) => ({ who, ...(await begin(service)) })),
    );
    for (const { tab, I, who } of begun) {
      await tab.post(`${I}/emailchallenge`, { spec: { email: `${who}@example.test` } }).is(200);
    }
    await service.tab().delete('mockmessages').is(200);
    await until(async () => (await count()) === 3);
    expect((await ofChallenges()).map(({ spec }) => [spec.principal, spec.account])).toEqual([
      ['Browser', undefined],
    ]);
  });
});

test('changes of what people own are counted by network, before they are read', async () => {
  const service = await startTest({ quickDecisions: true });
  await createClient(service, 'app');
  const { tab } = await signIn(service, 'often@example.test');
  const answers: number[] = [];
  while (answers.at(-1) !== 429 && answers.length < 241) {
    answers.push((await tab.patch('accounts/~', '{')).code);
  }
  expect([...new Set(answers)]).toEqual([400, 429]);
  await tab.patch('grants/none', { spec: { scopes: [] } }).fails(404, 'NotFound');
  const grant = (await tab.get('grants').is(200)).body.items[0].metadata.name;
  const { details } = await tab
    .patch(`grants/${grant}`, { spec: {} })
    .fails(429, 'TooManyRequests');
  expect(details!.retryAfterSeconds).toBeGreaterThan(0);
});
