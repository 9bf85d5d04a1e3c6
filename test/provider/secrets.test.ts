import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as oidc from 'openid-client';
import { metadataOf } from '../../provider/clients.js';
import { cookieValue, withoutAmbiguous, cookieNames } from '../../provider/cookies.js';
import { cookieValues } from '../../registry/cookies.js';
import { escapeHTML } from '../../registry/escape.js';
import { html } from '../../provider/html.js';
import { secretMarker, secretMatches } from '../../provider/secrets.js';
import { Browser } from './browser.js';
import { hashOf, House, openStorage } from './house.js';
import { RelyingParty } from './relyingparty.js';

let kept: Awaited<ReturnType<typeof openStorage>>;
let house: House;
beforeAll(async () => {
  kept = await openStorage();
  house = await House.open({ storage: kept.storage });
});
afterAll(async () => { await house.close(); await kept.close() });

test('a dump of the store holds nothing that opens anything (M5)', async () => {
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
    back.location!.searchParams.get('code')!, tokens.access_token, tokens.refresh_token!, tokens.id_token!, next.access_token, next.refresh_token!, 'secret-of-dumped', begun.verifier,
    ...browser.sent.map((cookie) => cookie.value).filter((value) => value.length > 10),
  ];
  const { entries } = await kept.storage.list({ start: '!', end: '~~' });
  expect(entries.length).toBeGreaterThan(15);
  for (const { key, value } of entries) for (const secret of secrets) expect([key.includes(secret), value.includes(secret)]).toEqual([false, false]);
});

describe('a Client in the library’s words', () => {
  const known = new Set(['openid', 'email']);
  const draft = async (name: string, spec: Parameters<House['client']>[1]) => metadataOf(await house.client(name, spec), known);

  test('names only scopes there are, and always some', async () => {
    expect((await draft('scopes-a', { scopes: [{ name: 'email', required: false }, { name: 'later', required: false }] })).scope).toBe('email');
    expect((await draft('scopes-b', { scopes: [{ name: 'later', required: false }] })).scope).toBe('openid');
  });

  test('without redirect URIs has no code flow; without a secret has one that nothing matches', async () => {
    const device = await draft('device-only', { redirectURIs: [], grantTypes: ['authorization_code', 'urn:ietf:params:oauth:grant-type:device_code'], secretHashes: [] });
    expect(device).toMatchObject({ response_types: [], grant_types: ['urn:ietf:params:oauth:grant-type:device_code'], client_secret: 'hashed:' });
    expect(secretMatches(device.client_secret as string, '')).toBe(false);
  });

  test('offers query and form_post, and is told of sign-outs by sid', async () => {
    expect(await draft('modes', { backchannelLogoutURI: 'https://shop.example.test/out' })).toMatchObject({ response_modes: ['query', 'form_post'], backchannel_logout_session_required: true });
  });
});

test('two secrets may live at a time, with or without the name of the hash before them', () => {
  const marker = secretMarker([hashOf('one'), hashOf('two').replace('sha256:', '')]);
  expect(['one', 'two', 'three', marker, hashOf('one')].map((secret) => secretMatches(marker, secret))).toEqual([true, true, false, false, false]);
  expect(secretMatches(undefined, 'one')).toBe(false);
  expect(secretMatches('one', 'one')).toBe(false);
});

test('cookies are compared byte for byte and names in full', () => {
  expect(cookieValues('a=1; aa=2; b=%31;a=3; a', 'a')).toEqual(['1', '3']);
  expect([cookieValue('a=1; a=1', 'a'), cookieValue('a=1; a=2', 'a'), cookieValue(undefined, 'a'), cookieValue('b=a=c', 'b')]).toEqual(['1', undefined, undefined, 'a=c']);
  const names = cookieNames('http://localhost:1');
  expect(withoutAmbiguous('x=1; vestibule-session=a; vestibule-session=b; vestibule-session.sig=s', names)).toBe('x=1; vestibule-session.sig=s');
  expect(withoutAmbiguous('x="1"; vestibule-session=a; vestibule-session.sig="s"', names)).toBe('x="1"; vestibule-session=a');
  expect(cookieValues('a="1"; a=1', 'a')).toEqual(['"1"', '1']);
});

test('text in pages is text', () => {
  expect(escapeHTML(`<a href="x" b='y'>&`)).toBe('&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;');
  expect(html`<p title="${'"><script>'}">${html`<b>${'<'}</b>`}${undefined}${false}${3}</p>`.text).toBe('<p title="&quot;&gt;&lt;script&gt;"><b>&lt;</b>3</p>');
});
