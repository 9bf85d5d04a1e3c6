import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { Gallery, sent, settle } from '../support/gallery.js';

const gallery = new Gallery();
beforeAll(() => gallery.open(), 120_000);
afterEach(() => {
  expect([...gallery.complaints.splice(0), ...gallery.server.reports]).toEqual([]);
});
afterAll(() => gallery.close());

const field = (page: Page, name: string) => page.getByRole('textbox', { name, exact: true });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const heading = (page: Page, name: string) =>
  page.getByRole('heading', { level: 1, name, exact: true });
const phase = (page: Page) => page.locator('main').getAttribute('data-phase');
const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.id || document.activeElement?.tagName);
const left = (page: Page) => page.waitForURL(gallery.at('left'));

describe('a language that Intl refuses', () => {
  const bad = [
    'en-US@posix',
    'de-DE@euro',
    'de-u',
    'de-DE-1996-1996',
    'fr-a-b-a-c',
    'ja_JP.UTF-8',
    'C',
    'en-',
    '',
    'de"onload="x',
  ];
  /** Makes a browser that names these languages, or has no list of them. */
  const withLanguages = (languages: readonly (string | null)[] | undefined) =>
    `Object.defineProperty(navigator, 'languages', { value: ${JSON.stringify(languages)} });
     Object.defineProperty(navigator, 'language', { value: ${JSON.stringify(languages?.[0] ?? 'nl')} });`;
  const visit = async (languages: readonly (string | null)[] | undefined): Promise<Page> => {
    const context = await gallery.window();
    await context.addInitScript(withLanguages(languages));
    return gallery.show(await context.newPage(), 'code-sent');
  };
  const language = (page: Page) => page.evaluate(() => document.documentElement.lang);

  test.each(bad)('%j alone gives the field for the code, in English', async (tag) => {
    const page = await visit([tag]);
    await field(page, 'Code').waitFor();
    expect(await language(page)).toBe('en');
    await page.context().close();
  });

  test.each(bad)('%j is passed over for the next one, wherever it comes from', async (tag) => {
    const page = await visit([tag, 'de-AT']);
    await page.locator('#code').waitFor();
    expect(await language(page)).toBe('de-AT');
    await page.evaluate((tag) => {
      document.cookie = `vestibule.language=${tag}; Path=/`;
    }, tag);
    await gallery.show(page, 'code-sent');
    expect(await language(page)).toBe('de-AT');
    await page.context().close();
  });

  test.each([
    ['no', undefined],
    ['an empty', []],
    ['a broken', [null]],
  ])('is not asked of a browser that has %s list of languages', async (_, languages) => {
    const page = await visit(languages);
    await page.locator('#code').waitFor();
    expect(await language(page)).toBe('nl');
  });
});

