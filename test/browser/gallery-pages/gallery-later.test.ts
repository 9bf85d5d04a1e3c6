import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { Gallery, sent, settle } from '../support/gallery.js';

const gallery = new Gallery();
beforeAll(() => gallery.open(), 120_000);
afterEach(() => {
  expect([...gallery.complaints.splice(0), ...gallery.server.reports]).toEqual([]);
});
afterAll(() => gallery.close());

const box = (page: Page, name: string) => page.getByRole('checkbox', { name, exact: true });
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const heading = (page: Page, name: string) =>
  page.getByRole('heading', { level: 1, name, exact: true });
const phase = (page: Page) => page.locator('main').getAttribute('data-phase');
const left = (page: Page) => page.waitForURL(gallery.at('left'));

describe('the emailed link', () => {
  const token = 'k'.repeat(43);

  test('does nothing until the person acts; its token leaves the address at once', async () => {
    const page = await gallery.visit(`link-opened#token=${token}`);
    await heading(page, 'Continue to Lantern Notes?').waitFor();
    expect(page.url()).toBe(gallery.at('link-opened'));
    expect(await sent(page)).toEqual([]);
    expect(await page.evaluate(() => history.length)).toBeLessThan(4);
    await button(page, 'Continue signing in').dblclick();
    await left(page);
  });

  test('posts the token once', async () => {
    const page = await gallery.visit(`link-opened#token=${token}`);
    await page.evaluate(() => {
      stage.api.script['POST login'] = 'never';
    });
    await button(page, 'Continue signing in').dblclick();
    expect(await sent(page)).toEqual([
      { call: 'POST login', body: { spec: { method: 'EmailLink', token } } },
    ]);
  });

  test.each([
    ['link-elsewhere', 'Go back to the window where you started'],
    ['link-foreign', 'This email belongs to another sign-in'],
    ['link-expired', 'This link has expired'],
    ['link-used', 'This link was already used'],
    ['link-replaced', 'There is a newer link'],
  ])('%s: %s', async (scene, words) => {
    const page = await gallery.visit(scene);
    await heading(page, words).waitFor();
    expect(await phase(page)).toBe('error');
    expect(await page.title()).toBe(`Error: ${words}`);
    await page.getByText('Reference: c0ffee00').waitFor();
    expect(await button(page, 'Start again').count()).toBe(
      /expired|used|replaced/.test(scene) ? 1 : 0,
    );
  });

  test('starting again asks for the address, or for the newest code', async () => {
    const page = await gallery.visit('link-expired');
    await button(page, 'Start again').click();
    await page.getByRole('textbox', { name: 'Email' }).waitFor();
    const newer = await gallery.visit('link-replaced');
    await button(newer, 'Start again').click();
    await newer.getByRole('textbox', { name: 'Code' }).waitFor();
  });

  test('the tab where the sign-in began goes on, that of the link says it is done', async () => {
    const context = await gallery.window();
    const first = await gallery.show(await context.newPage(), 'code-sent?tabs=x');
    const second = await gallery.show(await context.newPage(), 'link-opened?tabs=x');
    await button(second, 'Continue signing in').click();
    await heading(second, 'You are signed in').waitFor();
    expect(await phase(second)).toBe('Authenticated');
    await first.evaluate(() => stage.api.push(stage.api.script['POST login']));
    await left(first);
    expect(second.url()).toBe(gallery.at('link-opened?tabs=x'));
  });
});

