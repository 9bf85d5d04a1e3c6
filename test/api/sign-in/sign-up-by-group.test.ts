import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type DecisionObject, PolicyDecision } from '../../../kinds/policy/policy-decision.js';
import { begin, mailTo, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

describe.each(stores)('a rule about sign-up by group, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let first: string;
  beforeAll(async () => {
    service = await startTest({
      quickDecisions: true,
      store,
      flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
    });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
    first = (await operator.get('policies/p-1').is(200)).body.spec.cedar as string;
    await operator
      .post('groups', {
        metadata: { name: 'invited' },
        spec: { displayName: 'Invited', members: ['Guest@example.test'] },
      })
      .is(201);
  });
  const attempt = async (address: string) => {
    const begun = await begin(service);
    await begun.tab.post(`${begun.I}/emailchallenge`, { spec: { email: address } }).is(200);
    const { code } = await mailTo(service, address);
    return {
      ...begun,
      answer: begun.tab.post(`${begun.I}/login`, { spec: { method: 'EmailCode', code } }),
    };
  };

  test('lets those sign up whose address a Group lists, and no one else', async () => {
    await operator
      .post('policies', {
        spec: {
          cedar: `${first}
@id("invited-only") @message("Ask for an invitation.") forbid (principal, action == Action::"signUp", resource) unless { principal in Group::"invited" };`,
        },
      })
      .is(201);
    expect(
      (await (await attempt('stranger@example.test')).answer.fails(403, 'Forbidden')).message,
    ).toContain('Ask for an invitation.');
    expect((await (await attempt('guest@example.test')).answer.is(200)).body.status.phase).toBe(
      'Authenticated',
    );
    const made = ((await service.store.reader(PolicyDecision).list()) as DecisionObject[]).filter(
      ({ spec }) => spec.action === 'signUp' && spec.policy === 'p-2',
    );
    expect(made.find(({ status }) => status.allowed)!.spec.input.groups).toEqual(['invited']);
  });

  test('that can never hold is refused at the field, with the reason', async () => {
    const refused = (rule: string) =>
      operator
        .post('policies', { spec: { cedar: `${first}\n${rule}` } })
        .fails(422, 'Invalid', 'spec.cedar');
    expect(
      (await refused('permit (principal is Browser, action == Action::"signUp", resource);'))
        .message,
    ).toContain('can never apply');
    expect(
      (
        await refused(
          'forbid (principal, action == Action::"page", resource) unless { principal in Group::"invited" };',
        )
      ).message,
    ).toContain('can be in a Group');
  });
});
