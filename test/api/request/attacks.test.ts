import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Account } from '../../../kinds/people/account/account.js';
import { expectFor } from '../../support/expect-for.js';
import fc from '../../support/fast-check.js';
import {
  authorizationPath,
  type Begun,
  begin,
  mailTo,
  redeem,
  signIn,
  wrong,
} from '../../support/people/signin.js';
import type { Answer, Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';

let one: TestService;
let two: TestService;
beforeAll(async () => {
  one = await startTest({ flags: ['--limit-factor', '100000'] });
  two = await one.replica();
  await createClient(one, 'app');
});
afterAll(async () => {
  await stopAll();
  expect(
    [...one.logs, ...two.logs].filter(
      (line) => (JSON.parse(line) as { level: string }).level === 'error',
    ),
  ).toEqual([]);
});

const elsewhere = (tab: Tab): Tab => {
  const other = two.tab();
  other.cookies = [...tab.cookies];
  return other;
};

/** An interaction with a mail on its way. */
async function challenged(
  address: string,
): Promise<Begun & { mail: Awaited<ReturnType<typeof mailTo>> }> {
  const begun = await begin(one, { scope: 'openid email profile' });
  await one.tab().delete('mockmessages').is(200);
  await begun.tab.post(`${begun.I}/emailchallenge`, { spec: { email: address } }).is(200);
  return { ...begun, mail: await mailTo(one, address) };
}

/** The same, with the code given: what stands is the way on. */
async function entered(address: string): Promise<Begun & { returnTo: string }> {
  const { mail, ...begun } = await challenged(address);
  const { body } = await begun.tab
    .post(`${begun.I}/login`, { spec: { method: 'EmailCode', code: mail.code } })
    .is(200);
  return { ...begun, returnTo: body.status.returnTo };
}

describe('proofs', () => {
  test('five wrong codes end the link of the same mail too', async () => {
    const { tab, I, mail } = await challenged('burnt@example.test');
    for (let i = 0; i < 5; i += 1) {
      await tab
        .post(`${I}/login`, { spec: { method: 'EmailCode', code: wrong(mail.code) } })
        .fails(422, 'Invalid');
    }
    await tab
      .post(`${I}/login`, { spec: { method: 'EmailLink', token: mail.token } })
      .fails(410, 'Expired');
    expect((await tab.get(I).is(200)).body.status.phase).toBe('LoginRequired');
  });

  test('the fifth try may still be the right one', async () => {
    const { tab, I, mail } = await challenged('fifth@example.test');
    for (let i = 0; i < 4; i += 1) {
      await tab
        .post(`${I}/login`, { spec: { method: 'EmailCode', code: wrong(mail.code) } })
        .fails(422, 'Invalid');
    }
    await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code: mail.code } }).is(200);
  });

  test('a browser that gets "cancelled" is not signed in by a login at once', async () => {
    for (let i = 0; i < 15; i += 1) {
      const { tab, I, mail } = await challenged(`cancel-${i}@example.test`);
      const login = tab.post(`${I}/login`, { spec: { method: 'EmailCode', code: mail.code } });
      const cancel = elsewhere(tab).delete(I);
      const [entry, cancelled] = await Promise.all([login, cancel]);
      if (cancelled.code !== 200) continue;
      expect([200, 409, 410]).toContain(entry.code);
      const { headers } = await tab.navigate(cancelled.body.status.returnTo).is(303);
      expect(new URL(headers.location!, one.baseURL).searchParams.get('error')).toBe(
        'access_denied',
      );
      await tab.get('accounts/~').fails(401, 'Unauthorized');
    }
  });

  test('cancelling after the proof holds, in whichever order the two are handed on', async () => {
    const { tab, I, returnTo } = await entered('regret@example.test');
    await elsewhere(tab).delete(I).is(200);
    await tab.get(I).is(200);
    const { headers } = await tab.navigate(returnTo).is(303);
    expect(new URL(headers.location!).searchParams.get('error')).toBe('access_denied');
    await tab.get('accounts/~').fails(401, 'Unauthorized');
  });
});

