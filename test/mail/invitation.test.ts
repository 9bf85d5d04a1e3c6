import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { catalogs } from '../../i18n/languages.js';
import { mailTo, signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { stores } from '../support/stores.js';

afterAll(stopAll);

describe.each(stores)('the mail of an invitation, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  beforeAll(async () => {
    const flags = ['--operators', 'op@example.test', '--limit-factor', '1000'];
    service = await startTest({ store, flags });
    await createClient(service, 'app', { initiateLoginURI: 'https://app.example.test/login' });
    operator = (await signIn(service, 'op@example.test')).tab;
  });

  const mailOf = async (email: string, spec: object = {}) => {
    const metadata = { generateName: 'invite-' };
    await operator.post('invitations', { metadata, spec: { email, ...spec } }).is(201);
    return mailTo(service, email);
  };

  test('names who invites by the address while there is no name', async () => {
    const { host } = new URL(service.baseURL);
    await operator.patch('accounts/~', { spec: { displayName: null } }).is(200);
    const { subject, text, html } = await mailOf('first@example.test');
    expect(subject).toBe(`You are invited to ${host}`);
    expect(text).toMatch(new RegExp(`^op@example.test invites you to ${host}\\.`, 'm'));
    expect(html).toContain(`op@example.test invites you to ${host}.`);
  });

  test.each(Object.keys(catalogs))(
    'names who invites by name and address, and the app, in %s',
    async (locale) => {
      await operator.patch('accounts/~', { spec: { displayName: 'Grace Hopper' } }).is(200);
      const email = `second-${locale}@example.test`.toLowerCase();
      const { subject, text } = await mailOf(email, { client: 'app', locale });
      const plain = (words: string): string => words.replace(/[\u2068\u2069]/g, '');
      const catalog = catalogs[locale]!;
      const [invitation] = catalog['mail.invitation.by']
        .replace('{inviter}', 'Grace Hopper (op@example.test)')
        .replace('{app}', 'app app')
        .split('\n');
      expect(plain(subject)).toBe(catalog['mail.invitation.subject'].replace('{app}', 'app app'));
      expect(plain(text).replace(/\s+/g, ' ')).toContain(invitation!);
    },
  );

  test.each([
    ['en-GB', /until \d{1,2} [A-Z][a-z]+ 2\d{3} at \d\d:\d\d UTC\./],
    ['en-US', /until [A-Z][a-z]+ \d{1,2}, 2\d{3} at \d\d:\d\d UTC\./],
  ])('has its end as %s writes dates', async (locale, end) => {
    const { text } = await mailOf(`end-${locale}@example.test`.toLowerCase(), { locale });
    expect(text).toMatch(end);
  });
});
