import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { begin, mailTo, signIn } from '../../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const agent = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';

describe.each(stores)('a sign-in from a new browser, on %s', (store) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTest({ store, flags: ['--limit-factor', '1000'] });
    await createClient(service, 'app');
  });

  /** A browser like every other one, which has signed in to nothing yet. */
  const browser = () => Object.assign(service.tab(), { headers: { 'user-agent': agent } });
  const noticesTo = async (address: string): Promise<string[]> => {
    const { body } = await service.tab().get('mockmessages').is(200);
    return body.items
      .filter(({ status }: any) => status.to === address && status.code === undefined)
      .map(({ status }: any) => status.subject);
  };
  const inbox = (address: string) =>
    mailTo(service, address, [], (status) => status.code === undefined);

  test('is reported by mail, though a session of a browser just like it is live', async () => {
    await signIn(service, 'new@example.test', { tab: browser() });
    await signIn(service, 'new@example.test', { tab: browser() });
    const notice = await inbox('new@example.test');
    expect(notice.subject).toMatch(/^A new sign-in to your account/);
    expect(notice.text).toContain('Firefox on Linux');
  });

  test('is not reported where it made the account or has proven a sign-in', async () => {
    const known = browser();
    const { tab } = await signIn(service, 'known@example.test', { tab: known });
    await tab.delete('sessions/~').is(200);
    await signIn(service, 'known@example.test', { tab: known });
    await signIn(service, 'other@example.test', { tab: browser() });
    await signIn(service, 'other@example.test', { tab: browser() });
    await inbox('other@example.test');
    expect(await noticesTo('known@example.test')).toEqual([]);
  });

  test('is written with the session: nothing is left to be done after the commit', async () => {
    await signIn(service, 'commit@example.test', { tab: browser() });
    const begun = await begin(service, { tab: browser() });
    await begun.tab
      .post(`${begun.I}/emailchallenge`, { spec: { email: 'commit@example.test' } })
      .is(200);
    const { code } = await mailTo(
      service,
      'commit@example.test',
      [],
      (status) => status.code !== undefined,
    );
    const { body } = await begun.tab
      .post(`${begun.I}/login`, { spec: { method: 'EmailCode', code } })
      .is(200);
    const commits: string[][] = [];
    const { commit } = service.storage;
    service.storage.commit = (checks, writes) => {
      commits.push(writes.map((write) => ('put' in write ? write.put : write.delete)));
      return commit.call(service.storage, checks, writes);
    };
    await begun.tab.navigate(body.status.returnTo).is(303);
    service.storage.commit = commit;
    const session = commits.filter((keys) =>
      keys.some((key) => key.startsWith('objects/sessions/')),
    );
    expect(session[0]).toEqual(expect.arrayContaining([`outbox/mail/browser-${begun.name}`]));
  });
});
