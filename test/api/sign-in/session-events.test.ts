import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { clock } from '../../support/clock.js';
import { begin, mailTo, proceed, redeem, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

beforeAll(() => clock.own());
afterAll(async () => {
  clock.release();
  await stopAll();
});

const firefox = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0',
};

describe.each(stores)('the events of a session, over %s', (store) => {
  let service: TestService;
  let other: TestService;
  beforeAll(async () => {
    service = await startTest({ store, flags: ['--limit-factor', '1000'] });
    other = await service.replica();
    for (const name of ['app', 'board']) await createClient(service, name);
  });

  const eventsOf = async (tab: Tab): Promise<any[]> =>
    (await tab.get('sessions/~').is(200)).body.status.recentEvents;
  const newBrowser = (): Tab => Object.assign(service.tab(), { headers: firefox });
  const refresh = (at: TestService, token: string) =>
    at.tab().send('POST', '/oauth2/token', {
      plain: true,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        client_id: 'app',
        refresh_token: token,
      }).toString(),
    });
  const visit = async (tab: Tab, client: string) => {
    const begun = await begin(service, { tab, client, parameters: { prompt: 'consent' } });
    const { body } = await tab
      .post(`${begun.I}/consent`, { spec: { scopes: ['openid', 'email'] } })
      .is(200);
    const callback = new URL((await tab.navigate(body.status.returnTo).is(303)).headers.location!);
    await redeem(service, { ...begun, callback });
  };

  test('say how the person signed in, and which Clients got codes and tokens', async () => {
    const signedIn = await signIn(service, 'ada@example.test', {
      tab: newBrowser(),
      scope: 'openid email offline_access',
      parameters: { prompt: 'consent' },
    });
    const { tab } = signedIn;
    const first = {
      type: 'SignedIn',
      timestamp: expect.any(String),
      method: 'EmailCode',
      browser: 'Firefox on Linux',
    };
    const issued = (type: string, client: string) => ({
      type,
      timestamp: expect.any(String),
      client,
    });
    expect(await eventsOf(tab)).toEqual([first, issued('CodeIssued', 'app')]);
    let tokens = (await redeem(other, signedIn)).body;
    tokens = (await refresh(service, tokens.refresh_token).is(200)).body;
    expect(await eventsOf(tab)).toEqual([first, issued('CodeIssued', 'app')]);
    clock.advance(360_000);
    await refresh(other, tokens.refresh_token).is(200);
    await visit(tab, 'board');
    expect(await eventsOf(tab)).toEqual([
      first,
      issued('CodeIssued', 'app'),
      issued('TokensIssued', 'app'),
      issued('CodeIssued', 'board'),
    ]);
    const again = await begin(service, { tab, parameters: { prompt: 'login' } });
    await tab.post(`${again.I}/emailchallenge`, { spec: { email: 'ada@example.test' } }).is(200);
    const link = await mailTo(
      service,
      'ada@example.test',
      [],
      (status) => status.code !== undefined,
    );
    const { body } = await tab
      .post(`${again.I}/login`, { spec: { method: 'EmailLink', token: link.token } })
      .is(200);
    await proceed(tab, body.status.returnTo);
    expect((await eventsOf(tab)).at(-1)).toEqual({
      ...first,
      type: 'SignedInAgain',
      method: 'EmailLink',
    });
  });

  test('are ten at most, the newest', async () => {
    const { tab } = await signIn(service, 'grace@example.test', { tab: newBrowser() });
    for (let i = 0; i < 11; i += 1) {
      clock.advance(360_000);
      await visit(tab, i % 2 ? 'app' : 'board');
    }
    const events = await eventsOf(tab);
    expect(events.map(({ client }) => client)).toEqual(
      Array.from({ length: 10 }, (_, i) => (i % 2 ? 'board' : 'app')),
    );
    expect(new Set(events.map(({ timestamp }) => timestamp)).size).toBe(10);
    expect(JSON.stringify(events).length).toBeLessThan(2_048);
  });
});
