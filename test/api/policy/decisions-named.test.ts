import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PolicyDecision } from '../../../kinds/policy/policy-decision.js';
import { settles } from '../../support/patience.js';
import { begin, mailTo, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

describe.each(stores)('beyond the recorded changes of an account, on %s', (store) => {
  let service: TestService;
  let tab: Tab;
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--limits-recorded-changes', '10', '--operators', 'op@example.test'],
    });
    await createClient(service, 'app');
    await createClient(service, 'bank');
    const operator = (await signIn(service, 'op@example.test')).tab;
    const { cedar } = (await operator.get('policies').is(200)).body.items[0].spec;
    const rule = 'forbid (principal, action == Action::"signIn", resource == Client::"bank");';
    await operator.post('policies', { spec: { cedar: `${cedar}\n${rule}` } }).is(201);
    ({ tab } = await signIn(service, 'ada@example.test'));
    for (let i = 0; i < 12; i += 1) {
      await tab.patch('accounts/~', { spec: { displayName: `Ada ${i}` } }).is(200);
    }
  });

  const consent = async (): Promise<string[]> => {
    const { I } = await begin(service, { tab, parameters: { prompt: 'consent' } });
    await tab.post(`${I}/consent`, { spec: { scopes: ['openid', 'email'] } }).is(200);
    const { status } = (await tab.get('grants').is(200)).body.items[0];
    return [
      status.policyDecision,
      ...status.shareDecisions.map((shareDecision: any) => shareDecision.policyDecision),
    ];
  };

  test('each decision that a consent names exists at once', async () => {
    for (const name of await consent()) await tab.get(`policydecisions/${name}`).is(200);
    for (const name of await consent()) await tab.get(`policydecisions/${name}`).is(200);
  });

  test('the decision that a refused sign-in names exists at once', async () => {
    const { tab: browser, I } = await begin(service, { client: 'bank' });
    await browser.post(`${I}/emailchallenge`, { spec: { email: 'ada@example.test' } }).is(200);
    const { code } = await mailTo(service, 'ada@example.test');
    const { body } = await browser
      .post(`${I}/login`, { spec: { method: 'EmailCode', code } })
      .is(403);
    await tab.get(`policydecisions/${body.details.policyDecision}`).is(200);
  });

  test('the series of a browser has its account', async () => {
    const { tab: browser, I } = await begin(service);
    await browser.post(`${I}/emailchallenge`, { spec: { email: 'eve@example.test' } }).is(200);
    const { code } = await mailTo(service, 'eve@example.test');
    await browser.post(`${I}/login`, { spec: { method: 'EmailCode', code } }).is(200);
    const { name } = (await browser.get(`${I}/account`).is(200)).body.metadata;
    for (let i = 0; i < 12; i += 1) {
      await browser.patch(`${I}/account`, { spec: { displayName: `Eve ${i}` } }).is(200);
    }
    const series = await settles(
      async () =>
        (await service.store.reader(PolicyDecision).list()).filter(
          ({ spec }) => spec.principal === 'Browser' && spec.account === name,
        ),
      ({ length }) => length > 0,
    );
    expect(series[0]!.metadata.ownerReferences).toEqual([
      expect.objectContaining({ kind: 'Account', name }),
    ]);
  });
});
