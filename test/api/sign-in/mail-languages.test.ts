import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { catalogs } from '../../../i18n/languages.js';
import { escapeHTML } from '../../../security/escape-html.js';
import { begin, mailTo, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const hiddenIn = (page: string): string =>
  new URLSearchParams(
    [...page.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
      ([, name, value]) => [name!, value!],
    ),
  ).toString();

describe.each(stores)('the language of a mail, on %s', (store) => {
  let service: TestService;
  beforeAll(async () => {
    service = await startTest({ store, flags: ['--limit-factor', '1000'] });
    await createClient(service, 'app');
  });

  const browserIn = (languages: string): Tab =>
    Object.assign(service.tab(), { headers: { 'accept-language': languages } });
  const challenge = async (
    email: string,
    tab: Tab,
    parameters: Record<string, string> = {},
    not: readonly string[] = [],
  ) => {
    const begun = await begin(service, { tab, parameters });
    await begun.tab.post(`${begun.I}/emailchallenge`, { spec: { email } }).is(200);
    return mailTo(service, email, not);
  };

  test('is one that the browser prefers', async () => {
    const mail = await challenge('browser@example.test', browserIn('sv, de-AT;q=0.9, fr;q=0.8'));
    expect(mail.subject).toBe('Ihre Anmeldung bei app app');
    expect(mail.text).toContain('Geben Sie diesen Code dort ein');
    expect(mail.html).toContain('<html lang="de" dir="ltr">');
    expect(mail.text).toContain(mail.code.slice(0, 4));
  });

  test.each(Object.keys(catalogs))(
    'is wholly %s for the account page and the command, also in the API',
    async (language) => {
      const catalog = catalogs[language]!;
      const tab = browserIn(language);
      const own = { client_id: 'vestibule-account', response_type: 'none', scope: 'openid' };
      const query = new URLSearchParams({ ...own, redirect_uri: `${service.baseURL}/account` });
      const { headers } = await tab.navigate(`/oauth2/auth?${query}`).is(303);
      const { client } = (await tab.get(headers.location!).is(200)).body.status;
      expect(client.displayNames[language]).toBe(catalog['client.account']);
      const email = `own-${language}@example.test`.toLowerCase();
      await tab.post(`${headers.location!}/emailchallenge`, { spec: { email } }).is(200);
      const { subject, text } = await mailTo(service, email);
      const { host } = new URL(service.baseURL);
      expect(subject.replace(/[\u2068\u2069]/g, '')).toBe(
        catalog['mail.signIn.own.subject'].replace('{host}', host),
      );
      for (const names of [client.displayName, client.displayNames[language]]) {
        expect(text).not.toContain(names);
      }
      expect(text).toContain(catalog['mail.signIn.own.continue']);
    },
  );

  test.each(Object.keys(catalogs))(
    'names the command in %s, as the page of its code and the API do',
    async (language) => {
      const catalog = catalogs[language]!;
      const { tab, confirm, I } = await connectDevice(browserIn(language));
      expect(confirm).toContain(`<bdi>${escapeHTML(catalog['client.command'])}</bdi>`);
      const { client } = (await tab.get(I).is(200)).body.status;
      expect(client.name).toBe('vestibule');
      expect(client.displayName).toBe(catalogs['en']!['client.command']);
      expect(client.displayNames).toEqual(
        Object.fromEntries(
          Object.entries(catalogs).map(([name, { 'client.command': words }]) => [name, words]),
        ),
      );
      const email = `command-${language}@example.test`.toLowerCase();
      await tab.post(`${I}/emailchallenge`, { spec: { email } }).is(200);
      const { subject, text } = await mailTo(service, email);
      const named = (id: 'mail.signIn.subject' | 'mail.signIn.continue'): string =>
        catalog[id].replace('{app}', catalog['client.command']);
      expect(subject.replace(/[\u2068\u2069]/g, '')).toBe(named('mail.signIn.subject'));
      expect(text.replace(/[\u2068\u2069]/g, '')).toContain(named('mail.signIn.continue'));
    },
  );

  /** Brings a browser from the address that the command shows to its sign-in. */
  async function connectDevice(tab: Tab): Promise<{ tab: Tab; confirm: string; I: string }> {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const body = 'client_id=vestibule&scope=openid+offline_access+api';
    const { body: device } = await service
      .tab()
      .send('POST', '/oauth2/device/auth', { plain: true, body, headers: form })
      .is(200);
    const { pathname, search } = new URL(device.verification_uri_complete);
    let page = (await tab.navigate(`${pathname}${search}`).is(200)).bytes.toString();
    const headers = {
      ...form,
      accept: 'text/html',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-site': 'same-origin',
    };
    const submit = () => tab.send('POST', '/oauth2/device', { body: hiddenIn(page), headers });
    page = (await submit().is(200)).bytes.toString();
    return { tab, confirm: page, I: (await submit().is(303)).headers.location! };
  }

  test.each([
    ['en-GB', /^Someone .* on \d{1,2} [A-Z][a-z]+ 2\d{3} at \d\d:\d\d UTC/m],
    ['en-US', /^Someone .* on [A-Z][a-z]+ \d{1,2}, 2\d{3} at \d\d:\d\d UTC/m],
  ])('has dates of the region: %s', async (language, date) => {
    const email = `region-${language}@example.test`.toLowerCase();
    await signIn(service, email);
    await signIn(service, email, { tab: browserIn(language) });
    const wanted = ({ subject }: { subject: string }) => subject.startsWith('A new sign-in');
    expect((await mailTo(service, email, [], wanted)).text).toMatch(date);
  });

  test('is English if there is none of the preferred', async () => {
    const mail = await challenge('other@example.test', browserIn('sv'));
    expect(mail.subject).toBe('Your sign-in to app app');
  });

  test('is the one that the app asks for, before the account’s and the browser’s', async () => {
    const { tab } = await signIn(service, 'person@example.test', { tab: browserIn('de') });
    await tab.patch('accounts/~', { spec: { locale: 'ar', timeZone: 'Asia/Tokyo' } }).is(200);
    const first = await challenge('person@example.test', browserIn('de'));
    expect(first.html).toContain('<html lang="ar" dir="rtl">');
    expect(first.subject).toBe('تسجيل دخولك إلى \u2068app app\u2069');
    expect(first.text).toContain('غرينتش+9');
    const asked = { ui_locales: 'xx fr' };
    const second = await challenge('person@example.test', browserIn('de'), asked, [first.name]);
    expect(second.subject).toBe('Votre connexion à app app');
    expect(second.text).toContain('UTC+9');
  });

  test('gives times in the zone of the browser', async () => {
    const zone = (name: string): Tab =>
      Object.assign(service.tab(), { headers: { 'time-zone': name } });
    const first = await challenge('zone@example.test', zone('Asia/Tokyo'));
    expect(first.text).toContain('GMT+9');
    for (const bad of ['Mars/Base', '../../etc/localtime', '', 'x'.repeat(200)]) {
      const { text } = await challenge(`zone-${bad.length}@example.test`, zone(bad));
      expect(text).toMatch(/\d UTC/);
    }
    await service.tab().delete('mockmessages').is(200);
    await signIn(service, 'zoned@example.test', { tab: zone('Asia/Tokyo') });
    await signIn(service, 'zoned@example.test');
    const notice = await mailTo(service, 'zoned@example.test', [], ({ subject }) =>
      subject.startsWith('A new sign-in'),
    );
    expect(notice.text).toContain('GMT+9');
  });

  test('is the account’s for a notice about any browser', async () => {
    const { tab } = await signIn(service, 'notice@example.test', { tab: browserIn('de') });
    await tab.patch('accounts/~', { spec: { locale: 'it' } }).is(200);
    await signIn(service, 'notice@example.test', { tab: browserIn('ja') });
    const notice = await mailTo(
      service,
      'notice@example.test',
      [],
      ({ code }) => code === undefined,
    );
    expect(notice.subject).toMatch(/^Un nuovo accesso al tuo account/);
    await tab.delete('accounts/~').is(200);
    const last = await mailTo(
      service,
      'notice@example.test',
      [notice.name],
      ({ code, subject }) => code === undefined && subject !== notice.subject,
    );
    expect(last.subject).toMatch(/^Il tuo account su .* è stato eliminato$/);
  });
});

test('pages without scripts speak the language that the app asks for', async () => {
  const service = await startTest({});
  const tab = Object.assign(service.tab(), { headers: { 'accept-language': 'uk, en;q=0.5' } });
  const failed = (await tab.navigate('/oauth2/auth?client_id=none').is(400)).bytes.toString();
  expect(failed).toContain('<html lang="uk" dir="ltr">');
  expect(failed).toContain('<title>Помилка: Цей застосунок тут не відомий</title>');
  const device = (await tab.navigate('/oauth2/device').is(200)).bytes.toString();
  expect(device).toContain('Введіть код, який показує пристрій.');
  const asked = (await tab.navigate('/oauth2/auth?client_id=none&ui_locales=ar').is(400)).bytes;
  expect(asked.toString()).toContain('<html lang="ar" dir="rtl">');
  const absent = (await tab.navigate('/nothing').is(404)).bytes.toString();
  expect(absent).toContain('Такої сторінки немає');
});
