import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as jose from 'jose';
import { Interaction } from '../../../kinds/interaction/interaction.js';
import { Session } from '../../../kinds/people/session/session.js';
import { prefixRange } from '../../../storage/storage.js';
import { startNotes } from '../../browser/support/notes.js';
import { clock } from '../../support/clock.js';
import { Endpoint } from '../../support/network/endpoint.js';
import { Stream } from '../../support/network/stream.js';
import { settles } from '../../support/patience.js';
import {
  authorizationPath,
  type Begun,
  begin,
  proceed,
  redeem,
  signIn,
} from '../../support/people/signin.js';
import { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(async () => {
  clock.release();
  await stopAll();
});

const form = (values: Record<string, string>) => ({
  plain: true,
  body: new URLSearchParams(values).toString(),
  headers: { 'content-type': 'application/x-www-form-urlencoded' },
});
const refreshed = (service: TestService, token: string, client: string) =>
  service
    .tab()
    .send(
      'POST',
      '/oauth2/token',
      form({ grant_type: 'refresh_token', refresh_token: token, client_id: client }),
    );
const userinfo = (service: TestService, token: string) =>
  service
    .tab()
    .get('/oauth2/userinfo', { plain: true, headers: { authorization: `Bearer ${token}` } });

describe.each(stores)('signing out over two replicas, on %s', (store) => {
  let one: TestService;
  let two: TestService;
  let listener: Endpoint;
  let broken: Endpoint;
  beforeAll(async () => {
    clock.own();
    one = await startTest({
      store,
      flags: ['--limit-factor', '1000', '--operators', 'op@example.test'],
    });
    two = await one.replica();
    [listener, broken] = [await new Endpoint().open(), await new Endpoint().open()];
    await createClient(one, 'app', { backchannelLogoutURI: listener.uri });
    await createClient(one, 'untold');
    await createClient(one, 'keeps', { grantTypes: ['authorization_code', 'refresh_token'] });
    await createClient(one, 'down', { backchannelLogoutURI: broken.uri });
  });
  afterAll(async () => {
    listener.close();
    broken.close();
    await stopAll();
  });

  /** The same browser at a replica, with a copy of its cookies. */
  const at = (service: TestService, tab: Tab): Tab => {
    const copy = service.tab();
    copy.cookies = [...tab.cookies];
    return copy;
  };

  /** Another Client's sign-in in a browser that is signed in, agreed to. */
  async function also(
    tab: Tab,
    client: string,
    scope = 'openid email',
  ): Promise<Begun & { callback: URL }> {
    const begun = await begin(one, { tab, client, scope, parameters: { prompt: 'consent' } });
    const { body } = await tab
      .post(`${begun.I}/consent`, { spec: { scopes: scope.split(' ') } })
      .is(200);
    return {
      ...begun,
      callback: new URL((await tab.navigate(body.status.returnTo).is(303)).headers.location!),
    };
  }

  /**
   * A browser with all that hangs on being signed in: tokens, a code, what is used offline, a
   * consent under way, watches.
   */
  async function person(address: string) {
    const signedIn = await signIn(one, address, { scope: 'openid email profile' });
    const { tab } = signedIn;
    const { body: session } = await tab.get('sessions/~').is(200);
    const { body: tokens } = await redeem(one, signedIn);
    const offline = (await redeem(one, await also(tab, 'keeps', 'openid email offline_access')))
      .body;
    const unredeemed = await also(tab, 'untold');
    const asked = await begin(one, { tab, client: 'down', parameters: { prompt: 'consent' } });
    const watches = [
      new Stream(at(one, tab), 'sessions?watch=true'),
      new Stream(at(two, tab), 'sessions?watch=true'),
    ];
    for (const watch of watches) await watch.until(({ code }) => code === 200);
    for (const replica of [one, two]) {
      await at(replica, tab).get('accounts/~').is(200);
      await userinfo(replica, tokens.access_token).is(200);
    }
    return {
      tab,
      held: at(one, tab),
      session,
      access: tokens.access_token as string,
      idToken: tokens.id_token as string,
      offline,
      unredeemed,
      asked,
      watches,
    };
  }

  type Person = Awaited<ReturnType<typeof person>>;

  /** What 1.6 of the security page says of a session that has ended, on every replica. */
  async function isOver({ held, access, unredeemed, asked, watches }: Person): Promise<void> {
    for (const replica of [one, two]) {
      await settles(
        () => at(replica, held).get('accounts/~'),
        ({ code }) => code === 401,
      );
      await userinfo(replica, access).is(401);
      expect((await redeem(replica, unredeemed)).body.error).toBe('invalid_grant');
      const { headers } = await at(replica, held)
        .navigate(authorizationPath('app', 'openid email', 'v'.repeat(43), { prompt: 'none' }))
        .is(303);
      expect(new URL(headers.location!).searchParams.get('error')).toBe('login_required');
      await settles(
        () => at(replica, asked.tab).get(asked.I),
        ({ code }) => code === 410 || code === 404,
      );
      expect([404, 410]).toContain(
        (
          await at(replica, asked.tab).post(`${asked.I}/consent`, {
            spec: { scopes: ['openid', 'email'] },
          })
        ).code,
      );
    }
    for (const watch of watches) await watch.until(({ ended }) => ended);
  }

  /** Expects what a Client is sent (OpenID Connect Back-Channel Logout 1.0). */
  async function isLogoutToken(
    token: string,
    client: string,
    { session, idToken }: Person,
  ): Promise<void> {
    const { body } = await one.tab().get('/oauth2/jwks').is(200);
    const { payload } = await jose.jwtVerify(token, jose.createLocalJWKSet(body), {
      issuer: one.baseURL,
      audience: client,
      typ: 'logout+jwt',
      clockTolerance: 5,
    });
    expect(payload).toMatchObject({
      sub: session.status.account,
      jti: expect.any(String),
      events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
    });
    if (client === 'app') expect(payload.sid).toBe(jose.decodeJwt(idToken).sid);
    expect(payload.exp! - payload.iat!).toBeLessThanOrEqual(120);
    expect(payload).not.toHaveProperty('nonce');
  }

  test('DELETE of a session ends all that hangs on it, offline use apart', async () => {
    const ada = await person('l2@example.test');
    const before = listener.tokens.length;
    const { body: ended, headers } = await ada.tab.delete('sessions/~').is(200);
    expect(ended).toMatchObject({
      kind: 'Session',
      metadata: { name: ada.session.metadata.name, deletionTimestamp: expect.stringMatching(/Z$/) },
    });
    expect(ended.status.signOut.clients).toEqual(
      expect.arrayContaining([
        { name: 'app', state: expect.stringMatching(/^(Retrying|Notified)$/) },
        { name: 'untold', state: 'Unsupported' },
        { name: 'keeps', state: 'Unsupported' },
      ]),
    );
    expect([headers['set-cookie']].flat().join()).toContain('vestibule-session=;');
    expect(ada.tab.cookie('vestibule-session')).toBeUndefined();
    await isOver(ada);
    await settles(
      async () => listener.tokens.length,
      (count) => count > before,
    );
    await isLogoutToken(listener.tokens.at(-1)!, 'app', ada);
    await settles(
      () => one.store.reader(Session).list(ada.session.status.account),
      (left) => left.length === 0,
    );
    const { body: renewed } = await refreshed(two, ada.offline.refresh_token, 'keeps').is(200);
    const { tab } = await signIn(one, 'l2@example.test', { client: 'untold' });
    await tab.delete(`grants/${ada.session.status.account}-keeps`).is(200);
    for (const replica of [one, two]) {
      expect((await refreshed(replica, renewed.refresh_token, 'keeps').is(400)).body.error).toBe(
        'invalid_grant',
      );
      await userinfo(replica, renewed.access_token).is(401);
    }
    expect((await tab.delete('sessions/~').is(200)).body).toMatchObject({
      metadata: { deletionTimestamp: expect.any(String) },
      status: { signOut: { clients: [{ name: 'untold', state: 'Unsupported' }] } },
    });
    await tab.get('sessions/~').fails(401, 'Unauthorized');
  });

  test('a Client that does not answer delays no one and is given up at last', async () => {
    const ada = await person('h5@example.test');
    await also(ada.tab, 'down');
    const elsewhere = (await signIn(one, 'h5@example.test')).tab;
    const path = `sessions/${ada.session.metadata.name}`;
    const watches = [one, two].map(
      (replica) => new Stream(at(replica, elsewhere), 'sessions?watch=true'),
    );
    for (const watch of watches) await watch.until(({ code }) => code === 200);
    broken.state = 'Silent';
    const { body: ended } = await elsewhere.delete(path).is(200);
    expect(ended.status.signOut.clients).toContainEqual({ name: 'down', state: 'Retrying' });
    await settles(
      async () => broken.waiting,
      (count) => count === 1,
    );
    for (const replica of [one, two]) {
      await settles(
        () => at(replica, ada.held).get('accounts/~'),
        ({ code }) => code === 401,
      );
    }
    broken.state = 'Down';
    const stands = (service: TestService) => at(service, elsewhere).get(path).is(200);
    for (const replica of [one, two]) {
      const { body } = await settles(
        () => stands(replica),
        (seen) => seen.body.status.signOut.clients.some(({ state }: any) => state === 'Notified'),
      );
      expect(body.status.signOut.clients).toEqual(
        expect.arrayContaining([
          { name: 'app', state: 'Notified' },
          { name: 'down', state: 'Retrying' },
          { name: 'untold', state: 'Unsupported' },
        ]),
      );
      expect(body.status.signOut.clients).toEqual(
        (await stands(replica)).body.status.signOut.clients,
      );
    }
    await isLogoutToken(broken.tokens[0]!, 'down', ada);
    await settles(
      async () => broken.waiting,
      (count) => count === 0,
    );
    clock.advance(86_400_000 - 25_000);
    for (const watch of watches) {
      await watch.until(
        ({ events }) =>
          events.some(
            ({ type, object }) =>
              type === 'DELETED' && object.metadata.name === ada.session.metadata.name,
          ),
        60_000,
      );
      const last = watch.events
        .filter(({ object }) => object.metadata.name === ada.session.metadata.name)
        .slice(-2);
      expect(last.map(({ type }) => type)).toEqual(['MODIFIED', 'DELETED']);
      for (const { object } of last) {
        expect(object.status.signOut.clients).toContainEqual({ name: 'down', state: 'GaveUp' });
      }
      watch.close();
    }
    await elsewhere.get(path).fails(404, 'NotFound');
    expect(broken.tokens.length).toBeGreaterThan(1);
    expect(new Set(broken.tokens.map((token) => jose.decodeJwt(token).jti)).size).toBe(
      broken.tokens.length,
    );
    await settles(
      () => one.storage.list(prefixRange('outbox/logout/')),
      ({ entries }) => entries.length === 0,
    );
  }, 120_000);

  test('the sample is notified, or once it runs again', async () => {
    const notes = await startNotes(one);
    const rounds = ['running', 'ended'] as const;
    try {
      for (const round of rounds) {
        const { tab } = await signIn(one, 'sample@example.test');
        const { tab: elsewhere } = await signIn(one, 'sample@example.test', { client: 'untold' });
        const app = new Tab(notes.url, notes.url);
        const callback = await proceed(
          tab,
          (await app.navigate('/login').is(303)).headers.location!,
        );
        await app.navigate(callback.href).is(303);
        expect((await app.navigate('/').is(200)).bytes.toString()).toContain('Hello');
        const {
          metadata: { name },
          status: { account },
        } = (await tab.get('sessions/~').is(200)).body;
        const watches = [one, two].map(
          (replica) => new Stream(at(replica, elsewhere), 'sessions?watch=true'),
        );
        for (const watch of watches) await watch.until(({ code }) => code === 200);
        const failures = () =>
          [one, two].reduce(
            (sum, replica) => sum + (replica.counts().get('backchannel.error') ?? 0),
            0,
          );
        const before = failures();
        if (round === 'ended') await notes.end();
        expect(
          (await elsewhere.delete(`sessions/${name}`).is(200)).body.status.signOut.clients,
        ).toContainEqual({ name: 'notes', state: 'Retrying' });
        if (round === 'ended') {
          await settles(
            async () => failures(),
            (count) => count > before,
          );
          for (const replica of [one, two]) {
            expect(
              (await at(replica, elsewhere).get(`sessions/${name}`).is(200)).body.status.signOut
                .clients,
            ).toContainEqual({ name: 'notes', state: 'Retrying' });
          }
          await notes.start();
        }
        for (const watch of watches) {
          await watch.until(
            ({ events }) =>
              events.some(
                ({ type, object }) => type === 'DELETED' && object.metadata.name === name,
              ),
            60_000,
          );
          const last = watch.events.filter(({ object }) => object.metadata.name === name).slice(-2);
          expect(
            last.map(({ type, object }) => [
              type,
              object.status.signOut.clients.find((client: any) => client.name === 'notes').state,
            ]),
          ).toEqual([
            ['MODIFIED', 'Notified'],
            ['DELETED', 'Notified'],
          ]);
          watch.close();
        }
        expect(notes.lines.at(-1)).toBe(
          `${account} signed out at the provider; sessions ended here: ${round === 'ended' ? 0 : 1}`,
        );
        expect((await app.navigate('/').is(200)).bytes.toString()).toContain('Keep your notes');
      }
    } finally {
      notes.stop();
    }
  }, 120_000);

  test.each(['disabled', 'deleted'] as const)(
    'an account %s: all of it, of every session',
    async (how) => {
      broken.state = 'Up';
      const address = `l2-${how}@example.test`;
      const people = [await person(address), await person(address)];
      const name = people[0]!.session.status.account as string;
      const before = listener.tokens.length;
      const { tab: operator } = await signIn(one, 'op@example.test');
      await (how === 'disabled'
        ? operator.post(`accounts/${name}/disable`, {})
        : operator.delete(`accounts/${name}`)
      ).is(200);
      for (const each of people) {
        await isOver(each);
        for (const replica of [one, two]) {
          expect(
            (await refreshed(replica, each.offline.refresh_token, 'keeps').is(400)).body.error,
          ).toBe('invalid_grant');
          await userinfo(replica, each.offline.access_token).is(401);
        }
      }
      await settles(
        async () => listener.tokens.length,
        (count) => count >= before + 2,
      );
      await settles(
        () => one.store.reader(Session).list(name),
        (left) => left.length === 0,
      );
      if (how === 'deleted') {
        for (const { asked } of people) {
          await settles(
            () => one.store.reader(Interaction).get(asked.name),
            (left) => left === undefined,
          );
        }
      }
    },
  );
});
