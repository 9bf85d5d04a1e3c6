import { afterAll, describe, expect, test } from '@jest/globals';
import { Invitation } from '../../../kinds/access/invitation/invitation.js';
import { Group } from '../../../kinds/people/group/group.js';
import { toTimestamp } from '../../../registry/schema/timestamp.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

describe.each(stores)('the first operator, on %s', (store) => {
  const start = async (...flags: string[]): Promise<TestService> => {
    const service = await startTest({ store, flags: ['--limit-factor', '1000', ...flags] });
    await createClient(service, 'app');
    return service;
  };
  /** The name and the token of a link. */
  const partsOf = (link: string | undefined): { name: string; token: string } => {
    const [, name = '', token = ''] = /\/invitation#([a-z-]+)\.([\w-]{43})$/.exec(link!)!;
    return { name, token };
  };
  const accept = (tab: Tab, { name, token }: { name: string; token: string }) =>
    tab.post(`invitations/${name}/accept`, { spec: { token } });
  const operatorsOf = async (service: TestService): Promise<readonly string[] | undefined> =>
    (await service.store.reader(Group).get('operators'))?.spec.members;

  test('is the one who opens the link and signs in, of two at once exactly one', async () => {
    const service = await start();
    const other = await service.replica();
    const link = partsOf(await service.inviteFirstOperator());
    expect(JSON.stringify(await service.store.reader(Invitation).list())).not.toContain(link.token);
    await accept(service.tab(), link).fails(401, 'Unauthorized');
    const [ada, eve] = [
      (await signIn(service, 'ada@example.test')).tab,
      (await signIn(service, 'eve@example.test')).tab,
    ];
    await accept(ada, { ...link, token: 'a'.repeat(43) }).fails(404, 'NotFound');
    await ada.get('groups').fails(403, 'Forbidden');
    const elsewhere = other.tab();
    elsewhere.cookies = eve.cookies;
    const outcomes = await Promise.all([accept(ada, link), accept(elsewhere, link)]);
    const [won, lost] = outcomes.map(({ code }) => code).sort();
    expect([won, [404, 409].includes(lost!)]).toEqual([200, true]);
    const [winner, loser] = outcomes[0]!.code === 200 ? [ada, eve] : [eve, ada];
    await winner.get('groups').is(200);
    await loser.get('groups').fails(403, 'Forbidden');
    expect(await operatorsOf(service)).toHaveLength(1);
    expect(await service.inviteFirstOperator()).toBeUndefined();
    expect(service.logs.join('')).not.toContain(link.token);
  });

  test('needs the newest link, in time, and does not exist beside an operator', async () => {
    const service = await start();
    const first = partsOf(await service.inviteFirstOperator());
    const second = partsOf(await service.inviteFirstOperator());
    const { tab } = await signIn(service, 'ada@example.test');
    await accept(tab, first).fails(404, 'NotFound');
    const call = service.store.systemCall();
    await service.store.change(call, (tx) =>
      tx.update(Invitation, second.name, ({ spec }) => {
        spec.until = toTimestamp(call.now - 1000);
      }),
    );
    await accept(tab, second).fails(404, 'NotFound');
    const third = partsOf(await service.inviteFirstOperator());
    await service.store.change(call, (tx) =>
      tx.create(Group, {
        metadata: { name: 'operators' },
        spec: { displayName: 'Operators', members: ['op@example.test'] },
      }),
    );
    await accept(tab, third).fails(409, 'Conflict');
    expect(await operatorsOf(service)).toEqual(['op@example.test']);
  });

  test('is not asked for where the settings name one', async () => {
    const service = await start('--operators', 'op@example.test');
    expect(await service.inviteFirstOperator()).toBeUndefined();
    expect(await service.store.reader(Invitation).list()).toEqual([]);
  });
});
