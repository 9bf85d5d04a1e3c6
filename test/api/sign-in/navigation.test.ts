import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { catalogs } from '../../../i18n/languages.js';
import { escapeHTML } from '../../../security/escape-html.js';
import { prefersHTML } from '../../../security/prefers-html.js';
import {
  authorizationPath,
  type Begun,
  begin,
  mailTo,
  signIn,
} from '../../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

/** Accept headers and whether they prefer a page to JSON (RFC 9110 §12.5.1). */
const accepts: [string, boolean][] = [
  ['text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8', true],
  ['text/html', true],
  ['TEXT/HTML', true],
  ['text/*', true],
  ['application/xhtml+xml, */*;q=0.1', true],
  ['application/json;q=0.5, text/html', true],
  ['application/json ; q=0.8 , text/html ; q=0.9', true],
  ['*/*, application/json;q=0.1, text/html;q=0.5', true],
  ['text/html, application/json', true],
  ['text/html;level=1, */*', true],
  ['application/json, text/html', false],
  ['text/html;q=0.1, application/json', false],
  ['text/html;q=0.5, */*', false],
  ['text/html;q=0', false],
  ['text/html;q=none, application/json;q=0.1', false],
  ['application/json', false],
  ['*/*', false],
  ['', false],
];

test.each(accepts)('Accept: %s prefers a page: %s', (accept, isPage) => {
  expect(prefersHTML(accept)).toBe(isPage);
});

