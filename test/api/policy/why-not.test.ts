import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { settles } from '../../support/patience.js';
import { authorizationPath, begin, mailTo, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const rules = `
@id("staff-create-groups") @message("Staff create groups.")
permit (principal in Group::"staff", action == Action::"create", resource is Group);
@id("hr-changes-people") @message("HR looks after people.")
permit (principal in Group::"hr", action in [Action::"patch", Action::"get"], resource is Account)
when { resource.owner in Group::"staff" };
@id("board-for-staff") @message("The board is for staff.")
forbid (principal, action == Action::"signIn", resource == Client::"board")
unless { principal in Group::"staff" || context.invited };
@id("no-email-for-notes") @message("Notes gets addresses of staff only.")
forbid (principal, action == Action::"share", resource == Scope::"email")
when { context.client == Client::"notes" && !(principal in Group::"staff") };
`;

const changesOf = ({ status }: any): unknown =>
  status.alternatives.map(({ changes }: { changes: unknown }) => changes);

describe.each(stores)('why not, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let ada: Tab;
  let account: string;
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
    });
    for (const name of ['app', 'board']) await createClient(service, name);
    await createClient(service, 'notes', {
      scopes: [
        { name: 'openid', required: true },
        { name: 'email', required: false },
      ],
    });
    operator = (await signIn(service, 'op@example.test', { client: 'app' })).tab;
    for (const name of ['staff', 'hr']) {
      await operator
        .post('groups', {
          metadata: { name },
          spec: { displayName: name, members: ['someone@example.test'] },
        })
        .is(201);
    }
    ada = (await signIn(service, 'ada@example.test', { client: 'app' })).tab;
    account = (await ada.get('accounts/~').is(200)).body.metadata.name;
    const first = (await operator.get('policies/p-1').is(200)).body.spec.cedar as string;
    await operator.post('policies', { spec: { cedar: `${first}\n${rules}` } }).is(201);
  });

  const group = { metadata: { name: 'new' }, spec: { displayName: 'New', members: [] } };

  /** The decisions about Ada, once one is as wanted. */
  const decisionsWith = async (wanted: (one: any) => boolean): Promise<any[]> => {
    const read = async () =>
      (await ada.get(`policydecisions?fieldSelector=spec.account=${account}`).is(200)).body.items;
    return settles(read, (items: any[]) => items.some(wanted));
  };

  test('a refusal and its record say the smallest changes', async () => {
    const refused = await ada.post('groups', group).fails(403, 'Forbidden');
    expect(refused.message).toMatch(
      /No rule permits it\. It would be permitted in group operators, or in group staff\.$/,
    );
    const { policyDecision } = refused.details as unknown as { policyDecision: string };
    const isIt = ({ metadata }: any): boolean => metadata.name === policyDecision;
    const recorded = (await decisionsWith(isIt)).find(isIt);
    expect(changesOf(recorded)).toEqual([
      [{ fact: 'Group', value: 'operators' }],
      [{ fact: 'Group', value: 'staff' }],
    ]);
  });

  test('another person says nothing, nor does an object that does not exist', async () => {
    const someone = (await operator.get('accounts/~').is(200)).body.metadata.name;
    const absent = 'bcdfghjklmnpqrstvwxz';
    for (const name of [someone, absent]) {
      const patch = ada.patch(`accounts/${name}`, { spec: { displayName: 'X' } });
      expect((await patch.fails(404, 'NotFound')).message).not.toContain('permitted');
    }
    const isPatch = ({ spec }: any): boolean => spec.action === 'patch';
    const refused = (await decisionsWith(isPatch)).filter(isPatch);
    for (const { status } of refused) expect(status).not.toHaveProperty('alternatives');
  });

  test('a sign-in that is refused says so to the person, before they have an account too', async () => {
    const { tab, I } = await begin(service, { client: 'board' });
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'eve@example.test' } }).is(200);
    const { code } = await mailTo(service, 'eve@example.test');
    await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code } }).fails(403, 'Forbidden');
    const { body } = await tab.get(`${I}/decision`).is(200);
    expect(changesOf(body)).toEqual([
      [{ fact: 'Invitation' }],
      [{ fact: 'Group', value: 'staff' }],
    ]);
  });

  test('a scope that is refused is explained in its series', async () => {
    await signIn(service, 'ada@example.test', { client: 'notes' });
    const isIt = ({ spec }: any): boolean => spec.scope === 'email' && spec.client === 'notes';
    const found = (await decisionsWith(isIt)).find(isIt);
    expect(changesOf(found)).toEqual([[{ fact: 'Group', value: 'staff' }]]);
  });

  test('a consent that is read again is not explained again', async () => {
    const { tab } = await signIn(service, 'bob@example.test', { client: 'app' });
    const path = authorizationPath('notes', 'openid email', 'v'.repeat(43));
    const { headers } = await tab.navigate(path);
    const I = String(headers.location).replace(/.*\/interaction\//, 'interactions/');
    const trials = () => service.counts().get('policy.trials')!;
    const read = async () => (await tab.get(I).is(200)).body.status.consent.scopes;
    const scopes = await read();
    expect(scopes.find(({ name }: any) => name === 'email').allowed).toBe(false);
    const before = trials();
    expect(before).toBeGreaterThan(0);
    expect(await read()).toEqual(scopes);
    expect(trials()).toBe(before);
  });

  test('what is permitted has none', async () => {
    const isAllowed = ({ status }: any): boolean => status.allowed;
    const allowed = (await decisionsWith(isAllowed)).filter(isAllowed);
    for (const { status } of allowed) expect(status).not.toHaveProperty('alternatives');
  });
});