describe('ways back', () => {
  /** One address opened ten times at once, by one browser over both replicas. */
  async function tenfold(tab: Tab, address: string): Promise<{ copy: Tab; answer: Answer }[]> {
    const copies = Array.from({ length: 10 }, (_, i) => {
      const copy = i % 2 ? two.tab() : one.tab();
      copy.cookies = [...tab.cookies];
      return copy;
    });
    const opened = await Promise.all(
      copies.map(async (copy) => ({ copy, answer: await copy.navigate(address) })),
    );
    expect(opened.every(({ answer }) => answer.code === 303 || answer.code === 400)).toBe(true);
    return opened;
  }

  test('followed ten times at once: one session, one code, no failure', async () => {
    const { tab, returnTo, verifier, client } = await entered('tenfold@example.test');
    const led = (await tenfold(tab, returnTo)).filter(({ answer }) =>
      answer.headers.location?.startsWith('/api/'),
    );
    expect(led).toHaveLength(1);
    const { copy, answer } = led[0]!;
    const consented = await copy
      .post(`${answer.headers.location!}/consent`, { spec: { scopes: ['openid', 'email'] } })
      .is(200);
    const second = await tenfold(copy, consented.body.status.returnTo);
    const back = second.filter(({ answer: { headers } }) => headers.location?.includes('code='));
    expect(back).toHaveLength(1);
    const { body } = await redeem(one, {
      callback: new URL(back[0]!.answer.headers.location!),
      verifier,
      client,
    });
    expect(
      (
        await one.tab().get('/oauth2/userinfo', {
          plain: true,
          headers: { authorization: `Bearer ${body.access_token}` },
        })
      ).code,
    ).toBe(200);
    expect((await back[0]!.copy.get('sessions').is(200)).body.items).toHaveLength(1);
  });

  test('of another browser’s interaction lead nowhere, with any of its cookies missing', async () => {
    const { tab, returnTo } = await entered('stolen@example.test');
    for (const name of ['vestibule-resume', 'vestibule-resume.sig']) {
      const thief = one.tab();
      thief.cookies = tab.cookies.filter((cookie) => cookie.name !== name);
      const answer = await thief.navigate(returnTo);
      expectFor(name, [answer.code, answer.headers.location]).toEqual([400, undefined]);
    }
  });
});

describe('what has ended', () => {
  const asked = async (address: string): Promise<Begun> => {
    const begun = await entered(address);
    const I = (await begun.tab.navigate(begun.returnTo).is(303)).headers.location!;
    return { ...begun, I, name: I.split('/').at(-1)! };
  };
  const disable = async (address: string): Promise<void> => {
    const account = (await one.store.reader(Account).byUnique('email', address))!;
    await one.store.change(one.store.systemCall(), (tx) =>
      tx.update(Account, account.metadata.name, ({ status }) => {
        status.disabledTimestamp = '2026-01-01T00:00:00Z';
      }),
    );
  };
  const grants = async (address: string): Promise<unknown> => {
    const account = (await one.store.reader(Account).byUnique('email', address))!;
    return (await one.storage.get(`objects/grants/${account.metadata.name}-app`)).entry;
  };

  test('consent in a session that was signed out in between is 410 and leaves no Grant', async () => {
    const { tab, I } = await asked('left@example.test');
    await elsewhere(tab).delete('sessions/~').is(200);
    await tab.post(`${I}/consent`, { spec: { scopes: ['openid', 'email'] } }).fails(410, 'Expired');
    await tab.get(I).fails(410, 'Expired');
    expect(await grants('left@example.test')).toBeUndefined();
  });

  test('consent raced with the sign-out: a Grant stands only where consent was answered', async () => {
    for (let i = 0; i < 10; i += 1) {
      const address = `leaving-${i}@example.test`;
      const { tab, I } = await asked(address);
      const [agreed] = await Promise.all([
        tab.post(`${I}/consent`, { spec: { scopes: ['openid', 'email'] } }),
        elsewhere(tab).delete('sessions/~').is(200),
      ]);
      expect([200, 410]).toContain(agreed.code);
      expect((await grants(address)) !== undefined).toBe(agreed.code === 200);
      if (agreed.code !== 200 || !agreed.body.status.returnTo) continue;
      const { headers } = await tab.navigate(agreed.body.status.returnTo);
      expect(headers.location ?? '').not.toContain('code=');
    }
  });

  test('the account of a sign-in is out of reach once it is disabled', async () => {
    const { tab, I, returnTo } = await entered('barred@example.test');
    await disable('barred@example.test');
    await tab.patch(`${I}/account`, { spec: { displayName: 'still here' } }).fails(410, 'Expired');
    await tab.get(`${I}/account`).fails(410, 'Expired');
    const { headers } = await tab.navigate(returnTo);
    expect(headers.location ?? '').not.toContain('code=');
    await tab.get('accounts/~').fails(401, 'Unauthorized');
  });

  test('a session ended while a code is on its way: the code is worth nothing', async () => {
    const done = await signIn(one, 'underway@example.test');
    await elsewhere(done.tab).delete('sessions/~').is(200);
    const { code, body } = await redeem(one, done);
    expect([code, body.error]).toEqual([400, 'invalid_grant']);
  });

  test('the former session’s cookie belongs to no one beside the new one', async () => {
    const { tab } = await signIn(one, 'former@example.test');
    const former = [...tab.cookies];
    await tab.delete('sessions/~').is(200);
    const again = await signIn(one, 'former@example.test', { tab });
    const put = one.tab();
    put.cookies = former;
    await put.get('accounts/~').fails(401, 'Unauthorized');
    const both = one.tab();
    both.cookies = [...former, ...again.tab.cookies];
    await both.get('accounts/~').fails(401, 'Unauthorized');
    await again.tab.get('accounts/~').is(200);
  });
});