describe('the interaction over time', () => {
  test('a failed watch is taken up again when the person comes back', async () => {
    const page = await gallery.visit('code-sent');
    await page.evaluate(() => {
      stage.api.script.GET = 'offline';
      stage.api.push();
    });
    expect(
      await settle<unknown>(
        () => page.evaluate(() => stage.api.calls.filter(({ call }) => call === 'GET').length),
        (value) => value === 2,
      ),
    ).toBe(2);
    await page.evaluate(() => {
      stage.api.script.GET = stage.api.script['POST login'];
      window.dispatchEvent(new Event('focus'));
    });
    await left(page);
  });

  test.each([
    ['done', 'You are signed in', 'Authenticated'],
    ['completed', 'You are signed in', 'Completed'],
    ['cancelled', 'This sign-in was cancelled', 'Aborted'],
    ['foreign-return', 'You are signed in', 'Completed'],
    ['lost', 'This sign-in was not started in this browser', 'error'],
    ['over', 'This sign-in has expired', 'error'],
    ['fault', 'Something went wrong', 'error'],
    ['not-allowed', 'You don’t have access to this page', 'error'],
    ['busy', 'Too many requests from this network', 'error'],
  ])('%s: %s', async (scene, words, then) => {
    const page = await gallery.visit(scene);
    await heading(page, words).waitFor();
    expect(await phase(page)).toBe(then);
  });

  test.each([
    ['done', 'Go back to Lantern Notes'],
    ['completed', 'Go back to Lantern Notes'],
    ['cancelled', 'Go back to Lantern Notes'],
    ['foreign-return', 'Go back to Lantern Notes'],
    ['over', 'Open your account'],
    ['lost', 'Open your account'],
    ['link-elsewhere#token=x', 'Open your account'],
    ['own-page-cancelled', 'Open your account'],
  ])('%s ends with one thing to press: %s', async (scene, name) => {
    const page = await gallery.visit(scene);
    await page.getByRole('link', { name }).waitFor();
    expect(await page.locator('main .button').count()).toBe(1);
  });

  test('a browser without cookies gets a page that says so, with a button to try again', async () => {
    const context = await gallery.window();
    await context.addInitScript(() => {
      Object.defineProperty(Document.prototype, 'cookie', { get: () => '', set: () => {} });
    });
    const page = await gallery.show(await context.newPage(), 'lost');
    await heading(page, 'Cookies are turned off in this browser').waitFor();
    await button(page, 'Try again').waitFor();
  });

  test.each([
    ['opens again', false],
    ['was left already, and the sign-in is over', true],
  ])('an app that does not open gets a link; it %s', async (_, isFollowed) => {
    const context = await gallery.window();
    const page = await context.newPage();
    await page.route('**/gallery/left', (route) => route.fulfill({ status: 204 }), { times: 1 });
    await gallery.show(page, 'consent-one');
    await settle(
      () => phase(page),
      (now) => now === 'ConsentRequired',
    );
    await button(page, 'Allow').click();
    const link = page.getByRole('link', { name: 'Continue' });
    await link.waitFor();
    await page.evaluate((isFollowed) => {
      const { api } = stage;
      const done = structuredClone(api.script['POST consent']);
      if (isFollowed) delete done.status.returnTo;
      api.script.GET = done;
    }, isFollowed);
    await link.click();
    if (isFollowed) {
      await heading(page, 'You are signed in').waitFor();
    } else {
      await left(page);
    }
  });

  test.each(['unreachable', 'down'])('%s: trying again helps', async (scene) => {
    const page = await gallery.visit(scene);
    await button(page, 'Try again').click();
    await heading(page, 'Sign in to Lantern Notes').waitFor();
  });
});

describe('setup', () => {
  test('saves a name as a merge patch and goes on', async () => {
    const page = await gallery.visit('setup-name');
    await heading(page, 'Finish your account').waitFor();
    expect(await button(page, 'Add a passkey').count()).toBe(0);
    await page.evaluate(() => {
      stage.api.script['PATCH account'] = 'never';
    });
    await page.getByRole('textbox', { name: 'Your name' }).fill(' Ada ');
    await button(page, 'Continue').click();
    expect(await sent(page)).toEqual([
      { call: 'PATCH account', body: { spec: { displayName: 'Ada' } } },
    ]);
  });

  test('can be put off, and is not asked again soon', async () => {
    const context = await gallery.window();
    const page = await gallery.show(await context.newPage(), 'setup-name');
    await button(page, 'Not now').click();
    await left(page);
    await page.goto(gallery.at('setup-name'));
    await left(page);
  });

  test('asks again soon where the app requires a name', async () => {
    const page = await gallery.show(await (await gallery.window()).newPage(), 'setup-name');
    await button(page, 'Not now').click();
    await left(page);
    await gallery.show(page, 'setup-name-required');
    await page.getByRole('textbox', { name: 'Your name' }).waitFor();
    await button(page, 'Not now').click();
    await left(page);
  });

  test('follows a new account’s code, and then leads on', async () => {
    const page = await gallery.visit('code-new-account');
    await page.keyboard.type('12345678');
    await page.getByRole('textbox', { name: 'Your name' }).fill('Ada');
    await page.keyboard.press('Enter');
    await left(page);
  });
});

