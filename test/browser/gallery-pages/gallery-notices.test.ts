import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { announcements, recordAnnouncements } from '../support/announcements.js';
import { Gallery, sent, settle } from '../support/gallery.js';

const gallery = new Gallery();
beforeAll(() => gallery.open(), 120_000);
afterEach(() => {
  expect([...gallery.complaints.splice(0), ...gallery.server.reports]).toEqual([]);
});
afterAll(() => gallery.close());

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const heading = (page: Page, name: string) =>
  page.getByRole('heading', { level: 1, name, exact: true });

describe('“A new code is on its way.”', () => {
  const newCode = 'A new code is on its way.';
  const visit = async (scene: string): Promise<Page> => {
    const context = await gallery.window();
    await recordAnnouncements(context);
    return gallery.show(await context.newPage(), scene);
  };

  test('is said when a new code was asked for', async () => {
    const page = await visit('code-no-tries');
    await page.locator('#code-error').getByText('no tries left').waitFor();
    await button(page, 'Send a new code').click();
    expect(
      await settle(
        () => announcements(page),
        (said) => said.includes(newCode),
      ),
    ).toContain(newCode);
  });

  test('is not said while this tab asks the others which one goes on', async () => {
    const context = await gallery.window();
    await recordAnnouncements(context);
    await context.clock.install();
    const page = await gallery.show(await context.newPage(), 'code-sent?tabs=x');
    await page.evaluate(() => {
      const channel = new BroadcastChannel('interaction x');
      channel.onmessage = () => {
        document.documentElement.dataset.asked = 'yes';
      };
      Object.assign(globalThis, { channel });
    });
    const wait = (): Promise<string | null> => page.locator('#resend-wait').textContent();
    const runUntil = async (stepMs: number, isReached: () => Promise<boolean>): Promise<void> => {
      for (let i = 0; i < 100 && !(await isReached()); i += 1) await context.clock.runFor(stepMs);
      expect(await isReached()).toBe(true);
    };
    await context.clock.pauseAt((await page.evaluate(() => Date.now())) + 5_000);
    const before = await wait();
    await runUntil(20, async () => (await wait()) !== before);
    // The view draws again each second, the next time while this tab asks the others.
    await context.clock.runFor(850);
    await page.evaluate(() => {
      const next = structuredClone(stage.api.script['POST login']);
      next.status.account.setup = { complete: false, missing: ['displayName'] };
      stage.api.push(next);
    });
    await runUntil(1, () => page.evaluate(() => 'asked' in document.documentElement.dataset));
    const asking = await wait();
    await context.clock.runFor(200);
    expect(await wait()).not.toBe(asking);
    await context.clock.runFor(2_000);
    await heading(page, 'Finish your account').waitFor();
    expect(await announcements(page)).not.toContain(newCode);
  });
});

describe('the warning before a sign-in ends', () => {
  const warning = (page: Page) => page.locator('.notice.warn').getByText('This sign-in ends');

  /** Opens a scene and crosses into the last five minutes of its sign-in. */
  const cross = async (scene: string): Promise<Page> => {
    const context = await gallery.window();
    await recordAnnouncements(context);
    await context.clock.install();
    const page = await gallery.show(await context.newPage(), scene);
    const leftMs = await page.evaluate(
      () => Date.parse(stage.api.script.GET.status.expirationTimestamp) - Date.now(),
    );
    await context.clock.fastForward(leftMs - 360_000);
    await page.evaluate(() => stage.api.settled());
    expect(await warning(page).count()).toBe(0);
    await context.clock.fastForward(61_000);
    await warning(page).waitFor();
    await settle(
      () => announcements(page),
      (said) => said.some((words) => words.startsWith('This sign-in ends')),
    );
    return page;
  };

  test('comes by itself on a page that is open, and goes when the person acts', async () => {
    const page = await cross('first-visit');
    await page.evaluate(() => {
      const next = stage.api.script['POST emailchallenge'];
      next.status.expirationTimestamp = new Date(Date.now() + 3_540_000).toISOString();
    });
    await page.getByRole('textbox', { name: 'Email' }).fill('ada@example.test');
    await button(page, 'Continue with email').click();
    await heading(page, 'Check your email').waitFor();
    await warning(page).waitFor({ state: 'detached' });
    expect((await sent(page)).map(({ call }) => call)).toEqual(['POST emailchallenge']);
  });

  test('goes when the sign-in lasts longer by what another tab did', async () => {
    const page = await cross('code-sent');
    await page.evaluate(() => {
      const next = structuredClone(stage.api.script.GET);
      next.metadata.resourceVersion += '1';
      next.status.expirationTimestamp = new Date(Date.now() + 3_540_000).toISOString();
      stage.api.push(next);
    });
    await warning(page).waitFor({ state: 'detached' });
    await heading(page, 'Check your email').waitFor();
  });
});

describe('a passkey that is not accepted', () => {
  test('is explained where its manager changed how it keeps it, and else is not', async () => {
    const page = await gallery.visit('passkey-changed');
    const alert = page.getByRole('alert');
    await alert
      .getByText('Your passkey manager changed how it keeps this passkey.')
      .and(alert.getByText('Sign in with email, remove the passkey and add it again.'))
      .waitFor();
    const logins = (await sent(page)).filter(({ call }) => call === 'POST login');
    expect(logins.map(({ body }) => body?.spec?.method)).toEqual(['Passkey']);
    await button(page, 'Sign in with a passkey').click();
    await alert.getByText('This passkey was not accepted.').waitFor();
    expect(await alert.textContent()).not.toContain('changed how it keeps');
  });
});

describe('the app of a sign-in', () => {
  const mark = (page: Page) => page.locator('.party .monogram');

  test('has its logo where this origin serves it', async () => {
    const page = await gallery.visit('logo-own');
    const logo = mark(page).and(page.locator('img[alt=""]'));
    await logo.waitFor();
    const icon = await page.locator('link[rel=icon]').evaluate((one: HTMLLinkElement) => one.href);
    expect(await logo.getAttribute('src')).toBe(icon);
    const width = () => logo.evaluate((one: HTMLImageElement) => one.naturalWidth);
    expect(await settle(width, (pixels) => pixels > 0)).toBeGreaterThan(0);
  });

  test('has the first letter of its name where another origin serves it', async () => {
    const page = await gallery.visit('logo');
    await mark(page)
      .and(page.getByText('L', { exact: true }))
      .waitFor();
    expect(await page.locator('main img').count()).toBe(0);
  });
});
