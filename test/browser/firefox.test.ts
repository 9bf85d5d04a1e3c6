import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { catalogs } from '../../i18n/languages.js';
import { Grant, grantName } from '../../kinds/apps/grant.js';
import { authorizationPath, mailTo, signIn } from '../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { Callback } from './support/callback.js';
import { Firefox, hasFirefox } from './support/firefox.js';
import { type Notes, startNotes } from './support/notes.js';

jest.setTimeout(120_000);

if (!hasFirefox) {
  process.stderr.write('SKIPPED Firefox: install firefox-esr, or name one in FIREFOX\n');
}
const inFirefox = (name: string, run: () => Promise<void>): void =>
  hasFirefox ? test(name, run) : test.skip(`${name} (there is no Firefox here)`, run);

let service: TestService;
let notes: Notes;
let redirectURI: string;
const callback = new Callback();
const open: Firefox[] = [];

const start = async (preferences: Record<string, unknown> = {}): Promise<Firefox> => {
  const firefox = await Firefox.start({ 'intl.accept_languages': 'en-GB, en', ...preferences });
  open.push(firefox);
  return firefox;
};

beforeAll(async () => {
  service = await startTest({ flags: ['--limit-factor', '1000'] });
  notes = await startNotes(service);
  redirectURI = await callback.open();
  const optional = ['email', 'profile'].map((name) => ({ name, required: false }));
  await createClient(service, 'receiver', {
    type: 'Confidential',
    secretHashes: [`sha256:${createHash('sha256').update('secret').digest('hex')}`],
    redirectURIs: [redirectURI],
    scopes: [{ name: 'openid', required: true }, ...optional],
  });
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((firefox) => firefox.close()));
});
afterAll(async () => {
  notes?.stop();
  callback.close();
  await stopAll();
});

const emailField = "//input[@type='email']";
const codeField = "//input[@autocomplete='one-time-code']";

/** Types an address where a sign-in asks for it; returns its mail. */
async function sendMail(
  firefox: Firefox,
  address: string,
): Promise<{ code: string; link: string }> {
  await firefox.at('LoginRequired');
  await firefox.type(emailField, address);
  await firefox.click("//form[.//input[@type='email']]//button[@type='submit']");
  await firefox.find(codeField);
  return mailTo(service, address);
}

const allow = async (firefox: Firefox): Promise<void> => {
  await firefox.at('ConsentRequired');
  await firefox.find("//button[normalize-space()='Allow' and not(@aria-disabled='true')]");
  await firefox.press('Allow');
};

inFirefox('a person signs in by a code, unticks a scope, and the app gets the rest', async () => {
  const firefox = await start();
  await firefox.goto(`${notes.url}/login`);
  const { code } = await sendMail(firefox, 'fox@example.test');
  await firefox.type(codeField, code);
  await firefox.at('Authenticated');
  await firefox.type("//input[@id='displayName']", 'Ada Fox');
  await firefox.press('Continue');
  await firefox.at('ConsentRequired');
  const profile = "//label[contains(., 'Your profile')]/preceding-sibling::input";
  const isTicked = (): Promise<boolean> =>
    firefox.evaluate(
      `document.evaluate(${JSON.stringify(profile)}, document).iterateNext().checked`,
    );
  await firefox.find(profile);
  expect(await isTicked()).toBe(false);
  await firefox.click(profile);
  expect(await isTicked()).toBe(true);
  await firefox.click(profile);
  expect(await isTicked()).toBe(false);
  await allow(firefox);
  await firefox.says('Hello fox@example.test');
  expect(await firefox.evaluate('document.body.textContent')).not.toContain('Ada Fox');
});

inFirefox('a link that is opened in another tab signs in, and the tabs go on', async () => {
  const firefox = await start();
  await firefox.goto(`${notes.url}/login`);
  const { link } = await sendMail(firefox, 'link@example.test');
  const first = await firefox.tab();
  await firefox.goto(link);
  await firefox.press('Continue signing in');
  await firefox.at('Authenticated');
  await firefox.show(first);
  await firefox.at('Authenticated');
});