describe('consent', () => {
  test('chooses only what is required, and shows the very values', async () => {
    const page = await gallery.visit('consent');
    await heading(page, 'Lantern Notes asks for access').waitFor();
    expect(await phase(page)).toBe('ConsentRequired');
    const states = await page
      .getByRole('checkbox')
      .evaluateAll((all) =>
        all.map((one) => [(one as HTMLInputElement).checked, (one as HTMLInputElement).disabled]),
      );
    expect(states).toEqual([
      [true, true],
      [false, false],
      [false, false],
      [false, false],
      [false, true],
    ]);
    await page
      .getByRole('group', { name: 'Name and profile', exact: true })
      .getByText('Ada Lovelace')
      .waitFor();
    expect(
      await page.getByRole('group', { name: 'Insurance' }).evaluate((row) =>
        row
          .getAttribute('aria-describedby')!
          .split(' ')
          .map((id) => document.getElementById(id)?.textContent)
          .join(),
      ),
    ).toContain('Meridian Mutual');
    await page.getByText('Policy says: Groups are shared only with services of our own.').waitFor();
    const [allow, cancel] = await Promise.all(
      ['Allow', 'Cancel'].map((name) =>
        button(page, name).evaluate((one: HTMLElement) => [
          one.offsetWidth,
          one.offsetHeight,
          getComputedStyle(one).color,
          getComputedStyle(one).backgroundColor,
        ]),
      ),
    );
    expect(allow).toEqual(cancel);
  });

  test.each([
    ['is chosen, so that Allow leaves it', false, ['openid', 'profile']],
    ['is taken back by unticking it', true, ['openid']],
  ])('what was agreed before %s', async (_, unticks, scopes) => {
    const page = await gallery.visit('consent-agreed-before');
    await page.getByText('Already allowed').waitFor();
    expect(await box(page, 'Name and profile').isChecked()).toBe(true);
    expect(await box(page, 'Email address').isChecked()).toBe(false);
    await page.evaluate(() => {
      stage.api.script['POST consent'] = 'never';
    });
    if (unticks) await box(page, 'Name and profile').uncheck();
    await settle(
      () => phase(page),
      (now) => now === 'ConsentRequired',
    );
    await button(page, 'Allow').click();
    expect(await sent(page)).toEqual([{ call: 'POST consent', body: { spec: { scopes } } }]);
  });

  test('sends what was chosen, once', async () => {
    const page = await gallery.visit('consent');
    await page.evaluate(() => {
      stage.api.script['POST consent'] = 'never';
    });
    await page.getByText('Email address').click();
    await button(page, 'Allow').dblclick();
    expect(await sent(page)).toEqual([
      { call: 'POST consent', body: { spec: { scopes: ['openid', 'email'] } } },
    ]);
  });

  test.each(['Allow', 'Cancel'])(
    '%s is deaf until it was in view for half a second',
    async (name) => {
      const context = await gallery.window();
      const page = await context.newPage();
      await page.addInitScript((wanted) => {
        new MutationObserver((_, seen) => {
          const found = [...document.querySelectorAll('button')].find(
            (one) => one.textContent === wanted,
          );
          if (!found) return;
          seen.disconnect();
          found.click(); // as it appears, however slow the machine is
          document.documentElement.dataset.early =
            document.querySelector('main')!.dataset.phase ?? 'none';
        }).observe(document, { subtree: true, childList: true });
      }, name);
      await page.goto(gallery.at('consent'));
      await page.locator('html[data-early=none]').waitFor({ state: 'attached' });
      expect(await sent(page)).toEqual([]);
      await page.locator('main[data-phase=ConsentRequired]').waitFor();
      await button(page, name).click();
      await left(page);
    },
  );

  test('is deaf again after its window came to the front', async () => {
    const page = await gallery.visit('consent');
    await page.evaluate(() => {
      window.dispatchEvent(new Event('focus'));
      [...document.querySelectorAll('button')].find((one) => one.textContent === 'Allow')!.click();
    });
    expect(await sent(page)).toEqual([]);
    await page.evaluate(async () => {
      const next = structuredClone(stage.api.script.GET);
      next.metadata.resourceVersion += '1';
      Object.assign(next.status.consent.scopes[1], {
        allowed: false,
        reason: 'Not on Sundays.',
        preview: [],
      });
      stage.api.push(next);
      while (!document.body.textContent!.includes('Not on Sundays.')) {
        await new Promise(requestAnimationFrame);
      }
      [...document.querySelectorAll('button')].find((one) => one.textContent === 'Allow')!.click();
    });
    const words = 'What would be shared has changed. Check it again.';
    expect(
      await settle(
        () => page.getByRole('status').textContent(),
        (value) => value === words,
      ),
    ).toBe(words);
    expect(await sent(page)).toEqual([]);
    expect(await box(page, 'Name and profile').isDisabled()).toBe(true);
  });

  test('the Enter key agrees to nothing by itself', async () => {
    const page = await gallery.visit('consent');
    await box(page, 'Email address').focus();
    await page.keyboard.press('Enter');
    expect(await sent(page)).toEqual([]);
  });

  test('keyboard alone: choose, allow', async () => {
    const page = await gallery.visit('consent');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Space');
    expect(await box(page, 'Name and profile').isChecked()).toBe(true);
    await button(page, 'Allow').focus();
    await page.keyboard.press('Enter');
    await left(page);
  });

  test('a scope that cannot be shared gets the focus', async () => {
    const page = await gallery.visit('consent-invalid');
    await page.getByRole('alert').getByText('This cannot be shared. Check your choice.').waitFor();
    expect(
      await settle(
        () => page.evaluate(() => document.activeElement?.id),
        (id) => id === 'scope-profile',
      ),
    ).toBe('scope-profile');
  });

  test('a refusal that comes while it is read leaves Cancel only', async () => {
    const page = await gallery.visit('consent');
    await page.evaluate(() =>
      stage.api.push({
        ...stage.api.script.GET,
        status: {
          ...stage.api.script.GET.status,
          refusal: { message: 'Closed on Sundays.', policyDecision: 'pd-1' },
        },
      }),
    );
    await heading(page, 'You cannot sign in to Lantern Notes').waitFor();
    expect(await page.getByRole('blockquote').textContent()).toBe('Closed on Sundays.');
    expect(await page.getByRole('button').allTextContents()).toEqual([
      'Cancel and go back to Lantern Notes',
    ]);
  });

  test('an app that describes itself is named by its host, and its own name is smaller', async () => {
    const page = await gallery.visit('consent-metadata-document');
    const sizeOf = (text: string): Promise<number> =>
      page
        .getByText(text)
        .first()
        .evaluate((element) => parseFloat(getComputedStyle(element).fontSize));
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(
      'apps.lantern.test asks for access',
    );
    expect(await sizeOf('apps.lantern.test asks')).toBeGreaterThan(await sizeOf('It calls itself'));
    await page.getByText('It calls itself Lantern for desktops.').waitFor();
  });

  test('a long one can be read to its end', async () => {
    const page = await gallery.visit('consent-many');
    expect(await page.getByRole('checkbox').count()).toBe(20);
  });
});