describe.each(stores)('a navigation, on %s', (store) => {
  let service: TestService;
  let begun: Begun;
  beforeAll(async () => {
    service = await startTest({ store, flags: ['--limit-factor', '1000'] });
    await createClient(service, 'app');
    begun = await begin(service);
  });

  const mounts = ['/api/v1beta1', '/apis/id.vestibule.org/v1beta1'];
  const unknown = 'a'.repeat(32);
  const browsers: [string, () => Promise<ReturnType<TestService['tab']>>][] = [
    ['that keeps no cookies', async () => service.tab()],
    ['of another sign-in', async () => (await begin(service)).tab],
    ['that is signed in', async () => (await signIn(service, 'ada@example.test')).tab],
    ['that began it', async () => begun.tab],
  ];

  test.each(browsers)('of a browser %s gets the page at an Interaction', async (_, browser) => {
    const tab = await browser();
    for (const mount of mounts) {
      for (const name of [begun.name, unknown]) {
        const path = `${mount}/interactions/${name}`;
        const headers = { 'sec-fetch-mode': undefined, 'sec-fetch-site': undefined };
        const answers = [
          await tab.navigate(path),
          ...(await Promise.all(
            accepts
              .filter(([, isPage]) => isPage)
              .map(([accept]) => tab.get(path, { headers: { ...headers, accept } })),
          )),
        ];
        for (const { code, headers: sent } of answers) {
          expect([code, sent.location, sent.vary]).toEqual([
            303,
            `/interaction/${name}`,
            'Accept, Sec-Fetch-Mode',
          ]);
        }
      }
    }
    await tab.navigate(`/interaction/${begun.name}`).is(200);
  });

  test('is not what a program does', async () => {
    const tab = service.tab();
    for (const [accept] of accepts.filter(
      ([accept, isPage]) => !isPage && accept !== 'text/html;q=0',
    )) {
      const headers = { accept, 'sec-fetch-mode': undefined, 'sec-fetch-site': undefined };
      await tab.get(begun.I, { headers }).fails(404, 'NotFound');
    }
    const fetched = { accept: 'text/html', 'sec-fetch-mode': 'cors' };
    await tab.get(begun.I, { headers: fetched }).fails(404, 'NotFound');
  });

  test('without Sec-Fetch headers gets a page at a path that does not exist', async () => {
    const headers = { accept: accepts[0]![0] };
    const { bytes, headers: sent } = await service
      .tab()
      .get('/nothing', { plain: true, headers })
      .is(404);
    expect(sent['content-type']).toBe('text/html; charset=utf-8');
    expect(bytes.toString()).toContain('<a class="button main" href="/account">');
  });

  test.each([
    ['/oauth2/auth?client_id=none', 400],
    ['/nothing', 404],
  ])('to %s, which is refused, has a way on', async (path, code) => {
    const { bytes } = await service.tab().navigate(path).is(code);
    expect(bytes.toString()).toContain('<a class="button main" href="/account">');
  });

  const expectFormIn = (language: string, page: string): void => {
    const catalog = catalogs[language]!;
    expect(page).toContain(`<html lang="${language}" dir="${catalog.direction}">`);
    expect(page).toContain(`<title>${escapeHTML(catalog['page.moment'])}</title>`);
    const [, withoutScript] = /<noscript>([^]*)<\/noscript>/.exec(page)!;
    expect(withoutScript).toContain(`<p>${escapeHTML(catalog['page.noScript'])}</p>`);
    expect(withoutScript).toContain(
      `type="submit">${escapeHTML(catalog['page.continue'])}</button>`,
    );
    expect(page).not.toMatch(/Submitting|does not support/);
  };

  test.each(Object.keys(catalogs))(
    'that the library answers with a form is answered in %s',
    async (language) => {
      const { tab } = await signIn(service, 'ada@example.test');
      tab.headers = { 'accept-language': language };
      const path = authorizationPath('app', 'openid email', 'v'.repeat(43), {
        response_mode: 'form_post',
      });
      const page = (await tab.navigate(path).is(200)).bytes.toString();
      expectFormIn(language, page);
      expect(page).toMatch(/name="code" value="[^"]+"/);
    },
  );

  /** The library signs a person out by a form that posts itself. */
  const expectSignOutIn = (language: string, page: string): void => {
    expectFormIn(language, page);
    expect(page).toContain(
      `<form method="post" action="${service.baseURL}/oauth2/logout/confirm">`,
    );
    expect(page).toMatch(/name="xsrf" value="[^"]+"/);
    expect(page).toMatch(/name="logout" value="yes"/);
  };

  test.each(Object.keys(catalogs))(
    'to sign out without a session is answered by a form in %s',
    async (language) => {
      const tab = service.tab();
      tab.headers = { 'accept-language': language };
      const page = (await tab.navigate('/oauth2/logout').is(200)).bytes.toString();
      expectSignOutIn(language, page);
    },
  );

  test.each(Object.keys(catalogs))(
    'back from a sign-in as another person is answered by a form in %s',
    async (language) => {
      const { tab } = await signIn(service, 'ada@example.test');
      tab.headers = { 'accept-language': language };
      const other = `other-${store}-${language}@example.test`.toLowerCase();
      const parameters = { prompt: 'login' };
      const { I } = await begin(service, { tab, parameters });
      await tab.post(`${I}/emailchallenge`, { spec: { email: other } }).is(200);
      const { code } = await mailTo(service, other, [], (mail) => mail.code !== undefined);
      const login = { spec: { method: 'EmailCode', code } };
      const { body } = await tab.post(`${I}/login`, login).is(200);
      const page = (await tab.navigate(body.status.returnTo).is(200)).bytes.toString();
      expectSignOutIn(language, page);
    },
  );

  test.each(Object.keys(catalogs))(
    'to a page gets what it says without its script in %s',
    async (language) => {
      const tab = service.tab();
      tab.headers = { 'accept-language': `${language}@x, ${language}` };
      const catalog = catalogs[language]!;
      const paths = ['account', 'console', 'policy', 'recovery', 'invitation', 'mailbox'];
      for (const path of [...paths, `interaction/${begun.name}`]) {
        const page = (await tab.navigate(`/${path}`).is(200)).bytes.toString();
        expect(page).toContain(`<html lang="${language}" dir="${catalog.direction}">`);
        for (const id of [
          'shell.noScript.title',
          'shell.noScript.what',
          'shell.late',
          'shell.reload',
        ] as const) {
          expect(page).toContain(`>${escapeHTML(catalog[id])}`);
        }
        if (language !== 'en') expect(page).not.toMatch(/Reload|slow to load|Turn it on|Sign in/);
      }
    },
  );
});
