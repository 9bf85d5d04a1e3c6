import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { grantName } from '../../../kinds/apps/grant.js';
import {
  authorizationPath,
  type Begun,
  begin,
  mailTo,
  proceed,
  redeem,
  signIn,
  wrong,
} from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

const wide = 'openid email profile';

describe.each(stores)('over two replicas, on %s', (store) => {
  let one: TestService;
  let two: TestService;
  beforeAll(async () => {
    one = await startTest({ store, flags: ['--limit-factor', '1000'] });
    two = await one.replica();
    await createClient(one, 'app');
    await createClient(one, 'other');
  });
  afterAll(stopAll);

  /** The same browser, as it reaches the other replica. */
  const elsewhere = (tab: Tab): Tab => {
    const other = two.tab();
    other.cookies = [...tab.cookies];
    return other;
  };

  /** A sign-in up to the question what to share. */
  async function asked(
    address: string,
    scope: string,
    options: Parameters<typeof begin>[1] = {},
  ): Promise<Begun> {
    const begun = await begin(one, { ...options, scope });
    const { tab } = begun;
    if ((await tab.get(begun.I).is(200)).body.status.phase === 'ConsentRequired') return begun;
    await tab.post(`${begun.I}/emailchallenge`, { spec: { email: address } }).is(200);
    const { code } = await mailTo(one, address);
    await one.tab().delete('mockmessages').is(200);
    const { body } = await tab
      .post(`${begun.I}/login`, { spec: { method: 'EmailCode', code } })
      .is(200);
    const I = (await tab.navigate(body.status.returnTo).is(303)).headers.location!;
    return { ...begun, I, name: I.split('/').at(-1)! };
  }

  const userinfo = (service: TestService, token: string) =>
    service
      .tab()
      .get('/oauth2/userinfo', { plain: true, headers: { authorization: `Bearer ${token}` } });

  test('what one has answered, the other shows at once: interaction', async () => {
    for (let i = 0; i < 10; i += 1) {
      const { tab, I } = await begin(one);
      expect((await elsewhere(tab).get(I).is(200)).body.status.phase).toBe('LoginRequired');
      const { body: challenged } = await tab
        .post(`${I}/emailchallenge`, { spec: { email: `j7-${i}@example.test` } })
        .is(200);
      expect((await elsewhere(tab).get(I).is(200)).body).toMatchObject({
        metadata: challenged.metadata,
        status: { emailChallenge: challenged.status.emailChallenge },
      });
      const { code } = await mailTo(one, `j7-${i}@example.test`);
      const { body: entered } = await tab
        .post(`${I}/login`, { spec: { method: 'EmailCode', code } })
        .is(200);
      const { body: seen } = await elsewhere(tab).get(I).is(200);
      expect(seen.status).toMatchObject({
        phase: 'Authenticated',
        returnTo: entered.status.returnTo,
        account: { name: entered.status.account.name },
      });
      const { body: patched } = await elsewhere(tab)
        .patch(`${I}/account`, { spec: { displayName: `J ${i}` } })
        .is(200);
      expect((await tab.get(`${I}/account`).is(200)).body).toEqual(patched);
      await elsewhere(tab).delete(I).is(200);
      expect((await tab.get(I).is(200)).body.status.phase).toBe('Aborted');
    }
  });

  test('session and grant', async () => {
    for (let i = 0; i < 10; i += 1) {
      const { tab } = await signIn(one, `j7s-${i}@example.test`, { scope: wide });
      const other = elsewhere(tab);
      const { body: session } = await other.get('sessions/~').is(200);
      const account = session.status.account as string;
      const grant = `grants/${grantName(account, 'app')}`;
      expect((await other.get(grant).is(200)).body.spec.scopes).toEqual([
        'openid',
        'email',
        'profile',
      ]);
      const again = await begin(one, { tab, scope: wide, parameters: { prompt: 'consent' } });
      await tab.post(`${again.I}/consent`, { spec: { scopes: ['openid', 'email'] } }).is(200);
      expect((await other.get(grant).is(200)).body.spec.scopes).toEqual(['openid', 'email']);
      const mine = (await signIn(one, `j7s-${i}@example.test`)).tab;
      await mine.delete(`sessions/${session.metadata.name}`).is(200);
      await elsewhere(mine).get(`sessions/${session.metadata.name}`).fails(404, 'NotFound');
      expect(
        (await elsewhere(mine).get('sessions').is(200)).body.items.map(
          (item: any) => item.metadata.name,
        ),
      ).not.toContain(session.metadata.name);
    }
  });

  test('consent twice at once with different scopes: one is used whole', async () => {
    for (let i = 0; i < 8; i += 1) {
      const address = `j5-${i}@example.test`;
      const { tab, I, verifier, client } = await asked(address, wide);
      const wanted = [
        ['openid', 'email'],
        ['openid', 'email', 'profile'],
      ];
      const answers = await Promise.all(
        wanted.map((scopes, n) =>
          (n === i % 2 ? tab : elsewhere(tab)).post(`${I}/consent`, { spec: { scopes } }),
        ),
      );
      expect(answers.map(({ code }) => code).sort()).toEqual([200, 409]);
      const won = answers.findIndex(({ code }) => code === 200);
      const callback = new URL(
        (await tab.navigate(answers[won]!.body.status.returnTo).is(303)).headers.location!,
      );
      const { body } = await redeem(one, { callback, verifier, client });
      expect(body.scope).toBe(wanted[won]!.join(' '));
      const { body: grants } = await tab.get('grants').is(200);
      expect(grants.items.map(({ spec }: any) => spec.scopes)).toEqual([wanted[won]]);
      expect(Object.hasOwn((await userinfo(two, body.access_token)).body, 'email')).toBe(true);
    }
  });

  test('two consents from two browsers at once leave the Grant of one of them', async () => {
    const address = 'j5-two@example.test';
    const halves = [await asked(address, wide), await asked(address, wide)];
    const wanted = [
      ['openid', 'email'],
      ['openid', 'email', 'profile'],
    ];
    const answers = await Promise.all(
      halves.map(({ tab, I }, i) =>
        (i ? elsewhere(tab) : tab).post(`${I}/consent`, { spec: { scopes: wanted[i] } }),
      ),
    );
    expect(answers.map(({ code }) => code)).toEqual([200, 200]);
    const tokens = await Promise.all(
      halves.map(async ({ tab, verifier, client }, i) => {
        const { headers } = await tab.navigate(answers[i]!.body.status.returnTo).is(303);
        return headers.location!.startsWith('https://app.example.test/')
          ? (await redeem(one, { callback: new URL(headers.location!), verifier, client })).body
          : undefined;
      }),
    );
    const { body } = await halves[0]!.tab.get('grants').is(200);
    expect(body.items).toHaveLength(1);
    const scopes = body.items[0].spec.scopes as string[];
    expect(wanted).toContainEqual(scopes);
    for (const token of tokens) {
      if (token && (await userinfo(one, token.access_token)).code === 200) {
        expect(token.scope.split(' ').every((scope: string) => scopes.includes(scope))).toBe(true);
      }
    }
  });

  test('nothing succeeds a second after the answer of a sign-out', async () => {
    const { tab, callback, verifier, client } = await signIn(one, 'j6@example.test', {
      scope: wide,
    });
    const { body: tokens } = await redeem(one, { callback, verifier, client });
    const unredeemed = [await silently(tab), await silently(tab)];
    for (const silent of unredeemed) expect(silent.callback.searchParams.get('code')).toBeTruthy();
    const attempts: { began: number; code: number; what: string }[] = [];
    let over = Infinity;
    const pump = async (
      what: string,
      send: (service: TestService) => PromiseLike<{ code: number }>,
    ): Promise<void> => {
      for (let i = 0, began = 0; began <= over + 1000 || performance.now() < over + 1500; i += 1) {
        began = performance.now();
        attempts.push({ began, what, code: (await send(i % 2 ? one : two)).code });
      }
    };
    const held = [...tab.cookies];
    const holding = (service: TestService): Tab => {
      const copy = service.tab();
      copy.cookies = [...held];
      return copy;
    };
    const pumps = [
      pump('userinfo', (service) => userinfo(service, tokens.access_token)),
      pump('patch', (service) =>
        holding(service).patch('accounts/~', { spec: { displayName: `at ${performance.now()}` } }),
      ),
      pump('read', (service) => holding(service).get('accounts/~')),
      pump('silent', async (service) => ({
        code:
          (await silently(holding(service))).callback.searchParams.get('error') === 'login_required'
            ? 401
            : 200,
      })),
    ];
    const outcome = await tab.delete('sessions/~');
    over = performance.now();
    expect(outcome.code).toBe(200);
    await Promise.all(pumps);
    for (const silent of unredeemed) {
      expect((await redeem(two, { ...silent, client })).code).toBe(400);
    }
    const late = attempts.filter(({ began, code }) => began > over + 1000 && code < 400);
    expect(late).toEqual([]);
    for (const what of ['userinfo', 'patch', 'read', 'silent']) {
      expect(attempts.some((attempt) => attempt.what === what && attempt.began > over + 1000)).toBe(
        true,
      );
    }
  });

  /** An authorization that shows nothing; one that lost a race is sent back to itself. */
  async function silently(tab: Tab): Promise<{ callback: URL; verifier: string }> {
    const verifier = 'v'.repeat(43);
    for (let path = authorizationPath('app', wide, verifier, { prompt: 'none' }); ; ) {
      const { headers } = await tab.navigate(path).is(303);
      if (!headers.location!.startsWith('/oauth2/auth?')) {
        return { callback: new URL(headers.location!), verifier };
      }
      path = headers.location!;
    }
  }

  test('what is used offline outlives the sign-out, and ends with the Grant for good', async () => {
    const { tab, ...done } = await signIn(one, 'j6-offline@example.test', {
      scope: 'openid email offline_access',
      parameters: { prompt: 'consent' },
    });
    const { body: tokens } = await redeem(one, done);
    await tab.delete('sessions/~').is(200);
    const refreshed = await refresh(two, tokens.refresh_token);
    expect(refreshed.code).toBe(200);
    const again = await asked('j6-offline@example.test', 'openid email offline_access', {
      parameters: { prompt: 'consent' },
    });
    await again.tab.post(`${again.I}/consent`, { spec: { scopes: ['openid', 'email'] } }).is(200);
    expect((await refresh(two, refreshed.body.refresh_token)).code).toBe(400);
    expect((await userinfo(two, refreshed.body.access_token)).code).toBe(401);
  });

  const refresh = (service: TestService, token: string) =>
    service.tab().send('POST', '/oauth2/token', {
      plain: true,
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        refresh_token: token,
        client_id: 'app',
      }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });

  test('scopes that are unknown, unasked, missing or twice: none of it in the token', async () => {
    const { tab, I, verifier, client } = await asked('i6@example.test', 'openid email');
    const consent = (scopes: unknown) => tab.post(`${I}/consent`, { spec: { scopes } });
    await consent(['openid', 'email', 'nonsense']).fails(422, 'Invalid', 'spec.scopes[2]');
    await consent(['openid', 'email', 'profile']).fails(422, 'Invalid', 'spec.scopes[2]');
    await consent(['openid', 'email', 'api']).fails(422, 'Invalid', 'spec.scopes[2]');
    await consent(['openid', 'email', 'constructor']).fails(422, 'Invalid', 'spec.scopes[2]');
    await consent(['openid email']).fails(422, 'Invalid', 'spec.scopes[0]');
    await consent(['OPENID', 'email']).fails(422, 'Invalid', 'spec.scopes[0]');
    await consent(['openid']).fails(422, 'Invalid', 'spec.scopes');
    await consent(['email']).fails(422, 'Invalid', 'spec.scopes');
    await consent([]).fails(422, 'Invalid', 'spec.scopes');
    for (const odd of [
      'openid email',
      { 0: 'openid' },
      [['openid']],
      [1],
      [null],
      null,
      Array.from({ length: 51 }, () => 'openid'),
      ['openid', 'email', 'email', 'openid'],
    ]) {
      expect((await consent(odd)).code).toBe(422);
    }
    expect((await tab.get(I).is(200)).body.status.phase).toBe('ConsentRequired');
    expect((await tab.get('grants').is(200)).body.items).toEqual([]);
    const { body } = await consent(['openid', 'email']).is(200);
    const callback = new URL((await tab.navigate(body.status.returnTo).is(303)).headers.location!);
    const { body: tokens } = await redeem(one, { callback, verifier, client });
    expect(tokens.scope).toBe('openid email');
    expect((await tab.get('grants').is(200)).body.items[0].spec.scopes).toEqual([
      'openid',
      'email',
    ]);
    expect(Object.keys((await userinfo(two, tokens.access_token)).body).sort()).toEqual([
      'email',
      'email_verified',
      'sub',
    ]);
  });

  test('what the Client may not ask for never comes to the question', async () => {
    for (const scope of ['openid email nonsense', 'openid email api', 'openid email groups']) {
      const { tab, I } = await begin(one, { scope });
      if (I.startsWith('http')) {
        expect(new URL(I).searchParams.get('error')).toBe('invalid_scope');
      } else {
        expect((await tab.get(I).is(200)).body.spec.scopes).toEqual(['openid', 'email']);
      }
    }
  });

  test('two proofs of two people in one interaction at once: one of them, whole', async () => {
    const { tab, I } = await begin(one);
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'two-proofs@example.test' } }).is(200);
    const mail = await mailTo(one, 'two-proofs@example.test');
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, i) =>
        (i % 2 ? tab : elsewhere(tab)).post(`${I}/login`, {
          spec:
            i % 3
              ? { method: 'EmailLink', token: mail.token }
              : { method: 'EmailCode', code: mail.code },
        }),
      ),
    );
    expect(answers.filter(({ code }) => code === 200)).toHaveLength(1);
    expect(answers.every(({ code }) => [200, 409, 410].includes(code))).toBe(true);
    expect(
      (
        await proceed(tab, answers.find(({ code }) => code === 200)!.body.status.returnTo)
      ).searchParams.get('code'),
    ).toBeTruthy();
  });
});