describe('the mailbox', () => {
  test('lists the newest first, with code and link, and can be emptied', async () => {
    const page = await gallery.visit('mailbox');
    expect(await phase(page)).toBe('mailbox');
    const list = page.getByRole('list', { name: 'Messages' });
    expect(await list.getByRole('heading').allTextContents()).toEqual([
      'Your sign-in to Lantern Notes',
      'Your account was signed in from a new browser',
    ]);
    await list.getByText('1234 5678', { exact: true }).waitFor();
    expect(await list.getByRole('link', { name: 'Open the link' }).getAttribute('href')).toBe(
      gallery.at('link-opened'),
    );
    await page.getByText('This is a test mailbox').waitFor();
    await button(page, 'Empty mailbox').click();
    await page.getByText('No messages yet.').waitFor();
    expect((await sent(page)).map(({ call }) => call)).toEqual(['DELETE']);
  });

  test('shows what arrives', async () => {
    const page = await gallery.visit('mailbox-empty');
    expect(
      await settle<unknown>(
        () => page.evaluate(() => stage.api.watching),
        (value) => value === 1,
      ),
    ).toBe(1);
    await page.evaluate(() => {
      const message = {
        metadata: { name: 'm', resourceVersion: '501' },
        status: {
          to: 'a@b.test',
          from: 'c@d.test',
          subject: 'New',
          text: 'x',
          html: '',
          sentTimestamp: '2030-01-01T00:00:00Z',
        },
      };
      stage.api.emit('mockmessages', message, 'ADDED');
    });
    await page.getByRole('heading', { name: 'New' }).waitFor();
  });

  test('is not there when mail is really sent', async () => {
    await heading(await gallery.visit('mailbox-absent'), 'There is no mailbox here').waitFor();
  });
});

test('another language can be chosen, and is remembered', async () => {
  const context = await gallery.window();
  const page = await gallery.show(await context.newPage(), 'first-visit');
  await page.getByRole('combobox', { name: 'Language' }).selectOption('ar-XB');
  await page.locator('html[dir=rtl]').waitFor({ state: 'attached' });
  await gallery.show(page, 'first-visit');
  expect(await page.evaluate(() => document.documentElement.lang)).toBe('ar-XB');
});
