import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { Gallery, settle } from '../support/gallery.js';

const gallery = new Gallery();
beforeAll(() => gallery.open(), 120_000);
afterEach(() => {
  expect([...gallery.complaints.splice(0), ...gallery.server.reports]).toEqual([]);
});
afterAll(() => gallery.close());

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const heading = (page: Page, name: string) =>
  page.getByRole('heading', { level: 1, name, exact: true });
const left = (page: Page) => page.waitForURL(gallery.at('left'));

describe('a sign-in in another tab', () => {
  /** Notifies the tab that another one has signed in, once it listens. */
  const tell = async (page: Page): Promise<void> => {
    await page.evaluate(() => {
      const channel = new BroadcastChannel('sign-ins');
      const timer = setInterval(() => channel.postMessage('signed in'), 100);
      addEventListener('pagehide', () => clearInterval(timer));
    });
    await heading(page, 'Continue as ada@example.test?').waitFor();
  };

  test('is gone on with by itself where nothing was typed', async () => {
    const page = await gallery.visit('signed-in-elsewhere');
    await tell(page);
    await left(page);
  });

  test.each(['Continue', 'Use another address'])(
    'waits for %s where something was',
    async (name) => {
      const page = await gallery.visit('signed-in-elsewhere');
      await page.getByRole('textbox', { name: 'Email' }).fill('grace@example.test');
      await tell(page);
      expect(await page.getByText('Going on…').count()).toBe(0);
      await button(page, name).click();
      if (name === 'Continue') {
        await left(page);
      } else {
        await page.getByRole('textbox', { name: 'Email' }).waitFor();
      }
    },
  );

  test('is noticed by a tab that is looked at again, which also counts as its use', async () => {
    const page = await gallery.visit('signed-in-elsewhere');
    await settle(
      async () => {
        await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
        return page.getByText('You signed in in another tab.').count();
      },
      (count) => count > 0,
    );
    await left(page);
  });

  test.each(['select-account', 'restored'])(
    'is asked about before anything else is drawn: %s',
    async (scene) => {
      const page = await (await gallery.window()).newPage();
      await page.addInitScript(() => {
        const headings = new Set<string>();
        new MutationObserver(() => {
          const heading = document.querySelector('main h1:not(.waiting)');
          if (heading) headings.add(heading.textContent!);
        }).observe(document, { subtree: true, childList: true });
        Object.assign(globalThis, { headings });
      });
      await gallery.show(page, `${scene}?delay=200`);
      await heading(page, 'Continue as ada@example.test?').waitFor();
      expect(await page.evaluate('[...headings]')).toEqual(['Continue as ada@example.test?']);
      await button(page, 'Use another address').click();
      await page.getByRole('textbox', { name: 'Email' }).waitFor();
    },
  );

  /** Comes back to the tab until it has read the sign-in three times. */
  const comeBack = async (page: Page): Promise<void> => {
    const reads = () =>
      page.evaluate(() => stage.api.calls.filter(({ call }) => call === 'GET').length);
    const before = await reads();
    await settle(
      async () => {
        await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
        return reads();
      },
      (count) => count > before + 2,
    );
  };

  test.each([
    ['the app asked for more', 'first-visit', 'Sign in to Lantern Notes'],
    ['another account was chosen', 'select-account-other', 'Check your email'],
  ])('is not offered where %s', async (_, scene, words) => {
    const page = await gallery.visit(scene);
    await comeBack(page);
    await heading(page, words).waitFor();
  });

  test('is not offered again to who chose another address', async () => {
    const page = await gallery.visit('select-account');
    await button(page, 'Use another address').click();
    await page.getByRole('textbox', { name: 'Email' }).press('a');
    await comeBack(page);
    await page.evaluate(() => stage.api.settled());
    expect(await page.getByRole('textbox', { name: 'Email' }).inputValue()).toBe('a');
  });
});

describe('what is seen in between', () => {
  test('the values of a consent stand in one column', async () => {
    const page = await gallery.visit('consent');
    const columns = await page.evaluate(() =>
      [...document.querySelectorAll('dl.values')].map(
        (list) =>
          new Set([...list.querySelectorAll('dd')].map((dd) => dd.getBoundingClientRect().left))
            .size,
      ),
    );
    // One list for each scope that has values to show.
    expect(columns).toEqual([1, 1, 1, 1]);
  });
});
