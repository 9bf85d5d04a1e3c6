import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as oidc from 'openid-client';
import { ClaimsProvider } from '../../kinds/apps/claims/claims-provider.js';
import { clock } from '../support/clock.js';
import { Browser } from './support/browser.js';
import { House } from './support/fixture.js';
import { RelyingParty } from './support/relyingparty.js';

const cards = {
  displayName: 'Cards',
  reviewURI: 'http://localhost:9/claims',
  timeoutMilliseconds: 400,
  failurePolicy: 'Omit' as const,
  scopes: [
    {
      name: 'card',
      title: 'A card',
      description: 'A card.',
      descriptions: { en: 'Show your card.', de: 'Ihre Kundenkarte zeigen.' },
      sensitive: false,
      claims: [{ name: 'card_number', title: 'Number', type: 'string' as const }],
    },
  ],
};

let house: House;
beforeAll(async () => {
  clock.own();
  house = await House.open();
  await house.client('photos', {
    displayName: 'Pics',
    displayNames: { en: 'Holiday photos', de: 'Urlaubsfotos' },
    type: 'Public',
    grantTypes: ['urn:ietf:params:oauth:grant-type:device_code'],
    scopes: [
      { name: 'openid', required: true },
      { name: 'card', required: false },
    ],
  });
  await house.store.change(house.store.systemCall(), (tx) =>
    tx.create(ClaimsProvider, { metadata: { name: 'cards' }, spec: cards }),
  );
});
afterAll(async () => {
  clock.release();
  await house.close();
});

const hidden = (text: string): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
      ([, name, value]) => [name!, value!],
    ),
  );
const nameIn = (path: string): string => /interactions\/(\w+)/.exec(path)![1]!;

type Started = Awaited<ReturnType<typeof oidc.initiateDeviceAuthorization>>;

/** Asks to be connected as the command does, by a program of this name. */
async function ask(
  scope: string,
  program = 'vestibule/9.9.9 (linux; x64)',
  client = 'vestibule',
): Promise<Started> {
  const body = new URLSearchParams({ client_id: client, scope });
  const answer = await fetch(`${house.address}/oauth2/device/auth`, {
    method: 'POST',
    body,
    headers: { 'user-agent': program },
  });
  return (await answer.json()) as Started;
}

/** Shows the confirmation of a device to the person in this browser. */
async function confirmationOf(started: Started, browser: Browser): Promise<string> {
  const submitting = await browser.go(started.verification_uri_complete!);
  return (await browser.post('/oauth2/device', hidden(submitting.text))).text;
}

/** Confirms the device; where the browser is led next. */
async function press(browser: Browser, page: string): Promise<Awaited<ReturnType<Browser['go']>>> {
  const pressed = await browser.post('/oauth2/device', hidden(page));
  return pressed.location ? browser.go(pressed.location) : pressed;
}

/** Signs in where the browser stands, and agrees to `scopes` where that is asked. */
async function goOn(
  browser: Browser,
  from: Awaited<ReturnType<Browser['go']>>,
  account: string,
  scopes: string[],
): Promise<{ text: string; steps: string[] }> {
  const steps: string[] = [];
  let answer = from;
  while (/interaction/.test(answer.url.pathname) && steps.length < 6) {
    const { returnTo, status } = await browser.act(nameIn(answer.url.pathname), {
      account,
      scopes,
    });
    steps.push(status.phase);
    answer = await browser.go(returnTo);
  }
  return { text: answer.text, steps };
}

