import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as oidc from 'openid-client';
import { secretMarker, secretMatches } from '../../provider/adapter/client-secret.js';
import { metadataOf } from '../../provider/adapter/clients.js';
import { cookieNames, cookieValue, withoutAmbiguous } from '../../provider/context/cookies.js';
import { html } from '../../provider/http/html.js';
import { cookieValues } from '../../security/cookie-header.js';
import { escapeHTML } from '../../security/escape-html.js';
import { begin, mailTo, redeem, signIn, wrong } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import { createClient, startTest, stopAll } from '../support/service.js';
import { stores } from '../support/stores.js';
import { Browser } from './support/browser.js';
import { House, hashOf, openStorage } from './support/fixture.js';
import { RelyingParty } from './support/relyingparty.js';
import { Supplier, says } from './support/supplier.js';

let kept: Awaited<ReturnType<typeof openStorage>>;
let house: House;
beforeAll(async () => {
  kept = await openStorage();
  house = await House.open({ storage: kept.storage });
});
afterAll(async () => {
  await house.close();
  await kept.close();
  await stopAll();
});

test('a dump of the store holds nothing that opens anything', async () => {
  await house.client('dumped');
  const rp = await RelyingParty.of(house, 'dumped');
  const account = (await house.account()).metadata.name;
  const browser = new Browser(house);
  const begun = await rp.begin({ scope: 'openid email offline_access', prompt: 'consent' });
  const back = await browser.authorize(begun.url, { account });
  const tokens = await rp.redeem(back.location!, begun);
  const next = await oidc.refreshTokenGrant(rp.config, tokens.refresh_token!);
  await oidc.fetchUserInfo(rp.config, next.access_token, account);
  await browser.go((await rp.begin({ prompt: 'login' })).url);
  await house.identity.settled();
  const secrets = [
    back.location!.searchParams.get('code')!,
    tokens.access_token,
    tokens.refresh_token!,
    tokens.id_token!,
    next.access_token,
    next.refresh_token!,
    'secret-of-dumped',
    begun.verifier,
    ...browser.sent.map((cookie) => cookie.value).filter((value) => value.length > 10),
  ];
  const { entries } = await kept.storage.list({ start: '!', end: '~~' });
  expect(entries.length).toBeGreaterThan(15);
  for (const { key, value } of entries) {
    for (const secret of secrets) {
      expect([key.includes(secret), value.includes(secret)]).toEqual([false, false]);
    }
  }
});

