import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Grant, grantName } from '../../../kinds/apps/grant.js';
import { type DecisionObject, PolicyDecision } from '../../../kinds/policy/policy-decision.js';
import { until } from '../../provider/support/fixture.js';
import { authorizationPath, begin, mailTo, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

describe.each(stores)('what a decision says, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  beforeAll(async () => {
    service = await startTest({
      quickDecisions: true,
      store,
      flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
    });
    await createClient(service, 'app');
    await createClient(service, 'ours', { firstParty: true });
    operator = (await signIn(service, 'op@example.test')).tab;
  });
  const decisions = async (): Promise<DecisionObject[]> =>
    service.store.reader(PolicyDecision).list() as Promise<DecisionObject[]>;

  test('the refusal of a sign-up is shown to its browser alone', async () => {
    const first = (await operator.get('policies/p-1').is(200)).body.spec.cedar as string;
    await operator
      .post('policies', {
        spec: {
          cedar: `${first}\n@id("closed") @message("We are full.") forbid (principal, action == Action::"signUp", resource) when { context.domain == "full.test" };`,
        },
      })
      .is(201);
    const { tab, I } = await begin(service);
    await tab.get(`${I}/decision`).fails(404, 'NotFound');
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'new@full.test' } }).is(200);
    const { code } = await mailTo(service, 'new@full.test');
    const refused = await tab
      .post(`${I}/login`, { spec: { method: 'EmailCode', code } })
      .fails(403, 'Forbidden');
    const { body } = await tab.get(`${I}/decision`).is(200);
    expect(body).toMatchObject({
      kind: 'PolicyDecision',
      metadata: { name: refused.details!.policyDecision },
      spec: { action: 'signUp', resource: { kind: 'Client', name: 'app' }, policy: 'p-2' },
      status: { allowed: false, reasons: [{ rule: 'closed', message: 'We are full.' }] },
    });
    const other = await begin(service);
    await other.tab.get(`${other.I}/decision`).fails(404, 'NotFound');
    expect((await other.tab.get(`${I}/decision`)).code).not.toBe(200);
    expect((await service.tab().get(`${I}/decision`)).code).not.toBe(200);
  });

  test('a sign-in names its Client, once by itself and later in its series', async () => {
    const { tab } = await signIn(service, 'ada@example.test');
    await tab
      .navigate(authorizationPath('app', 'openid email', 'v'.repeat(43), { prompt: 'none' }))
      .is(303);
    const { name: account } = (await tab.get('accounts/~').is(200)).body.metadata;
    const own = async (): Promise<DecisionObject[]> =>
      (await decisions()).filter(
        ({ spec }) => spec.account === account && spec.action === 'signIn',
      );
    await until(async () =>
      (await own()).some(({ metadata }) => metadata.name.startsWith(`${account}-0`)),
    );
    for (const { spec, status } of await own()) {
      expect(spec.resource).toEqual({ kind: 'Client', name: 'app' });
      expect(status.reasons).toEqual([
        { rule: 'anyone-may-sign-in', message: 'Everyone with an account may sign in.' },
      ]);
    }
  });

  test('a Grant names the decision about each of its scopes', async () => {
    const { tab } = await signIn(service, 'grace@example.test');
    await signIn(service, 'grace@example.test', {
      tab,
      client: 'ours',
      parameters: { prompt: 'login' },
    });
    const { name: account } = (await tab.get('accounts/~').is(200)).body.metadata;
    for (const client of ['app', 'ours']) {
      const grant = (await service.store.reader(Grant).get(grantName(account, client)))!;
      expect(grant.status.shareDecisions!.map(({ scope }) => scope)).toEqual(grant.spec.scopes);
      for (const { scope, policyDecision } of grant.status.shareDecisions!) {
        await until(async () =>
          (await decisions()).some(({ metadata }) => metadata.name === policyDecision),
        );
        const { body } = await tab.get(`policydecisions/${policyDecision}`).is(200);
        expect(body).toMatchObject({
          spec: { account, action: 'share', scope, client },
          status: {
            allowed: true,
            reasons: [{ message: 'You decide what is shared with an app.' }],
          },
        });
      }
    }
    const grants = await tab
      .patch(`grants/${grantName(account, 'app')}`, { spec: { scopes: ['openid'] } })
      .is(200);
    expect(grants.body.status.shareDecisions.map(({ scope }: { scope: string }) => scope)).toEqual([
      'openid',
    ]);
  });
});