describe('the confirmation of a device', () => {
  test('shows which program asks, from which network, since when, and for what', async () => {
    const started = await ask('openid offline_access api');
    clock.advance(3 * 60_000);
    const page = await confirmationOf(started, new Browser(house));
    expect(page).toContain('vestibule/9.9.9 (linux; x64)');
    expect(page).toContain('network-of-tests');
    expect(page).toContain('3 minutes ago');
    expect(page).toContain(
      '<li>Change your profile, sign you out elsewhere and take access away from apps.</li>',
    );
    expect(page).toContain(
      '<li>Go on while you are signed out, until you remove its access on your account page.</li>',
    );
    expect(page).toContain('This is not my device');
  });

  test.each([
    ['de-AT', '<bdi>Urlaubsfotos</bdi>', '<bdi>Ihre Kundenkarte zeigen.</bdi>', 'Die Kennung sagt'],
    ['ar', '<bdi lang="en">Holiday photos</bdi>', '<bdi lang="en">Show your card.</bdi>', 'المعرّف'],
  ])('in %s names the app and its scopes in that language, or marks English', async (...row) => {
    const [language, app, description, builtIn] = row;
    const browser = new Browser(house);
    browser.headers['accept-language'] = language;
    const page = await confirmationOf(await ask('openid card', undefined, 'photos'), browser);
    expect(page).toContain(app);
    expect(page).toContain(`<li>${description}</li>`);
    expect(page).toContain(builtIn);
    expect(page).not.toMatch(/Pics|A card|Recognise you|scope\./);
  });

  test('shows markup that a program calls itself by as text', async () => {
    const page = await confirmationOf(
      await ask('openid api', '<img src=x onerror=alert(1)>'),
      new Browser(house),
    );
    expect(page).not.toContain('<img');
    expect(page).toContain('&lt;img');
  });

  test('is followed by a new sign-in where the last one is too old', async () => {
    const account = (await house.account()).metadata.name;
    const browser = new Browser(house);
    const all = ['openid', 'offline_access', 'api'];
    const connect = async (): Promise<string[]> => {
      const page = await confirmationOf(await ask('openid offline_access api'), browser);
      const { text, steps } = await goOn(browser, await press(browser, page), account, all);
      expect(text).toContain('Your device is connected');
      return steps;
    };
    expect(await connect()).toEqual(['Authenticated', 'Completed']);
    expect(await connect()).toEqual(['Completed']);
    clock.advance(house.settings.limits.recentSignIn + 2_000);
    expect(await connect()).toEqual(['Authenticated', 'Completed']);
  });

  test('ends where the API was not agreed to: no second question, and no token for it', async () => {
    const account = (await house.account()).metadata.name;
    const browser = new Browser(house);
    const started = await ask('openid offline_access api');
    const { text, steps } = await goOn(
      browser,
      await press(browser, await confirmationOf(started, browser)),
      account,
      ['openid', 'offline_access'],
    );
    expect(steps).toEqual(['Authenticated', 'Completed']);
    expect(text).toContain('Your device is connected');
    const rp = await RelyingParty.of(house, 'vestibule', { public: true });
    const tokens = await oidc.pollDeviceAuthorizationGrant(rp.config, {
      ...started,
      interval: 0,
    } as Started);
    expect(tokens.scope?.split(' ')).not.toContain('api');
  });
});

describe('device authorization switched off', () => {
  test('is in no document, and neither connects a device nor refuses the command', async () => {
    const closed = await House.open({ settings: { deviceAuthorization: false } });
    const discovered = (await (
      await fetch(`${closed.address}/.well-known/openid-configuration`)
    ).json()) as Record<string, unknown>;
    expect(discovered).not.toHaveProperty('device_authorization_endpoint');
    expect(discovered.grant_types_supported).not.toContain(
      'urn:ietf:params:oauth:grant-type:device_code',
    );
    await closed.client('tv', {
      type: 'Public',
      grantTypes: ['urn:ietf:params:oauth:grant-type:device_code', 'authorization_code'],
    });
    for (const client of ['vestibule', 'tv']) {
      const begun = await fetch(`${closed.address}/oauth2/device/auth`, {
        method: 'POST',
        body: new URLSearchParams({ client_id: client, scope: 'openid' }),
      });
      expect(begun.status).toBe(404);
    }
    const rp = await RelyingParty.of(closed, 'tv', { public: true });
    expect((await new Browser(closed).go((await rp.begin()).url)).url.pathname).toMatch(
      /interactions/,
    );
    const unknown = await fetch(`${closed.address}/oauth2/token`, {
      method: 'POST',
      body: new URLSearchParams({
        client_id: 'vestibule',
        grant_type: 'refresh_token',
        refresh_token: 'x',
      }),
    });
    expect(await unknown.json()).toMatchObject({ error: 'invalid_grant' });
    await closed.close();
  });
});

describe('an app that is answered on the person’s own machine', () => {
  test('asks for consent every time if it has no secret, also where it is a first party', async () => {
    const redirects = [
      'http://localhost:9/cb',
      'http://127.0.0.1:9/cb',
      'http://[::1]:9/cb',
      'https://rp.example.test/cb',
    ];
    for (const firstParty of [false, true]) {
      const name = firstParty ? 'local-ours' : 'local';
      await house.client(name, { type: 'Public', redirectURIs: redirects, firstParty });
      const rp = await RelyingParty.of(house, name, { public: true });
      const account = (await house.account()).metadata.name;
      const browser = new Browser(house);
      await browser.authorize((await rp.begin()).url, { account });
      expect((await browser.go((await rp.begin()).url)).location?.origin).toBe(
        'https://rp.example.test',
      );
      for (const redirect_uri of redirects.slice(0, 3)) {
        const asked = await browser.go((await rp.begin({ redirect_uri })).url);
        expect((await browser.act(nameIn(asked.url.pathname), { cancel: true })).spec.prompt).toBe(
          'Consent',
        );
        const quiet = await browser.go((await rp.begin({ redirect_uri, prompt: 'none' })).url);
        expect(quiet.location?.searchParams.get('error')).toBe('interaction_required');
      }
    }
  });

  test('is remembered if it is a web app with a secret, so prompt=none works', async () => {
    const redirect_uri = 'http://localhost:9/cb';
    await house.client('developed', { redirectURIs: [redirect_uri] });
    const rp = await RelyingParty.of(house, 'developed');
    const browser = new Browser(house);
    const account = (await house.account()).metadata.name;
    await browser.authorize((await rp.begin({ redirect_uri })).url, { account });
    const quiet = await browser.go((await rp.begin({ redirect_uri, prompt: 'none' })).url);
    expect(quiet.location?.searchParams.has('code')).toBe(true);
  });
});
