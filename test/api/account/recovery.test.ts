import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Passkey } from '../../../kinds/people/passkey/passkey.js';
import { Recovery } from '../../../kinds/people/recovery/recovery.js';
import { clock } from '../../support/clock.js';
import { Stream } from '../../support/network/stream.js';
import { until as comesToHold } from '../../support/patience.js';
import {
  passkeyLogin,
  register,
  signedInByPasskey,
  withPasskey,
} from '../../support/people/passkeys.js';
import { mailTo, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

jest.setTimeout(180_000);

const hour = 3_600_000;
const minute = 60_000;

describe.each(stores)('the way back in without passkeys, on %s', (store) => {
  let service: TestService;
  let other: TestService;
  beforeAll(async () => {
    clock.own();
    service = await startTest({
      store,
      flags: ['--limit-factor', '1000', '--operators', 'op@example.test'],
    });
    other = await service.replica();
    await createClient(service, 'app');
  });
  afterEach(async () => {
    await empty();
  });
  afterAll(async () => {
    clock.release();
    await stopAll();
  });

  let number = 0;
  const address = (): string => `r${(number += 1)}-${store}@example.test`;
  const empty = () => service.tab().delete('mockmessages').is(200);
  const start = async (tab: Tab) =>
    (await tab.post('accounts/~/recovery', { spec: {} }).is(201)).body;
  const mails = async (to: string): Promise<string[]> =>
    (await service.tab().get('mockmessages').is(200)).body.items
      .filter(({ status }: any) => status.to === to)
      .map(({ status }: any) => status.subject);

  /**
   * A replica that starts looks at what is due by the clock as the test has set it; timers of those
   * that run go by real time.
   */
  async function fresh<T>(work: () => Promise<T>): Promise<T> {
    const replica = await service.replica();
    try {
      return await work();
    } finally {
      await replica.stop();
    }
  }
  const until = (holds: () => Promise<boolean>) => fresh(() => comesToHold(holds));
  const phase = async (tab: Tab, name: string): Promise<string> =>
    (await tab.get(`recoveries/${name}`).is(200)).body.status.phase;
  /** The way to cancel that a mail holds, as its page sends it. */
  const linkOf = (text: string): { name: string; token: string } => {
    const [, name, token] = /\/recovery#([a-z0-9-]+)\.([A-Za-z0-9_-]{43})/.exec(text)!;
    return { name: name!, token: token! };
  };

  test('the page that the link of its mails names is served', async () => {
    const { headers } = await service.tab().navigate('/recovery').is(200);
    expect(headers['content-type']).toMatch(/^text\/html/);
  });

  test('it starts by mail, is announced three times, and ends all at once', async () => {
    const email = address();
    const { authenticator, tab: byPasskey, account } = await signedInByPasskey(service, email);
    await empty();
    const { tab } = await signIn(service, email);
    const recovery = await start(tab);
    const { name } = recovery.metadata;
    expect(recovery).toMatchObject({
      kind: 'Recovery',
      status: { account, phase: 'Waiting', startedBy: 'Person', startedFrom: 'an unknown browser' },
    });
    const [begun, half, ready] = ['startedTimestamp', 'halfwayTimestamp', 'readyTimestamp'].map(
      (field) => Date.parse(recovery.status[field]),
    );
    expect(Math.abs(ready! - begun! - 48 * hour)).toBeLessThanOrEqual(1_000);
    expect(Math.abs(half! - begun! - 24 * hour)).toBeLessThanOrEqual(1_000);
    expect((await mailTo(service, email)).subject).toContain('will be removed');
    expect(
      (await byPasskey.get('recoveries').is(200)).body.items.map(
        ({ metadata }: any) => metadata.name,
      ),
    ).toEqual([name]);
    const watched = new Stream(
      byPasskey,
      `recoveries?watch=true&resourceVersion=${recovery.metadata.resourceVersion}`,
    );
    await tab.post('accounts/~/recovery', { spec: {} }).fails(409, 'AlreadyExists');
    expect(await phase(tab, name)).toBe('Waiting');

    await empty();
    clock.advance(24 * hour);
    await until(async () => (await mails(email)).length === 1);
    expect(await mails(email)).toEqual([expect.stringContaining('Reminder')]);
    clock.advance(19 * hour);
    await until(async () => (await mails(email)).length === 2);
    expect(await mails(email)).toContainEqual(expect.stringContaining('Last notice'));
    clock.advance(ready! - Date.now() - 5_000);
    expect(await phase(tab, name)).toBe('Waiting');
    clock.advance(6_000);
    await until(
      async () => (await service.store.reader(Recovery).get(name))!.status.phase === 'Completed',
    );
    await tab.get('accounts/~').fails(401, 'Unauthorized');
    await byPasskey.get('accounts/~').fails(401, 'Unauthorized');
    expect(await service.store.reader(Passkey).list(account)).toEqual([]);
    await (await passkeyLogin(service, authenticator)).answer.fails(422, 'Invalid');
    await until(async () =>
      (await mails(email)).some((subject) =>
        /^The passkeys of your account with .* were removed$/.test(subject),
      ),
    );
    watched.close();
    await empty();
    clock.advance(2_000); // a sign-in in the second of the end is ended with the others
    const again = await signIn(service, email);
    expect((await again.tab.get('accounts/~').is(200)).body.status.passkeys).toBe(0);
    expect((await again.tab.get(`recoveries/${name}`).is(200)).body.status).toMatchObject({
      phase: 'Completed',
    });
    const added = (await (await register(service, again.tab)).answer.is(201)).body;
    expect(Date.parse(added.status.fullStrengthTimestamp) - Date.now()).toBeGreaterThan(47 * hour);
  });

  test('any session stops it, and so does each mail, once', async () => {
    const email = address();
    const { tab: byPasskey } = await signedInByPasskey(service, email);
    await empty();
    const { tab } = await signIn(service, email);
    const byHand = (await start(tab)).metadata.name;
    await mailTo(service, email);
    const watched = new Stream(tab, 'recoveries?watch=true');
    expect((await byPasskey.delete(`recoveries/${byHand}`).is(200)).body.status).toMatchObject({
      phase: 'Cancelled',
      endedTimestamp: expect.any(String),
    });
    await watched.until(({ events }) =>
      events.some(({ object }) => object.status?.phase === 'Cancelled'),
    );
    watched.close();
    await until(async () =>
      (await mails(email)).some((subject) => subject.includes('keeps its passkeys')),
    );
    await byPasskey.delete(`recoveries/${byHand}`).fails(409, 'Conflict');
    await empty();

    const { name } = (await start(tab)).metadata;
    const first = linkOf((await mailTo(service, email)).text);
    expect(first.name).toBe(name);
    clock.advance(24 * hour + minute);
    await empty();
    await until(async () => (await mails(email)).length === 1);
    const second = linkOf((await mailTo(service, email)).text);
    expect(second.token).not.toBe(first.token);
    const stranger = other.tab();
    const wrong = await stranger
      .post(`recoveries/${name}/cancel`, { spec: { token: 'x'.repeat(43) } })
      .fails(404, 'NotFound');
    const absent = await stranger
      .post(`recoveries/${'b'.repeat(20)}-x/cancel`, { spec: { token: 'x'.repeat(43) } })
      .fails(404, 'NotFound');
    expect(wrong.message!.replace(name, 'NAME')).toBe(
      absent.message!.replace(`${'b'.repeat(20)}-x`, 'NAME'),
    );
    await stranger.get(`recoveries/${name}`).fails(401, 'Unauthorized');
    await empty();
    await stranger.post(`recoveries/${name}/cancel`, { spec: { token: first.token } }).is(200);
    await stranger
      .post(`recoveries/${name}/cancel`, { spec: { token: second.token } })
      .fails(404, 'NotFound');
    await until(async () =>
      (await mails(email)).some((subject) => subject.includes('keeps its passkeys')),
    );
    await empty();
    expect(await phase((await signIn(service, email)).tab, name)).toBe('Cancelled');
    clock.advance(48 * hour);
    await until(
      async () =>
        (await service.storage.list({ start: 'outbox/recovery/', end: 'outbox/recovery0' })).entries
          .length === 0,
    );
    expect((await mails(email)).filter((subject) => /removed/.test(subject))).toEqual([]);
    expect((await service.store.reader(Passkey).list(first.name.split('-')[0]!)).length).toBe(1);
  });

  test.each([
    ['will be removed', 0],
    ['Reminder', 24],
    ['Last notice', 42],
  ])('the link of the mail %j stops it, also alone', async (subject, hours) => {
    const email = address();
    const { account } = await signedInByPasskey(service, email);
    await empty();
    const { name } = (await start((await signIn(service, email)).tab)).metadata;
    if (hours > 24) {
      clock.advance(24 * hour + minute);
      await until(async () => (await mails(email)).some((mail) => mail.includes('Reminder')));
    }
    clock.advance((hours > 24 ? hours - 24 : hours) * hour + minute);
    await until(async () => (await mails(email)).some((mail) => mail.includes(subject)));
    const mail = await mailTo(service, email, [], (one) => one.subject.includes(subject));
    const { token } = linkOf(mail.text);
    expect(mail.html).toContain(`/recovery#${name}.${token}`);
    await other.tab().post(`recoveries/${name}/cancel`, { spec: { token } }).is(200);
    expect((await service.store.reader(Recovery).get(name))!.status.phase).toBe('Cancelled');
    expect(await service.store.reader(Passkey).list(account)).toHaveLength(1);
  });

  test('one that waits in a restored backup is stopped there', async () => {
    const email = address();
    const { account } = await signedInByPasskey(service, email);
    await empty();
    const { name } = (await start((await signIn(service, email)).tab)).metadata;
    const recoveries = service.store.reader(Recovery);
    expect((await recoveries.get(name))!.internal).toMatchObject({
      epoch: service.store.settings.epoch,
    });
    await service.store.change(service.store.systemCall(), (tx) =>
      tx.update(Recovery, name, ({ internal }) => {
        internal.epoch! -= 1;
      }),
    ); // a restore raises that of the store
    clock.advance(49 * hour);
    await until(async () => (await recoveries.get(name))!.status.phase !== 'Waiting');
    expect((await recoveries.get(name))!.status.phase).toBe('Cancelled');
    expect(await service.store.reader(Passkey).list(account)).toHaveLength(1);
    const notice = (
      await mailTo(service, email, [], ({ subject }) => subject.includes('keeps its passkeys'))
    ).text;
    expect(notice).toContain('stopped by an operator of the service');
  });

  test.each([1, 40 * 24])(
    'one of a backup is stopped at the start; its owner starts another %i hours later',
    async (hours) => {
      const email = address();
      const before = await startTest({ store, flags: ['--limit-factor', '1000'] });
      await createClient(before, 'app');
      await signedInByPasskey(before, email);
      await before.tab().delete('mockmessages').is(200);
      const { name } = (await start((await signIn(before, email)).tab)).metadata;
      await before.storage.commit([], [{ put: 'meta/epoch', value: Buffer.from('1') }]); // as a restore raises it
      clock.advance(hours * hour);
      const restored = await before.replica();
      expect((await restored.store.reader(Recovery).get(name))!.status.phase).toBe('Cancelled');
      await mailTo(restored, email, [], ({ subject }) => subject.includes('keeps its passkeys'));
      await restored.tab().delete('mockmessages').is(200);
      expect((await start((await signIn(restored, email)).tab)).metadata.name).not.toBe(name);
      await (await restored.replica()).stop();
      expect(await restored.store.reader(Recovery).list()).toEqual(
        expect.arrayContaining([
          expect.objectContaining({ status: expect.objectContaining({ phase: 'Waiting' }) }),
        ]),
      );
    },
  );

  test('nothing starts it but a recent sign-in to that account, or an operator', async () => {
    const email = address();
    const { account, tab } = await withPasskey(service, email);
    await empty();
    const stranger = (await signIn(service, address())).tab;
    await stranger.post(`accounts/${account}/recovery`, { spec: {} }).fails(404, 'NotFound');
    expect(
      (await stranger.post('accounts/~/recovery', { spec: {} }).fails(409, 'Conflict')).message,
    ).toContain('no passkeys');
    await service
      .tab()
      .post(`accounts/${account}/recovery`, { spec: {} })
      .fails(401, 'Unauthorized');
    clock.advance(11 * minute);
    const { details } = await tab.post('accounts/~/recovery', { spec: {} }).fails(403, 'Forbidden');
    expect(details!.methods).toEqual(['EmailCode', 'EmailLink', 'Passkey']);
    await empty();
    const { tab: operator } = await signIn(service, 'op@example.test');
    const made = (await operator.post(`accounts/${account}/recovery`, { spec: {} }).is(201)).body;
    expect(made.status).toMatchObject({ startedBy: 'Operator', account });
    expect(Date.parse(made.status.readyTimestamp) - Date.now()).toBeGreaterThan(47 * hour);
    expect((await mailTo(service, email)).text).toContain('An operator of the service');
    await operator.get(`recoveries/${made.metadata.name}`).is(200);
    clock.advance(11 * minute);
    expect(
      (await operator.delete(`recoveries/${made.metadata.name}`).fails(403, 'Forbidden')).message,
    ).toContain('sign in again');
    await empty();
    const again = await signIn(service, 'op@example.test');
    await again.tab.delete(`recoveries/${made.metadata.name}`).is(200);
    expect((await mailTo(service, email)).text).toContain('by an operator of the service');
  });

  test('a sign-in by a passkey that counts in full ends it, no other does', async () => {
    const email = address();
    const { authenticator } = await signedInByPasskey(service, email);
    await empty();
    const { tab } = await signIn(service, email);
    const { name } = (await start(tab)).metadata;
    await empty();
    await signIn(service, email);
    const lies = { signature: (bytes: Buffer) => Buffer.alloc(bytes.length) };
    await (await passkeyLogin(service, authenticator, { lies })).answer.fails(422, 'Invalid');
    expect(await phase(tab, name)).toBe('Waiting');
    await empty();
    await (await passkeyLogin(service, authenticator)).answer.is(200);
    expect((await tab.get(`recoveries/${name}`).is(200)).body.status).toMatchObject({
      phase: 'Cancelled',
      endedTimestamp: expect.any(String),
    });
    const notice = await mailTo(service, email, [], ({ subject }) => subject.includes('keeps its'));
    expect(notice.text).toContain('Someone signed in with one of your passkeys');
    clock.advance(49 * hour);
    await until(
      async () =>
        (await service.storage.list({ start: 'outbox/recovery/', end: 'outbox/recovery0' })).entries
          .length === 0,
    );
    await (await passkeyLogin(service, authenticator)).answer.is(200);

    const weak = address();
    await empty();
    const { tab: thief } = await signIn(service, weak);
    const added = await register(service, thief);
    await added.answer.is(201);
    const waiting = (await start(thief)).metadata.name;
    await (await passkeyLogin(service, added.authenticator)).answer.is(200);
    expect(await phase(thief, waiting)).toBe('Waiting');
  });

  test('a new passkey counts no sooner than a recovery of its owner ends', async () => {
    const email = address();
    const { tab: thief } = await signIn(service, email);
    const { metadata, status } = (await (await register(service, thief)).answer.is(201)).body;
    clock.advance(47 * hour);
    await empty();
    const { tab: owner } = await signIn(service, email);
    const recovery = await start(owner);
    const held = (await owner.get(`passkeys/${metadata.name}`).is(200)).body.status
      .fullStrengthTimestamp;
    expect(held > status.fullStrengthTimestamp).toBe(true);
    expect(held > recovery.status.readyTimestamp).toBe(true);
    await owner.delete(`recoveries/${recovery.metadata.name}`).is(200);
  });
});

test('it waits as long as the setting says, as an added passkey does', async () => {
  clock.own();
  try {
    const service = await startTest({
      flags: ['--limit-factor', '1000', '--limits-recovery-wait', '8h'],
    });
    await createClient(service, 'app');
    const { account } = await withPasskey(service, 'ada@example.test');
    await service.tab().delete('mockmessages').is(200);
    const { tab } = await signIn(service, 'ada@example.test');
    const { metadata, status } = (await tab.post('accounts/~/recovery', { spec: {} }).is(201)).body;
    const started = Date.parse(status.startedTimestamp);
    expect(Math.abs(Date.parse(status.halfwayTimestamp) - started - 4 * hour)).toBeLessThan(2_000);
    expect(Math.abs(Date.parse(status.readyTimestamp) - started - 8 * hour)).toBeLessThan(2_000);
    clock.advance(8 * hour + minute);
    const replica = await service.replica();
    const recoveries = replica.store.reader(Recovery);
    await comesToHold(
      async () => (await recoveries.get(metadata.name))!.status.phase === 'Completed',
    );
    expect(await replica.store.reader(Passkey).list(account)).toEqual([]);
    await service.tab().delete('mockmessages').is(200);
    clock.advance(2_000);
    const again = await signIn(service, 'ada@example.test');
    const added = (await (await register(service, again.tab)).answer.is(201)).body;
    const full = Date.parse(added.status.fullStrengthTimestamp);
    expect(Math.abs(full - Date.now() - 8 * hour)).toBeLessThan(2_000);
  } finally {
    clock.release();
    await stopAll();
  }
});

test('it survives a restart and is carried out once', async () => {
  clock.own();
  try {
    const service = await startTest({ flags: ['--limit-factor', '1000'] });
    await createClient(service, 'app');
    const { account } = await withPasskey(service, 'ada@example.test');
    await service.tab().delete('mockmessages').is(200);
    const { tab } = await signIn(service, 'ada@example.test');
    const { metadata } = (await tab.post('accounts/~/recovery', { spec: {} }).is(201)).body;
    clock.advance(49 * hour);
    const [one, two] = [await service.replica(), await service.replica()];
    for (
      let i = 0;
      i < 500 &&
      (await one.store.reader(Recovery).get(metadata.name))!.status.phase !== 'Completed';
      i += 1
    ) {
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
    expect(await two.store.reader(Passkey).list(account)).toEqual([]);
    const subjects = async (): Promise<string[]> =>
      (await two.tab().get('mockmessages').is(200)).body.items.map(
        ({ status }: any) => status.subject as string,
      );
    for (
      let i = 0;
      i < 500 && !(await subjects()).some((subject) => subject.endsWith('were removed'));
      i += 1
    ) {
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
    expect((await subjects()).filter((subject) => subject.endsWith('were removed'))).toHaveLength(
      1,
    );
  } finally {
    clock.release();
    await stopAll();
  }
});