describe('the first view', () => {
  test.each([
    ['step-up-passkey', 'Lantern Notes asks for a sign-in with a passkey.', false],
    ['step-up-again', 'A rule of this service asks you to sign in again.', true],
    ['passkey-only', 'This app accepts only a passkey.', false],
  ])('%s says why the session is not enough, and offers what is', async (scene, why, byEmail) => {
    const page = await gallery.visit(scene);
    await page.getByText(why).waitFor();
    expect(await page.getByRole('textbox', { name: 'Email' }).count()).toBe(byEmail ? 1 : 0);
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
  });

  test.each([
    ['own-page', 'Sign in', 'Sign in'],
    ['own-page-named', 'Sign in to Lantern ID', 'Sign in to Lantern ID – Lantern ID'],
    ['own-page-link', 'Continue signing in', 'Continue signing in'],
    ['own-page-refused', 'You cannot sign in', 'Error: You cannot sign in'],
  ])('%s has sentences of its own', async (scene, words, title) => {
    const page = await gallery.visit(scene);
    await heading(page, words).waitFor();
    expect(await page.title()).toBe(title);
    await button(page, 'Cancel').waitFor();
    expect(await page.getByText(/account page/i).count()).toBe(0);
  });

  test('a new sign-in to the account page says so, and its cancellation what to do', async () => {
    const page = await gallery.visit('own-page-named');
    await page.getByText('To go on, sign in again.').waitFor();
    await button(page, 'Cancel').click();
    await heading(page, 'This sign-in was cancelled').waitFor();
  });

  test('has the contract’s names, says where one is, and has the focus', async () => {
    const page = await gallery.visit('first-visit');
    await heading(page, 'Sign in to Lantern Notes').waitFor();
    expect(
      await settle(
        () => focused(page),
        (at) => at === 'email',
      ),
    ).toBe('email');
    expect(await phase(page)).toBe('LoginRequired');
    expect(await page.title()).toBe('Sign in to Lantern Notes');
    await page.getByRole('banner').getByText('localhost').waitFor();
    await page.getByText('notes.lantern.test').waitFor();
    await button(page, 'Cancel and go back to Lantern Notes').waitFor();
    expect(await page.getByRole('button', { name: /passkey/ }).count()).toBe(0);
    expect(
      await field(page, 'Email').evaluate((one) =>
        Object.fromEntries(
          ['type', 'name', 'autocomplete', 'inputmode', 'autocapitalize', 'spellcheck'].map(
            (name) => [name, one.getAttribute(name)],
          ),
        ),
      ),
    ).toEqual({
      type: 'email',
      name: 'username',
      autocomplete: 'username webauthn',
      inputmode: 'email',
      autocapitalize: 'none',
      spellcheck: 'false',
    });
  });

  test.each([
    ['ada＠bücher。example', 'ada@xn--bcher-kva.example'],
    ['Ada <ada@example.test>', 'ada@example.test'],
  ])('sends the address that %s means', async (typed, email) => {
    const page = await gallery.visit('first-visit');
    await field(page, 'Email').fill(typed);
    await button(page, 'Continue with email').click();
    await heading(page, 'Check your email').waitFor();
    expect(await sent(page)).toEqual([{ call: 'POST emailchallenge', body: { spec: { email } } }]);
  });

  test('says what is wrong with an address before it is sent', async () => {
    const page = await gallery.visit('first-visit');
    await field(page, 'Email').fill('jörg@example.test');
    await button(page, 'Continue with email').click();
    await page.locator('#email-error').getByText('letters without accents').waitFor();
    expect(await sent(page)).toEqual([]);
  });

  test('takes what is typed right away, sends it once, and goes on to the code', async () => {
    const page = await gallery.visit('first-visit');
    await page.evaluate(() => {
      stage.api.delay = 100;
    });
    await page.keyboard.type('ada@example.test');
    await button(page, 'Continue with email').dblclick();
    await heading(page, 'Check your email').waitFor();
    expect(await sent(page)).toEqual([
      { call: 'POST emailchallenge', body: { spec: { email: 'ada@example.test' } } },
    ]);
    expect(
      await settle(
        () => focused(page),
        (at) => at === 'H1',
      ),
    ).toBe('H1');
  });

  test('shows what is wrong next to the field, and keeps what was typed', async () => {
    const page = await gallery.visit('email-invalid');
    const email = field(page, 'Email');
    expect(await email.inputValue()).toBe('ada@example');
    const fault = 'What follows the @ is not complete, as in example.com.';
    expect(
      await settle(
        () => email.getAttribute('aria-invalid'),
        (value) => value === 'true',
      ),
    ).toBe('true');
    expect(
      await settle(
        () => focused(page),
        (at) => at === 'email',
      ),
    ).toBe('email');
    expect(
      await page.locator(`#${await email.getAttribute('aria-describedby')}`).textContent(),
    ).toBe(fault);
    expect(
      await settle(
        () => page.getByRole('alert').textContent(),
        (text) => text === fault,
      ),
    ).toBe(fault);
    expect(await page.title()).toMatch(/^Error: /);
  });

  test('asks for an address before it sends anything', async () => {
    const page = await gallery.visit('email-empty');
    await page.getByText('Enter your email address.').waitFor();
    expect(await sent(page)).toEqual([]);
  });

  test('loses nothing when the network is gone', async () => {
    const page = await gallery.visit('email-offline');
    await page.getByRole('alert').getByText('We cannot reach the service.').waitFor();
    expect(await field(page, 'Email').inputValue()).toBe('ada@example.test');
    await button(page, 'Continue with email').click();
    await heading(page, 'Check your email').waitFor();
  });

  test('says how long to wait', async () => {
    const page = await gallery.visit('email-waiting');
    await page.getByRole('alert').getByText('You can try again in 9 minutes.').waitFor();
  });

  test('announces progress only when it lasts, and keeps the focus', async () => {
    const page = await gallery.visit('email-busy');
    await button(page, 'Sending…').waitFor();
    await page.getByRole('status').getByText('Sending…').waitFor();
  });

  test('cancels, and goes back', async () => {
    const page = await gallery.visit('first-visit');
    await button(page, 'Cancel and go back to Lantern Notes').click();
    await left(page);
  });

  test('can be used by keyboard alone', async () => {
    const page = await gallery.visit('first-visit');
    for (const stop of ['email', 'BUTTON', 'BUTTON', 'A', 'A']) {
      expect(
        await settle(
          () => focused(page),
          (at) => at === stop,
        ),
      ).toBe(stop);
      await page.keyboard.press('Tab');
    }
    await field(page, 'Email').focus();
    await page.keyboard.type('ada@example.test');
    await page.keyboard.press('Enter');
    await heading(page, 'Check your email').waitFor();
  });

  test('warns before the time runs out, and says what happened after it', async () => {
    const page = await gallery.visit('ends-soon');
    await page.locator('.notice', { hasText: 'This sign-in ends in 5 minutes.' }).waitFor();
    expect(await page.getByRole('link', { name: 'Start again' }).getAttribute('href')).toBe(
      'https://notes.lantern.test/login',
    );
    const over = await gallery.visit('ran-out');
    await heading(over, 'This sign-in has expired').waitFor();
    expect(
      await over.getByRole('link', { name: 'Go back to Lantern Notes' }).getAttribute('href'),
    ).toBe('https://notes.lantern.test/login');
  });
});