inFirefox('other tabs go on when one has signed in', async () => {
  const firefox = await start();
  await firefox.goto(`${service.baseURL}/account`);
  await firefox.at('LoginRequired');
  // The first input loads what follows other tabs.
  await firefox.type(emailField, '\uE003');
  const other = await firefox.tab();
  await firefox.goto(`${service.baseURL}/account`);
  const { code } = await sendMail(firefox, 'tabs@example.test');
  await firefox.type(codeField, code);
  await firefox.at('Authenticated');
  await firefox.press('Not now');
  await firefox.at('account');
  await firefox.show(other);
  await firefox.find("//main[@data-phase='account'] | //h1[contains(., 'Continue as')]");
});

inFirefox('a browser without cookies is shown what is missing', async () => {
  const firefox = await start({ 'network.cookie.cookieBehavior': 2 });
  await firefox.goto(`${notes.url}/login`);
  await firefox.says('Cookies are turned off in this browser');
});

inFirefox('every page starts in a browser without cookies', async () => {
  const firefox = await start({ 'network.cookie.cookieBehavior': 2 });
  for (const path of [
    'console',
    'policy',
    'recovery',
    `invitation#first.${'x'.repeat(43)}`,
    'mailbox',
  ]) {
    await firefox.goto(`${service.baseURL}/${path}`);
    await firefox.find('//main[@data-phase]');
  }
});

inFirefox('a language that Intl refuses is passed over', async () => {
  const firefox = await start({ 'intl.accept_languages': 'en-US@posix, de' });
  await firefox.goto(`${service.baseURL}/account`);
  expect(await firefox.evaluate('navigator.language')).toBe('en-US@posix');
  await sendMail(firefox, 'odd@example.test');
  expect(await firefox.evaluate('document.documentElement.lang')).toBe('de');
});

inFirefox('a page from right to left fits its window', async () => {
  const firefox = await start({ 'intl.accept_languages': 'ar' });
  await firefox.goto(`${service.baseURL}/account`);
  await firefox.at('LoginRequired');
  expect(
    await firefox.evaluate(
      "[document.documentElement.dir, getComputedStyle(document.querySelector('main')).direction, document.documentElement.scrollWidth <= innerWidth]",
    ),
  ).toEqual(['rtl', 'rtl', true]);
});

/** The path of a request of a Client whose redirect URI is `callback`. */
const receiverPath = (scope: string, parameters: Record<string, string> = {}): string =>
  authorizationPath('receiver', scope, 'v'.repeat(43), {
    redirect_uri: redirectURI,
    ...parameters,
  });

/** Options of a sign-in to that Client. */
const asReceiver = () => ({ client: 'receiver', parameters: { redirect_uri: redirectURI } });

inFirefox('form_post without script has a button, which posts', async () => {
  const { tab } = await signIn(service, 'post@example.test', asReceiver());
  const firefox = await start({ 'javascript.enabled': false });
  await firefox.goto(`${service.baseURL}/health`);
  await firefox.addCookies(tab.cookies);
  callback.received.length = 0;
  const path = receiverPath('openid email', { response_mode: 'form_post' });
  await firefox.goto(`${service.baseURL}${path}`);
  await firefox.says(catalogs['en']!['page.noScript']);
  await firefox.find(`//form[@action='${redirectURI}']`);
  expect(callback.received).toEqual([]);
  await firefox.press(catalogs['en']!['page.continue']);
  await firefox.says('Received');
  const parameters = { code: expect.any(String), state: 'state', iss: service.baseURL };
  expect(callback.received).toEqual([{ method: 'POST', parameters }]);
});