describe('tokens in each other’s place', () => {
  test('nothing but an access token opens userinfo, and none of a Client the API', async () => {
    const done = await signIn(one, 'slots@example.test', {
      scope: 'openid email offline_access',
      parameters: { prompt: 'consent' },
    });
    const { body } = await redeem(one, done);
    const bearer = (path: string, token: string) =>
      one.tab().get(path, { plain: true, headers: { authorization: `Bearer ${token}` } });
    const session = done.tab.cookie('vestibule-session')!;
    for (const token of [
      body.id_token,
      body.refresh_token,
      done.callback.searchParams.get('code')!,
      session,
      done.verifier,
      `${body.access_token}x`,
      body.access_token.slice(1),
      body.access_token.toUpperCase(),
    ]) {
      expect((await bearer('/oauth2/userinfo', token)).code).toBe(401);
    }
    expect((await bearer('/oauth2/userinfo', body.access_token)).code).toBe(200);
    for (const token of [body.id_token, body.refresh_token, body.access_token, session]) {
      await bearer('accounts/~', token).fails(401, 'Unauthorized');
    }
    for (const [type, field, token] of [
      ['refresh_token', 'refresh_token', body.access_token],
      ['refresh_token', 'refresh_token', body.id_token],
      ['authorization_code', 'code', body.refresh_token],
      ['authorization_code', 'code', body.access_token],
    ] as const) {
      const fields = new URLSearchParams({
        grant_type: type,
        [field]: token,
        client_id: 'app',
        code_verifier: done.verifier,
        redirect_uri: 'https://app.example.test/callback',
      });
      expect(
        (
          await one.tab().send('POST', '/oauth2/token', {
            plain: true,
            body: fields.toString(),
            headers: { 'content-type': 'application/x-www-form-urlencoded' },
          })
        ).body.error,
      ).toBe('invalid_grant');
    }
    expect((await bearer('/oauth2/userinfo', body.access_token)).code).toBe(200);
  });
});