describe('the code', () => {
  test('has the names of the contract and a watch', async () => {
    const page = await gallery.visit('code-sent');
    for (const name of [
      'Sign in',
      'Send a new code',
      'Use another address',
      'Cancel and go back to Lantern Notes',
    ]) {
      await button(page, name).waitFor();
    }
    expect(
      await field(page, 'Code').evaluate((one) =>
        Object.fromEntries(
          ['type', 'name', 'autocomplete', 'inputmode', 'maxlength'].map((name) => [
            name,
            one.getAttribute(name),
          ]),
        ),
      ),
    ).toEqual({
      type: 'text',
      name: 'code',
      autocomplete: 'one-time-code',
      inputmode: 'numeric',
      maxlength: null,
    });
    expect(await page.evaluate(() => stage.api.watching)).toBe(1);
    await page.getByRole('link', { name: 'Open the test mailbox' }).waitFor();
  });

  test.each([
    '12345678',
    '1234 5678',
    '1234-5678',
    '1234–5678',
    ' 1 2 3 4 5 6 7 8 ',
    '１２３４５６７８',
    '١٢٣٤٥٦٧٨',
    'Your code is 1234 5678.',
    '\u200e1234\u00a05678',
  ])('%j is read as 12345678 and sent by itself', async (typed) => {
    const page = await gallery.visit('code-sent');
    await page.evaluate(() => {
      stage.api.script['POST login'] = 'never';
    });
    await field(page, 'Code').fill(typed);
    expect(
      await settle(
        () => sent(page),
        ({ length }) => length > 0,
      ),
    ).toEqual([{ call: 'POST login', body: { spec: { method: 'EmailCode', code: '12345678' } } }]);
    expect(await field(page, 'Code').inputValue()).toBe('1234 5678');
  });

  test.each(['1234567', '123456789', 'abcdefgh', ''])(
    '%j is not sent, and the button says why',
    async (typed) => {
      const page = await gallery.visit('code-sent');
      await field(page, 'Code').fill(typed);
      await button(page, 'Sign in').click();
      await page.getByText('The code has 8 digits.').waitFor();
      expect(await sent(page)).toEqual([]);
    },
  );

  test('a right one goes on to the Client', async () => {
    const page = await gallery.visit('code-sent');
    await page.keyboard.type('12345678');
    await left(page);
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).toBe(
      '{}',
    );
  });

  test('a wrong one is kept, selected and said; the same is not sent again by itself', async () => {
    const page = await gallery.visit('code-wrong');
    await page.locator('#code-error').getByText('Wrong code. 3 tries left.').waitFor();
    const [value, from, to] = await field(page, 'Code').evaluate((one: HTMLInputElement) => [
      one.value,
      one.selectionStart,
      one.selectionEnd,
    ]);
    expect([value, from, to, await focused(page)]).toEqual(['1234 5678', 0, 9, 'code']);
    await field(page, 'Code').fill('1234567');
    await field(page, 'Code').fill('12345678');
    await page.evaluate(() => stage.api.settled());
    expect(await sent(page)).toHaveLength(1);
    await button(page, 'Sign in').click();
    await left(page);
  });

  test('with no tries left the new code has the focus', async () => {
    const page = await gallery.visit('code-no-tries');
    await page.locator('#code-error').getByText('no tries left').waitFor();
    expect(
      await settle(
        () => focused(page),
        (at) => at === 'resend',
      ),
    ).toBe('resend');
    await page.keyboard.press('Enter');
    expect(
      await settle<unknown>(
        () => page.getByRole('status').textContent(),
        (value) => value === 'A new code is on its way.',
      ),
    ).toBe('A new code is on its way.');
    expect(await page.locator('#code-error').count()).toBe(0);
    expect(await sent(page)).toContainEqual({
      call: 'POST emailchallenge',
      body: { spec: { email: 'ada@example.test' } },
    });
    expect([await focused(page), await field(page, 'Code').inputValue()]).toEqual(['resend', '']);
  });

  test('a new code is announced on the account page, and the focus stays', async () => {
    const page = await gallery.visit('account-email-again');
    const again = page.getByRole('button', { name: /^Send a new code/ });
    await field(page, 'Code').fill('123');
    await again.focus();
    await page.keyboard.press('Enter');
    expect(
      await settle<unknown>(
        () => page.getByRole('status').textContent(),
        (value) => value === 'A new code is on its way.',
      ),
    ).toBe('A new code is on its way.');
    expect(await again.evaluate((one) => one === document.activeElement)).toBe(true);
    expect([
      await again.getAttribute('aria-disabled'),
      await field(page, 'Code').inputValue(),
    ]).toEqual(['true', '']);
  });

  test('what is said twice is announced twice', async () => {
    const page = await gallery.visit('account');
    const heard = await page.evaluateHandle(() => {
      const texts: string[] = [];
      const region = document.querySelector('[role=status]')!;
      const note = (): number => texts.push(region.textContent!);
      new MutationObserver(note).observe(region, { childList: true });
      return texts;
    });
    const words = 'There are no changes to save.';
    for (const expected of [[words], [words, '', words]]) {
      await button(page, 'Save profile').click();
      expect(
        await settle(
          () => heard.jsonValue(),
          (all) => all.length >= expected.length,
        ),
      ).toEqual(expected);
    }
  });

  test.each([
    ['code-expired', 'This code has expired. Send a new code.'],
    ['code-replaced', 'We sent a newer code. Type the one from the latest email.'],
  ])('%s says so', async (scene, words) => {
    const page = await gallery.visit(scene);
    await page.locator('#code-error').getByText(words).waitFor();
  });

  test.each([
    ['code-resting', 'You can try again in 15 minutes.'],
    ['code-down', 'The service is not available just now.'],
    ['code-fault', 'That did not work.'],
  ])('%s says so and stays usable', async (scene, words) => {
    const page = await gallery.visit(scene);
    await page.getByRole('alert').getByText(words).waitFor();
    await page.getByText('Reference: c0ffee00').waitFor();
    expect(await field(page, 'Code').inputValue()).toBe('1234 5678');
  });

  test('a new one can be asked for when the time has come, which is said once', async () => {
    const context = await gallery.window();
    const page = await context.newPage();
    await page.clock.install();
    await gallery.show(page, 'code-sent');
    const resend = button(page, 'Send a new code');
    expect(await resend.getAttribute('aria-disabled')).toBe('true');
    await page.getByText('You can ask for a new one in').waitFor();
    await resend.focus();
    await page.keyboard.press('Enter');
    expect(await sent(page)).toEqual([]);
    expect(await page.getByRole('status').textContent()).toBe('');
    await page.clock.runFor(61_000);
    expect(
      await settle<unknown>(
        () => page.getByRole('status').textContent(),
        (value) => value === 'You can ask for a new code now.',
      ),
    ).toBe('You can ask for a new code now.');
    expect(
      await settle(
        () => focused(page),
        (at) => at === 'resend',
      ),
    ).toBe('resend');
    await page.keyboard.press('Enter');
    expect(
      await settle(
        () => sent(page),
        ({ length }) => length > 0,
      ),
    ).toHaveLength(1);
  });

  test('too many asked for: the wait is counted down', async () => {
    const page = await gallery.visit('code-resendable');
    await button(page, 'Send a new code').click();
    await page.getByRole('alert').getByText('You can try again in 8 minutes.').waitFor();
    await page.getByText('You can ask for a new one in 8 minutes.').waitFor();
    expect(
      await settle(
        () => button(page, 'Send a new code').getAttribute('aria-disabled'),
        (disabled) => disabled === 'true',
      ),
    ).toBe('true');
  });

  test('another address starts from the one that was given', async () => {
    const page = await gallery.visit('code-sent');
    await button(page, 'Use another address').click();
    await heading(page, 'Sign in to Lantern Notes').waitFor();
    expect(await field(page, 'Email').inputValue()).toBe('ada@example.test');
  });

  test('a refusal by policy shows the words of the rule and whom to ask', async () => {
    const page = await gallery.visit('refused');
    await heading(page, 'You cannot sign in to Lantern Notes').waitFor();
    expect(await page.getByRole('blockquote').textContent()).toBe(
      'Only members of the Lantern project may sign in to Lantern Notes.',
    );
    expect(await page.getByRole('button').allTextContents()).toEqual([
      'Cancel and go back to Lantern Notes',
    ]);
    expect(await page.locator('main').getAttribute('data-phase')).toBe('error');
    await page.locator('dl').getByText('Create an account').waitFor();
    expect(await page.locator('dl dt').allTextContents()).toEqual([
      'Request',
      'Answer',
      'Rule',
      'Policy',
      'Would be allowed with',
      'Decision',
    ]);
    const alternatives = page.locator('dl > div', { hasText: 'Would be allowed with' });
    expect(await alternatives.locator('dd').allTextContents()).toEqual([
      'an invitation',
      'an address at *.lantern.example',
    ]);
    const rule = page.getByRole('link', { name: 'Members of the project' });
    expect([await rule.getAttribute('href'), await rule.getAttribute('target')]).toEqual([
      new URL('/policy#p-3=&rule=members-of-the-project', page.url()).href,
      '_blank',
    ]);
  });

  test('a refusal whose decision cannot be read keeps its words', async () => {
    const page = await gallery.visit('refused-unread');
    await page.getByText('pd-7hq2m4').waitFor();
    expect(await page.locator('dl dt').allTextContents()).toEqual(['Decision']);
    await page.getByRole('blockquote').waitFor();
  });
});