inFirefox('what was allowed before is ticked, and Allow keeps it', async () => {
  const agree = ['openid', 'email'];
  const { tab } = await signIn(service, 'before@example.test', { ...asReceiver(), agree });
  const account = (await tab.get('accounts/~').is(200)).body.metadata.name;
  const firefox = await start();
  await firefox.goto(`${service.baseURL}/health`);
  await firefox.addCookies(tab.cookies);
  const path = receiverPath('openid email profile', { prompt: 'consent' });
  await firefox.goto(`${service.baseURL}${path}`);
  await firefox.says('Already allowed');
  const boxes = "[...document.querySelectorAll('input[type=checkbox]')]";
  expect(await firefox.evaluate(`${boxes}.map(({ id, checked }) => [id, checked])`)).toEqual([
    ['scope-openid-box', true],
    ['scope-email-box', true],
    ['scope-profile-box', false],
  ]);
  callback.received.length = 0;
  await allow(firefox);
  await firefox.says('Received');
  expect(callback.received[0]?.parameters).toHaveProperty('code');
  const grant = await service.store.reader(Grant).get(grantName(account, 'receiver'));
  expect(grant!.spec.scopes).toEqual(['openid', 'email']);
});

inFirefox('a page at which a sign-in ends has one thing to press', async () => {
  const firefox = await start();
  const press = async (words: string, action: string): Promise<void> => {
    await firefox.says(words);
    const actions = "[...document.querySelectorAll('main :is(a, button)')]";
    const names = await firefox.evaluate(`${actions}.map((one) => one.textContent)`);
    expect(names).toEqual([action]);
    await firefox.press(action);
    await firefox.at('LoginRequired');
  };
  await firefox.goto(`${service.baseURL}/interaction/${'a'.repeat(32)}`);
  await press('This sign-in was not started in this browser', 'Open your account');
  await firefox.press('Cancel');
  await press('You are not signed in', 'Sign in');
  const { tab } = await signIn(service, 'out@example.test', asReceiver());
  await firefox.addCookies(tab.cookies);
  await firefox.goto(`${service.baseURL}/oauth2/logout`);
  await firefox.press('Sign out');
  await press('You are signed out', 'Open your account');
});

inFirefox('an address that is typed in full width is sent as it is written elsewhere', async () => {
  const firefox = await start();
  await firefox.goto(`${service.baseURL}/account`);
  await firefox.at('LoginRequired');
  await firefox.evaluate(`(() => {
    const { fetch } = window;
    window.sent = [];
    window.fetch = (to, init) => {
      if (init?.body) window.sent.push(init.body);
      return fetch.call(window, to, init);
    };
  })()`);
  await firefox.type(emailField, 'wide＠example．test');
  await firefox.click("//form[.//input[@type='email']]//button[@type='submit']");
  await firefox.find(codeField);
  await firefox.says('wide@example.test');
  const sent = await firefox.evaluate<string[]>('window.sent');
  expect(sent.map((body) => JSON.parse(body))).toContainEqual({
    spec: { email: 'wide@example.test' },
  });
  const { code } = await mailTo(service, 'wide@example.test');
  await firefox.type(codeField, code);
  await firefox.at('Authenticated');
});

inFirefox('a person adds a passkey and signs in by it', async () => {
  const firefox = await start();
  await firefox.plugIn();
  await firefox.goto(`${service.baseURL}/account`);
  const { code } = await sendMail(firefox, 'key@example.test');
  await firefox.type(codeField, code);
  await firefox.at('Authenticated');
  await firefox.press('Add a passkey');
  await firefox.says('Passkey added.');
  await firefox.type("//input[@id='displayName']", 'Ada Key');
  await firefox.press('Continue');
  await firefox.at('account');
  await firefox.press('Sign out');
  await firefox.goto(`${service.baseURL}/account`);
  await firefox.at('LoginRequired');
  await firefox.press('Sign in with a passkey');
  await firefox.at('account');
});
