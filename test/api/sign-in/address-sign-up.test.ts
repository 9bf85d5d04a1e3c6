import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { phishingResistant } from '../../../kinds/people/session/acr.js';
import { PolicyDecision } from '../../../kinds/policy/policy-decision.js';
import { accountPageClient } from '../../../kinds/signin/account-page.js';
import { signedInByPasskey } from '../../support/people/passkeys.js';
import { begin, mailTo, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const flags = ['--operators', 'op@example.test', '--limit-factor', '1000'];

/** What the two new addresses have: nothing, a place in the group, an Invitation, or one to the group. */
type Given = 'nothing' | 'listed' | 'invited' | 'invited to the group';

/** Rules about sign-up, and whether a newcomer meets them. */
const rules: readonly (readonly [condition: string, given: Given, permitted: boolean])[] = [
  ['context.domain == "new.test"', 'nothing', true],
  ['context.domain == "example.test"', 'nothing', false],
  ['principal.emailDomain == "new.test"', 'nothing', true],
  ['principal.emailDomain == "example.test"', 'nothing', false],
  ['principal in Group::"listed"', 'nothing', false],
  ['principal in Group::"listed"', 'listed', true],
  ['principal in Group::"listed"', 'invited', false],
  ['principal in Group::"listed"', 'invited to the group', true],
  ['context.invited', 'nothing', false],
  ['context.invited', 'invited', true],
  ['context has passkeys && context.passkeys >= 1', 'nothing', false],
  ['principal.passkeys >= 1', 'nothing', false],
  ['principal.passkeys == 0', 'nothing', true],
  ['principal.created < datetime("NOW")', 'nothing', false],
  ['principal.created >= datetime("NOW")', 'nothing', true],
  ['context.methods.contains("Passkey")', 'nothing', false],
  ['context.methods.contains("EmailCode")', 'nothing', true],
  [`context.assurance == "${phishingResistant}"`, 'nothing', false],
  ['context.signedInRecently', 'nothing', false],
  ['context has signInAge && context.signInAge <= 600', 'nothing', true],
  ['context.newBrowser', 'nothing', true],
  ['context.scopesRequested.contains("openid")', 'nothing', true],
];

describe.each(stores)('the sign-up that a change of address is, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let first: string;
  let count = 0;
  beforeAll(async () => {
    service = await startTest({ store, flags });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
    first = (await operator.get('policies/p-1').is(200)).body.spec.cedar;
    const spec = { displayName: 'Listed' };
    await operator.post('groups', { metadata: { name: 'listed' }, spec }).is(201);
  });

  const write = (rule: string) =>
    operator.post('policies', { spec: { cedar: `${first}\n${rule}` } }).is(201);
  const codeFor = async (address: string): Promise<string> =>
    (await mailTo(service, address, [], (status) => status.code !== undefined)).code;

  /** Someone with an old account and a passkey, and two addresses that no one has. */
  const prepare = async (given: Given) => {
    count += 1;
    await write('');
    const old = await signedInByPasskey(service, `old${count}@example.test`);
    const addresses = [`moved${count}@new.test`, `newcomer${count}@new.test`] as const;
    const members = given === 'listed' ? addresses : [];
    await operator.patch('groups/listed', { spec: { members } }).is(200);
    if (given.startsWith('invited')) {
      for (const email of addresses) {
        const spec = { email, groups: given === 'invited' ? [] : ['listed'] };
        await operator.post('invitations', { metadata: { generateName: 'i-' }, spec }).is(201);
      }
    }
    return { ...old, addresses };
  };
  const move = async (tab: Tab, email: string): Promise<number> => {
    await tab.post('accounts/~/emailchallenge', { spec: { email } }).is(200);
    return (await tab.post('accounts/~/email', { spec: { code: await codeFor(email) } })).code;
  };
  const signUp = async (email: string): Promise<number> => {
    const redirect_uri = `${service.baseURL}/account`;
    const { tab, I } = await begin(service, {
      client: accountPageClient,
      scope: 'openid',
      parameters: { response_type: 'none', redirect_uri },
    });
    await tab.post(`${I}/emailchallenge`, { spec: { email } }).is(200);
    const spec = { method: 'EmailCode', code: await codeFor(email) };
    return (await tab.post(`${I}/login`, { spec })).code;
  };

  test.each(rules)('is decided like that of a newcomer: %s, with %s', async (rule, given, may) => {
    const { tab, addresses } = await prepare(given);
    const condition = rule.replace('NOW', new Date().toISOString());
    await write(
      `forbid (principal, action == Action::"signUp", resource) unless { ${condition} || principal in Group::"operators" };`,
    );
    const answers = [await move(tab, addresses[0]), await signUp(addresses[1])];
    expect(answers).toEqual(may ? [200, 200] : [403, 403]);
  });

  test('has the facts of that of a newcomer in its record', async () => {
    const { tab, addresses } = await prepare('invited to the group');
    const { body: policies } = await operator.get('policies').is(200);
    expect([await move(tab, addresses[0]), await signUp(addresses[1])]).toEqual([200, 200]);
    const facts = (await service.store.reader(PolicyDecision).list())
      .filter(({ spec }) => spec.action === 'signUp' && spec.input.facts.domain === 'new.test')
      .filter(({ spec }) => spec.policy === `p-${policies.items.length}`)
      .map(({ spec: { resource, input } }) => {
        const { authenticated, ...rest } = input.facts;
        expect(authenticated).toEqual(expect.any(Number));
        return { resource, groups: input.groups, facts: rest };
      });
    expect(facts).toHaveLength(2);
    expect(facts[0]).toEqual(facts[1]);
  });
});