describe.each(stores)('after sign-ins, previews, releases and refusals, on %s', (store) => {
  const values = {
    tier: 'platinum-kept-secret',
    points: 918273645546372,
    lounges: ['lounge-kept-secret', 'another-kept-secret'],
  };
  const complaint = 'complaint-kept-secret';
  const everything = { start: '!', end: '~~' };

  test('neither store nor log holds a claim value, code, token or cookie', async () => {
    const kept = await startTest({
      store,
      flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
    });
    const service = await kept.replica();
    const supplier = await Supplier.open();
    const codes: string[] = [];
    const secrets = new Set<string>([
      values.tier,
      String(values.points),
      ...values.lounges,
      complaint,
    ]);
    const tabs: Tab[] = [];
    const keep = (...some: (string | undefined | null)[]): void => {
      for (const one of some) if (one) secrets.add(one);
    };
    const proven = async (
      address: string,
      options: Parameters<typeof begin>[1],
      by: 'EmailCode' | 'EmailLink' = 'EmailCode',
    ) => {
      const begun = await begin(service, options);
      tabs.push(begun.tab);
      await begun.tab.post(`${begun.I}/emailchallenge`, { spec: { email: address } }).is(200);
      const mail = await mailTo(service, address);
      codes.push(mail.code);
      keep(mail.token, begun.verifier, ...begun.tab.cookies.map(({ value }) => value));
      await begun.tab
        .post(`${begun.I}/login`, { spec: { method: 'EmailCode', code: wrong(mail.code) } })
        .is(422);
      const proof =
        by === 'EmailCode' ? { method: by, code: mail.code } : { method: by, token: mail.token };
      return { ...begun, login: await begun.tab.post(`${begun.I}/login`, { spec: proof }) };
    };
    const refresh = (token: string) =>
      service.tab().send('POST', '/oauth2/token', {
        plain: true,
        body: new URLSearchParams({
          grant_type: 'refresh_token',
          refresh_token: token,
          client_id: 'app',
        }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      });
    const userinfo = (token: string) =>
      service
        .tab()
        .get('/oauth2/userinfo', { plain: true, headers: { authorization: `Bearer ${token}` } });

    await createClient(service, 'app', {
      scopes: ['openid', 'email', 'card', 'offline_access'].map((name) => ({
        name,
        required: name === 'openid',
      })),
      idTokenClaims: ['tier'],
    });
    supplier.answer = says(values);
    await supplier.declare(service, 'card', {
      tier: 'string',
      points: 'number',
      lounges: 'strings',
    });
    const operator = await signIn(service, 'op@example.test', { scope: 'openid' });
    tabs.push(operator.tab);
    const former = (await operator.tab.get('policies/p-1').is(200)).body.spec.cedar;
    await operator.tab
      .post('policies', {
        spec: {
          cedar: `${former}\nforbid (principal, action == Action::"signUp", resource) when { context.domain == "refused.test" };\nforbid (principal, action == Action::"share", resource == Scope::"email");\n`,
        },
      })
      .is(201);

    await (await proven('eve@refused.test', { scope: 'openid' })).login;
    const { tab, login, verifier, client } = await proven(
      'ada@example.test',
      { scope: 'openid email card offline_access', parameters: { prompt: 'consent' } },
      'EmailLink',
    );
    expect(login.code).toBe(200);
    const at = (await tab.navigate(login.body.status.returnTo).is(303)).headers.location!;
    expect(JSON.stringify((await tab.get(at).is(200)).body.status.consent)).toContain(values.tier);
    await tab
      .post(`${at}/consent`, { spec: { scopes: ['openid', 'email', 'card'] } })
      .fails(422, 'Invalid', 'spec.scopes[1]');
    const { body: agreed } = await tab
      .post(`${at}/consent`, { spec: { scopes: ['openid', 'card', 'offline_access'] } })
      .is(200);
    const callback = new URL(
      (await tab.navigate(agreed.status.returnTo).is(303)).headers.location!,
    );
    const { body: tokens } = await redeem(service, { callback, verifier, client });
    expect((await userinfo(tokens.access_token).is(200)).body).toMatchObject(values);
    const { body: later } = await refresh(tokens.refresh_token).is(200);
    keep(
      callback.searchParams.get('code'),
      tokens.access_token,
      tokens.refresh_token,
      tokens.id_token,
      later.access_token,
      later.refresh_token,
      later.id_token,
    );
    supplier.answer = (response) => {
      response.writeHead(500).end(JSON.stringify({ message: complaint, ...values }));
    };
    await operator.tab
      .patch('claimsproviders/card', { spec: { timeoutMilliseconds: 500 } })
      .is(200);
    await userinfo(later.access_token).is(200);
    await tab.get('clients').fails(403, 'Forbidden');
    await tab.get(`clients?continue=${tokens.access_token}`).fails(403, 'Forbidden');
    await service.tab().get(`sessions?x=${later.access_token}`, {
      headers: {
        authorization: `Bearer ${later.id_token}`,
        origin: undefined,
        'sec-fetch-site': undefined,
      },
    });
    expect((await refresh(tokens.refresh_token)).code).toBe(200);
    for (const tab of tabs) keep(...tab.cookies.map(({ value }) => value));
    keep(
      ...supplier.questions.map(({ headers }) => headers.authorization!.slice('Bearer '.length)),
    );
    await tab.delete('sessions/~').is(200);
    await service.stop();
    await supplier.close();

    const held = (await kept.storage.list(everything)).entries
      .filter(({ key }) => !key.startsWith('objects/mockmessages/'))
      .map(({ key, value }) => ({ key, text: `${key} ${value.toString('latin1')}` }));
    const of = (resource: string) =>
      held.filter(({ key }) => key.startsWith(`objects/${resource}/`));
    expect([
      of('policydecisions').length > 8,
      of('claimsreviews').length,
      supplier.questions.length >= 3,
    ]).toEqual([true, supplier.questions.length, true]);
    const logs = [...service.logs, ...kept.logs].join('');
    const alone = codes.map((code) => new RegExp(`(?<![\\w-])${code}(?![\\w-])`));
    const holds = (text: string): boolean =>
      [...secrets].some((secret) => text.includes(secret)) || alone.some((code) => code.test(text));
    expect(secrets.size).toBeGreaterThan(20);
    expect(held.filter(({ text }) => holds(text)).map(({ key }) => key)).toEqual([]);
    expect(
      logs.split('\n').filter((line) => holds(line) || /@(example|refused)\.test/.test(line)),
    ).toEqual([]);
    expect(
      [...of('policydecisions'), ...of('claimsreviews')].filter(({ text }) =>
        /@\w+\.test|127\.0\.0\.1|\beve\b|\bada\b/.test(text),
      ),
    ).toEqual([]);
  });
});

describe('a Client in the library’s words', () => {
  const known = new Set(['openid', 'email']);
  const draft = async (name: string, spec: Parameters<House['client']>[1]) =>
    metadataOf(await house.client(name, spec), known, house.settings);

  test('names only scopes there are, and always some', async () => {
    expect(
      (
        await draft('scopes-a', {
          scopes: [
            { name: 'email', required: false },
            { name: 'later', required: false },
          ],
        })
      ).allowedScopes,
    ).toBe('email');
    const later = await draft('scopes-b', { scopes: [{ name: 'later', required: false }] });
    expect(later.allowedScopes).toBe('openid');
  });

  test('without redirect URIs has no code flow', async () => {
    const device = await draft('device-only', {
      redirectURIs: [],
      grantTypes: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'],
      secretHashes: [],
    });
    expect(device).toMatchObject({
      response_types: [],
      grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
      client_secret: 'hashed:',
    });
    expect(secretMatches(device.client_secret as string, '')).toBe(false);
  });

  test('offers query and form_post, and is notified of sign-outs by sid', async () => {
    expect(
      await draft('modes', { backchannelLogoutURI: 'https://shop.example.test/out' }),
    ).toMatchObject({
      response_modes: ['query', 'form_post'],
      backchannel_logout_session_required: true,
    });
  });
});

test('two secrets may live at a time, with or without the name of the hash before them', () => {
  const marker = secretMarker([hashOf('one'), hashOf('two').replace('sha256:', '')]);
  expect(
    ['one', 'two', 'three', marker, hashOf('one')].map((secret) => secretMatches(marker, secret)),
  ).toEqual([true, true, false, false, false]);
  expect(secretMatches(undefined, 'one')).toBe(false);
  expect(secretMatches('one', 'one')).toBe(false);
});

test('cookies are compared byte for byte and names in full', () => {
  expect(cookieValues('a=1; aa=2; b=%31;a=3; a', 'a')).toEqual(['1', '3']);
  expect([
    cookieValue('a=1; a=1', 'a'),
    cookieValue('a=1; a=2', 'a'),
    cookieValue(undefined, 'a'),
    cookieValue('b=a=c', 'b'),
  ]).toEqual(['1', undefined, undefined, 'a=c']);
  const names = cookieNames('http://localhost:1');
  expect(
    withoutAmbiguous(
      'x=1; vestibule-session=a; vestibule-session=b; vestibule-session.sig=s',
      names,
    ),
  ).toBe('x=1; vestibule-session.sig=s');
  expect(withoutAmbiguous('x="1"; vestibule-session=a; vestibule-session.sig="s"', names)).toBe(
    'x="1"; vestibule-session=a',
  );
  expect(cookieValues('a="1"; a=1', 'a')).toEqual(['"1"', '1']);
});

test('text in pages is text', () => {
  expect(escapeHTML(`<a href="x" b='y'>&`)).toBe('&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;');
  expect(
    html`<p title="${'"><script>'}">${html`<b>${'<'}</b>`}${undefined}${false}${3}</p>`.text,
  ).toBe('<p title="&quot;&gt;&lt;script&gt;"><b>&lt;</b>3</p>');
});
