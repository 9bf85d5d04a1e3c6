import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Passkey } from '../../../kinds/people/passkey/passkey.js';
import { clock } from '../../support/clock.js';
import { tokenOf } from '../../support/people/device.js';
import { register, signInByPasskey, withPasskey } from '../../support/people/passkeys.js';
import { signIn } from '../../support/people/signin.js';
import type { Pending, Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

jest.setTimeout(120_000);

const minute = 60_000;
const again = 'sign in again';

describe.each(stores)('what operators write, on %s', (store) => {
  let service: TestService;
  let other: TestService;
  let person: Awaited<ReturnType<typeof withPasskey>>;
  beforeAll(async () => {
    clock.own();
    service = await startTest({
      store,
      flags: ['--limit-factor', '1000', '--operators', 'op@example.test,second@example.test'],
    });
    other = await service.replica();
    await createClient(service, 'app');
    person = await withPasskey(service, 'ada@example.test');
  });
  afterEach(async () => {
    await service.tab().delete('mockmessages').is(200);
  });
  afterAll(async () => {
    clock.release();
    await stopAll();
  });

  let number = 0;
  /** A write of each sort, none of which changes anything that is there. */
  const writes = (tab: Tab): Pending[] => [
    tab.post('groups?dryRun=All', {
      metadata: { name: `g${(number += 1)}` },
      spec: { displayName: 'G', members: [] },
    }),
    tab.patch('clients/app?dryRun=All', { spec: { displayName: 'Another' } }),
    tab.patch(`accounts/${person.account}?dryRun=All`, { spec: { displayName: 'Another' } }),
    tab.delete(`passkeys/${person.name}?dryRun=All`),
    tab.delete(`sessions?dryRun=All&fieldSelector=status.account=${person.account}`),
  ];
  const elsewhere = (tab: Tab): Tab => {
    const copy = other.tab();
    copy.cookies = [...tab.cookies];
    return copy;
  };
  const allowed = async (tab: Tab): Promise<void> => {
    for (const write of writes(tab)) expect((await write).code).toBeLessThan(300);
  };
  const refused = async (tab: Tab): Promise<void> => {
    for (const write of writes(tab)) {
      expect((await write.fails(403, 'Forbidden')).message).toContain(again);
    }
  };

  test('a sign-in of more than ten minutes ago writes nothing of others', async () => {
    const { tab } = await signIn(service, 'op@example.test');
    await allowed(tab);
    clock.advance(11 * minute);
    await refused(tab);
    await tab.get(`accounts/${person.account}`).is(200);
    await tab.get('clients/app').is(200);
    await tab.patch('accounts/~', { spec: { displayName: 'Operator' } }).is(200);
    await tab.delete('grants').is(200);
    const stranger = await signIn(service, `x-${store}@example.test`);
    expect(
      (
        await stranger.tab
          .post('groups', { metadata: { name: 'g' }, spec: { displayName: 'G', members: [] } })
          .fails(403, 'Forbidden')
      ).message,
    ).not.toContain(again);
  });

  test('a token of the command is judged by the sign-in behind it', async () => {
    const { tab } = await signIn(service, 'op@example.test');
    const token = await tokenOf(service, tab);
    const bearer = service.tab();
    const send = () =>
      bearer.send('POST', `groups?dryRun=All`, {
        plain: true,
        cookies: false,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          apiVersion: 'id.vestibule.org/v1beta1',
          kind: 'Group',
          metadata: { name: `t${(number += 1)}` },
          spec: { displayName: 'G', members: [] },
        }),
      });
    await send().is(201);
    clock.advance(11 * minute);
    const tooOld = await send().is(401);
    expect(tooOld.body.message).toContain(again);
    expect(tooOld.headers['www-authenticate']).toContain('insufficient_user_authentication');
  });

  test('a passkey of one operator makes mail too weak for all of them', async () => {
    const { tab: first } = await signIn(service, 'op@example.test');
    const { tab: second } = await signIn(service, 'second@example.test');
    await allowed(second);
    const weak = await register(service, first);
    const { metadata } = (await weak.answer.is(201)).body;
    await service.tab().delete('mockmessages').is(200);
    const { tab: mailed } = await signIn(service, 'op@example.test');
    for (const tab of [mailed, second]) {
      await refused(tab);
      await refused(elsewhere(tab));
    }
    await service.tab().delete('mockmessages').is(200);
    await allowed(first); // adding a passkey counts as a sign-in with it
    clock.advance(11 * minute);
    await refused(first);
    expect((await writes(first)[0]!.fails(403, 'Forbidden')).details!.methods) //
      .toEqual(['Passkey']);
    await service.tab().delete('mockmessages').is(200);
    await allowed((await signInByPasskey(service, weak.authenticator)).tab);
    await service.store.change(service.store.systemCall(), (tx) =>
      tx.update(Passkey, metadata.name, ({ status }) => {
        status.fullStrengthTimestamp = metadata.creationTimestamp;
      }),
    );
    const strong = (await signInByPasskey(service, weak.authenticator)).tab;
    const lesser = await register(service, (await signIn(service, 'second@example.test')).tab);
    await lesser.answer.is(201);
    await allowed(strong);
    await refused((await signInByPasskey(service, lesser.authenticator)).tab);
    await service.tab().delete('mockmessages').is(200);
    await strong.delete(`passkeys/${(await lesser.answer).body.metadata.name}`).is(200);
    await strong.delete(`passkeys/${metadata.name}`).is(200);
    await service.tab().delete('mockmessages').is(200);
    clock.advance(2_000); // a sign-in in the second in which the others were ended counts as one of them
    await allowed((await signIn(service, 'second@example.test')).tab);
  });

  test('one who has a passkey disables their own account by passkey alone', async () => {
    const { tab } = await signIn(service, 'op@example.test');
    const { authenticator, answer } = await register(service, tab);
    await answer.is(201);
    await service.tab().delete('mockmessages').is(200);
    const { tab: mailed } = await signIn(service, 'op@example.test');
    const refused = await mailed.post('accounts/~/disable', { spec: {} }).fails(403, 'Forbidden');
    expect(refused.details!.methods).toEqual(['Passkey']);
    const { tab: strong } = await signInByPasskey(service, authenticator);
    await strong.post('accounts/~/disable', { spec: {} }).is(200);
  });
});
