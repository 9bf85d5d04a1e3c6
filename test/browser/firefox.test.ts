import { afterAll, afterEach, beforeAll, expect, jest, test } from '@jest/globals';
import { catalogs } from '../../i18n/languages.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { authorizationPath, mailTo, signIn } from '../support/signin.js';
import { Firefox, hasFirefox } from './support/firefox.js';
import { startNotes, type Notes } from './support/notes.js';

jest.setTimeout(120_000);

if (!hasFirefox)
  process.stderr.write('SKIPPED Firefox: install firefox-esr, or name one in FIREFOX\n');
const inFirefox = (name: string, run: () => Promise<void>): void =>
  hasFirefox ? test(name, run) : test.skip(`${name} (there is no Firefox here)`, run);

let service: TestService;
let notes: Notes;
const open: Firefox[] = [];

const start = async (preferences: Record<string, unknown> = {}): Promise<Firefox> => {
  const firefox = await Firefox.start({ 'intl.accept_languages': 'en-GB, en', ...preferences });
  open.push(firefox);
  return firefox;
};

beforeAll(async () => {
  service = await startTest({ flags: ['--limit-factor', '1000'] });
  notes = await startNotes(service);
  await createClient(service, 'app');
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((firefox) => firefox.close()));
});
afterAll(async () => {
  notes?.stop();
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

inFirefox('form_post without script has a button, which posts', async () => {
  const { tab } = await signIn(service, 'post@example.test');
  const firefox = await start({ 'javascript.enabled': false });
  await firefox.goto(`${service.baseURL}/health`);
  await firefox.addCookies(tab.cookies);
  const parameters = { response_mode: 'form_post' };
  await firefox.goto(
    `${service.baseURL}${authorizationPath('app', 'openid email', 'v'.repeat(43), parameters)}`,
  );
  await firefox.says(catalogs['en']!['page.noScript']);
  await firefox.find(
    `//form[@action='https://app.example.test/callback']//button[normalize-space()='${catalogs['en']!['page.continue']}']`,
  );
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