describe('odd requests never fail here, and never lead elsewhere', () => {
  const text = fc.oneof(
    fc.string({ maxLength: 40 }),
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.constantFrom(
      'https://evil.test/',
      '//evil.test',
      'javascript:alert(1)',
      'https://app.example.test/callback#x',
      'https://app.example.test/callback/../x',
      'https://app.example.test@evil.test/callback',
      'app',
      'vestibule',
      'vestibule-account',
      'constructor',
      '__proto__',
      'code',
      'none',
      'query',
      'fragment',
      'form_post',
      'web_message',
      'login',
      'none login',
      'openid',
      'S256',
      'plain',
      '-1',
      '1e9',
      '\u0000',
      'a b',
      '[]',
      '{}',
      'eyJhbGciOiJub25lIn0.e30.',
    ),
  );
  const own = (location: string | undefined): boolean =>
    location === undefined ||
    (location.startsWith('/') && !location.startsWith('//') && !location.startsWith('/\\')) ||
    location.startsWith(`${one.baseURL}/`) ||
    location.startsWith('https://app.example.test/callback');

  test('at the authorization endpoint', async () => {
    const names = [
      'client_id',
      'response_type',
      'scope',
      'redirect_uri',
      'state',
      'nonce',
      'code_challenge',
      'code_challenge_method',
      'prompt',
      'max_age',
      'id_token_hint',
      'login_hint',
      'ui_locales',
      'response_mode',
      'request',
      'request_uri',
      'resource',
      'acr_values',
      'claims',
      'registration',
      'dpop_jkt',
      'display',
      'grant_id',
    ];
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...names), text), { maxLength: 3 }),
        fc.boolean(),
        fc.boolean(),
        async (changes, twice, post) => {
          const [path, query] = authorizationPath('app', 'openid email', 'v'.repeat(43)).split(
            '?',
          ) as [string, string];
          const fields = new URLSearchParams(query);
          for (const [name, value] of changes) {
            if (twice) {
              fields.append(name, value);
            } else {
              fields.set(name, value);
            }
          }
          const answer = post
            ? await one.tab().send('POST', '/oauth2/par', {
                plain: true,
                body: fields.toString(),
                headers: { 'content-type': 'application/x-www-form-urlencoded' },
              })
            : await one.tab().navigate(`${path}?${fields}`);
          expectFor(fields.toString(), [answer.code < 500, own(answer.headers.location)]).toEqual([
            true,
            true,
          ]);
          // On loopback a page names what came, as text, and JSON in `parameters`; nothing else of
          // it is in any answer.
          const rest = String(answer.headers['content-type']).startsWith('application/json')
            ? JSON.stringify({ ...answer.body, parameters: undefined })
            : answer.bytes.toString().replaceAll(/: <code>[^<>"]*<\/code><\/p>/g, '');
          if (answer.code !== 303) expect(rest).not.toMatch(/evil\.test|javascript:alert/);
        },
      ),
      { numRuns: 250 },
    );
  });

  test('at the token, revocation, introspection, device and sign-out endpoints', async () => {
    const names = [
      'grant_type',
      'code',
      'refresh_token',
      'redirect_uri',
      'client_id',
      'client_secret',
      'client_assertion',
      'client_assertion_type',
      'code_verifier',
      'device_code',
      'token',
      'token_type_hint',
      'scope',
      'resource',
      'id_token_hint',
      'post_logout_redirect_uri',
      'state',
      'user_code',
      'xsrf',
      'logout',
    ];
    const grants = fc.constantFrom(
      'authorization_code',
      'refresh_token',
      'urn:ietf:params:oauth:grant-type:device_code',
      'password',
      'client_credentials',
      '',
    );
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(
          'token',
          'revoke',
          'introspect',
          'device/auth',
          'device',
          'logout',
          'logout/confirm',
          'userinfo',
        ),
        grants,
        fc.array(fc.tuple(fc.constantFrom(...names), text), { maxLength: 5 }),
        fc.option(text),
        async (path, grant, pairs, credentials) => {
          const fields = new URLSearchParams([
            ['grant_type', grant],
            ['client_id', 'app'],
            ...pairs,
          ]);
          const authorization =
            credentials === null
              ? {}
              : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
          for (const method of ['POST', 'GET']) {
            const answer =
              method === 'POST'
                ? await one.tab().send('POST', `/oauth2/${path}`, {
                    plain: true,
                    body: fields.toString(),
                    headers: {
                      'content-type': 'application/x-www-form-urlencoded',
                      ...authorization,
                    },
                  })
                : await one.tab().navigate(`/oauth2/${path}?${fields}`);
            expectFor(
              [path, fields.toString()],
              [answer.code < 500, own(answer.headers.location)],
            ).toEqual([true, true]);
          }
        },
      ),
      { numRuns: 250 },
    );
  });

  test('with odd cookies', async () => {
    const { tab, I } = await begin(one);
    const pieces = fc.array(
      fc.oneof(
        fc.constantFrom(
          ...tab.cookies.map(({ name, value }) => `${name}=${value}`),
          'vestibule-session=',
          'vestibule-session=j:{"a":1}',
          'vestibule-session=s:x',
          '__proto__=1',
          'constructor=x',
          '=',
          ';;',
          'vestibule-session.sig=x',
          '"',
          '%',
        ),
        fc.string({ maxLength: 20 }).map((piece) => piece.replaceAll(/[^\x20-\x7e]/g, '')),
      ),
      { maxLength: 6 },
    );
    await fc.assert(
      fc.asyncProperty(pieces, fc.constantFrom('; ', ';', ' ', ','), async (cookies, separator) => {
        for (const path of ['accounts/~', I, '/oauth2/auth?client_id=app', '/oauth2/logout']) {
          const { code } = await one
            .tab()
            .get(path, { headers: { cookie: cookies.join(separator) } });
          expectFor([path, cookies], [code < 500, path !== 'accounts/~' || code === 401]).toEqual([
            true,
            true,
          ]);
        }
      }),
      { numRuns: 100 },
    );
  });
});