describe('a mail that was not sent', () => {
  test.each([
    ['mail-deferred', 'could not be sent yet. We keep trying.'],
    ['mail-failed', 'could not be sent. Check the address.'],
  ])(
    '%s: the page says so, where and what to do, in place of where it was sent',
    async (scene, words) => {
      const page = await gallery.visit(scene, { viewport: { width: 320, height: 700 } });
      expect(
        await page.locator('p[aria-live=polite]').filter({ hasText: 'The email to' }).textContent(),
      ).toContain(words);
      expect(await page.getByText('ada@example.test').count()).toBe(1);
      expect(await page.getByText('We sent').count()).toBe(0);
      await button(page, 'Use another address').waitFor();
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(
        true,
      );
    },
  );

  test.each([
    ['account-email-sent', 'We sent a code to ada@new.example from sign-in@example.org.'],
    ['account-email-deferred', 'ada@new.example could not be sent yet. We keep trying.'],
    ['account-email-failed', 'ada@new.example could not be sent. Check the address.'],
  ])(
    '%s: so does the page that changes the address, and it names the sender',
    async (scene, words) => {
      const page = await gallery.visit(scene, { viewport: { width: 320, height: 700 } });
      const message = page.locator('form.inset p').first();
      await message.filter({ hasText: 'ada@new.example' }).waitFor();
      // A direction mark stands around addresses.
      expect((await message.textContent())!.replace(/[\u2066-\u2069]/g, '')).toContain(words);
      expect(await message.evaluate((one) => one.classList.contains('error'))).toBe(
        scene !== 'account-email-sent',
      );
      expect(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(
        true,
      );
    },
  );

  test('is no news where it was: the page names the sender', async () => {
    const page = await gallery.visit('code-sent');
    expect(await page.getByText('We sent a code').textContent()).toContain(
      'from sign-in@vestibule.test',
    );
  });
});