describe.each(stores)(
  '200 wrong codes at once over three replicas, at the real limits, on %s',
  (store) => {
    afterAll(stopAll);

    test('spend exactly five tries', async () => {
      const service = await startTest({ store, flags: ['--trusted-proxies', '127.0.0.1'] });
      const replicas = [service, await service.replica(), await service.replica()];
      await createClient(service, 'app');
      const { tab, I } = await begin(service);
      await tab.post(`${I}/emailchallenge`, { spec: { email: 'guessed@example.test' } }).is(200);
      const { code } = await mailTo(service, 'guessed@example.test');
      const at = (i: number): Tab => {
        const copy = replicas[i % 3]!.tab();
        copy.cookies = [...tab.cookies];
        return copy;
      };
      const guess = (i: number, network: string) =>
        at(i).post(
          `${I}/login`,
          { spec: { method: 'EmailCode', code: wrong(code) } },
          { headers: { 'x-forwarded-for': network } },
        );
      const answers = await Promise.all(
        Array.from({ length: 200 }, (_, i) => guess(i, `198.51.${i % 40}.1`)),
      );
      const judged = answers.filter((answer) => answer.code === 422);
      expect(judged.map(({ body }) => body.details.triesLeft).sort()).toEqual([0, 1, 2, 3, 4]);
      expect(answers.filter((answer) => answer.code === 410)).toHaveLength(195);
      const alone = await Promise.all(
        Array.from({ length: 200 }, (_, i) => guess(i, '203.0.113.9')),
      );
      expect(alone.filter((answer) => answer.code === 410).length).toBeLessThanOrEqual(60);
      expect(alone.every((answer) => answer.code === 410 || answer.code === 429)).toBe(true);
      await at(0)
        .post(
          `${I}/login`,
          { spec: { method: 'EmailCode', code } },
          { headers: { 'x-forwarded-for': '192.0.2.1' } },
        )
        .fails(410, 'Expired');
      expect((await tab.get(I).is(200)).body.status.emailChallenge.triesLeft).toBe(0);
    });
  },
);
