import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { DecisionObject } from '../../../kinds/policy/policy-decision.js';
import { prefixRange } from '../../../storage/storage.js';
import { settles, until } from '../../support/patience.js';
import { begin, mailTo, redeem, signIn, wrong } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const firefox = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0',
};
const flags = [
  ['--operators', 'op@example.test'],
  ['--limit-factor', '1000'],
  ['--limits-decisions-per-account', '100'],
].flat();

describe.each(stores)('activity, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let ada: Awaited<ReturnType<typeof signIn>>;
  let account: string;
  beforeAll(async () => {
    service = await startTest({ quickDecisions: true, store, flags });
    for (const name of ['app', 'board']) await createClient(service, name);
    operator = (await signIn(service, 'op@example.test')).tab;
    ada = await signIn(service, 'ada@example.test', {
      tab: Object.assign(service.tab(), { headers: firefox }),
    });
    account = (await ada.tab.get('accounts/~').is(200)).body.metadata.name;
  });

  const page = async (query: Record<string, string>, tab = operator): Promise<any> =>
    (await tab.get(`policydecisions?${new URLSearchParams({ limit: '50', ...query })}`).is(200))
      .body;
  const found = async (fieldSelector: string, tab = operator): Promise<DecisionObject[]> =>
    (await page({ fieldSelector }, tab)).items;
  const newestFirst = async (fieldSelector?: string): Promise<DecisionObject[]> =>
    (await page({ orderBy: 'status.lastTimestamp', ...(fieldSelector && { fieldSelector }) }))
      .items;
  const eventually = (selector: string, tab = operator): Promise<DecisionObject[]> =>
    settles(
      () => found(selector, tab),
      (items) => items.length > 0,
    );
  const tryWrongCode = async (address: string, client = 'app', count = 1) => {
    const { tab, I } = await begin(service, {
      tab: Object.assign(service.tab(), { headers: firefox }),
      client,
    });
    await tab.post(`${I}/emailchallenge`, { spec: { email: address } }).is(200);
    const { code } = await mailTo(service, address, [], (status) => status.code !== undefined);
    for (let i = 0; i < count; i += 1) {
      const spec = { method: 'EmailCode', code: wrong(code) };
      await tab.post(`${I}/login`, { spec }).fails(422, 'Invalid');
    }
  };

  test('has who signed in: method, app, network, browser and Audit-ID', async () => {
    const signIns = await found(`spec.account=${account},spec.action=signIn,spec.client=app`);
    const single = signIns.find(({ metadata: { name } }) => !name.includes('-0'))!;
    expect(single).toMatchObject({
      spec: { account, resource: { name: 'app' }, input: { facts: { methods: ['EmailCode'] } } },
      status: {
        allowed: true,
        request: { network: '127.0.0.1', program: 'Firefox on Linux', auditID: expect.any(String) },
      },
    });
    const { auditID, network } = single.status.request!;
    const names = async (selector: string) =>
      (await found(selector)).map(({ metadata: { name } }) => name);
    expect(await names(`status.request.auditID=${auditID}`)).toContain(single.metadata.name);
    const here = `status.request.network=${network},spec.account=${account}`;
    expect(await names(here)).toContain(single.metadata.name);
    expect(await names('status.request.network=192.0.2.1')).toEqual([]);
  });

  test('has attempts that failed, one record an hour for an account', async () => {
    await tryWrongCode('ada@example.test', 'board', 2);
    await tryWrongCode('ada@example.test', 'app');
    const isWrong = `spec.account=${account},status.outcome=Wrong`;
    const wrongOnes = await settles(
      () => found(isWrong),
      (items) => items.reduce((sum, { status }) => sum + status.count, 0) === 3,
    );
    expect(wrongOnes.length).toBeLessThanOrEqual(2); // The hour may end in between.
    expect(wrongOnes[0]).toMatchObject({
      spec: { account, action: 'signIn', resource: { kind: 'Client', name: 'board' } },
      status: { request: { program: 'Firefox on Linux', network: '127.0.0.1' } },
    });
    expect((await found('status.outcome=Wrong', ada.tab)).length).toBe(wrongOnes.length);
    const { tab: eve } = await signIn(service, 'eve@example.test');
    expect(await found('status.outcome=Wrong', eve)).toEqual([]);
  });

  test('is found by any of the rules that decided', async () => {
    const rulesOf = ({ status }: DecisionObject) => status.reasons.map(({ rule }) => rule);
    const [one] = await eventually(`spec.account=${account},spec.action=signIn`);
    const [rule] = rulesOf(one!);
    const selector = `spec.account=${account},status.reasons.rule`;
    const [some, others] = await Promise.all([
      found(`${selector}=${rule}`),
      found(`${selector}!=${rule}`),
    ]);
    expect(some.map(({ metadata }) => metadata.name)).toContain(one!.metadata.name);
    expect(some.every((decision) => rulesOf(decision).includes(rule!))).toBe(true);
    expect(others.some((decision) => rulesOf(decision).includes(rule!))).toBe(false);
    await operator.get('policydecisions?fieldSelector=status.reasons.rule%3Dnone').is(200);
  });

  test('has an attempt at an unknown address without an account', async () => {
    await tryWrongCode('nemo@example.test');
    const [unknown] = await settles(
      async () => (await found('status.outcome=Wrong')).filter(({ spec }) => !spec.account),
      (items) => items.length > 0,
    );
    expect(JSON.stringify(unknown)).not.toMatch(/nemo|example\.test/);
  });

  test('has a code that was redeemed twice, at the account it belongs to', async () => {
    const { tab } = ada;
    const again = await signIn(service, 'ada@example.test', { tab: service.tab() });
    expect((await redeem(service, again)).code).toBe(200);
    expect((await redeem(service, again)).code).toBe(400);
    const [reused] = await eventually('status.outcome=Reused', tab);
    expect(reused).toMatchObject({ spec: { account, client: 'app' } });
  });

  test('has what an operator changed, with their program', async () => {
    const asKubectl = { headers: { 'user-agent': 'kubectl/v1.34.0 (linux/amd64)' } };
    await operator.patch('clients/board', { spec: { displayName: 'Board' } }, asKubectl).is(200);
    const [change] = await found('spec.action=patch,spec.resource.name=board');
    expect(change).toMatchObject({
      spec: { resource: { kind: 'Client', name: 'board' } },
      status: { allowed: true, request: { program: 'kubectl/v1.34.0 (linux/amd64)' } },
    });
  });

  test('is listed newest first by operators, in pages, with selectors', async () => {
    const times = (await newestFirst()).map(({ status }) => status.lastTimestamp);
    expect(times.length).toBeGreaterThan(10);
    expect(times).toEqual([...times].sort().reverse());
    const first = await page({ orderBy: 'status.lastTimestamp', limit: '2' });
    const rest = { orderBy: 'status.lastTimestamp', continue: first.metadata.continue };
    const names = (await page(rest)).items.map(({ metadata }: DecisionObject) => metadata.name);
    expect(names).not.toContain(first.items[0].metadata.name);
    const failed = await newestFirst('status.outcome!=Done');
    expect(failed.length).toBeGreaterThan(1);
    expect(failed.every(({ status }) => !status.allowed || status.outcome)).toBe(true);
    const own = await newestFirst(`spec.account=${account}`);
    expect(new Set(own.map(({ spec }) => spec.account))).toEqual(new Set([account]));
    await ada.tab.get('policydecisions?orderBy=status.lastTimestamp').fails(400, 'BadRequest');
  });

  test('has one row in the order for each record, also after an update and an eviction', async () => {
    for (let i = 0; i < 120; i += 1) {
      await ada.tab.patch('accounts/~', { spec: { displayName: `Ada ${i}` } }).is(200);
    }
    const keys = async (prefix: string): Promise<string[]> =>
      (await service.storage.list(prefixRange(prefix))).entries.map(({ key }) => key);
    const nameOf = (key: string): string => key.split('/').at(-1)!;
    await until(async () => {
      const rows = await keys('index/policydecisions/status.lastTimestamp/');
      const objects = await keys('objects/policydecisions/');
      return JSON.stringify(rows.map(nameOf).sort()) === JSON.stringify(objects.map(nameOf).sort());
    });
    const own = await keys(`objects/policydecisions/${account}-`);
    expect(own.filter((key) => !key.includes('-0')).length).toBeLessThanOrEqual(100);
  });

  test('is in the export of a person, and goes with the account', async () => {
    const { tab } = await signIn(service, 'zoe@example.test');
    const { name } = (await tab.get('accounts/~').is(200)).body.metadata;
    const { items } = (await tab.get('accounts/~/export').is(200)).body;
    const decisions = items.filter(({ kind }: { kind: string }) => kind === 'PolicyDecision');
    expect(JSON.stringify(decisions)).toContain('"network":"127.0.0.1"');
    await tab.delete('accounts/~').is(200);
    const records = async () => (await found('')).filter(({ spec }) => spec.account === name);
    await until(async () => (await records()).length === 0);
  });
});
