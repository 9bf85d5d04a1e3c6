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
const watching = (page: Page, count: number) =>
  settle<number>(
    () => page.evaluate(() => stage.api.watching),
    (open) => open === count,
  );
const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent);

describe('the policy', () => {
  test.each(['policy-offline', 'policy-down'])('%s: trying again helps', async (scene) => {
    const page = await gallery.visit(scene);
    expect(await page.locator('main').getAttribute('data-phase')).toBe('error');
    await button(page, 'Try again').click();
    await heading(page, 'Current policy').waitFor();
  });

  test('without a network it stays as it was, and is read again on return', async () => {
    const page = await gallery.visit('policy-several');
    expect(await watching(page, 1)).toBe(1);
    await page.evaluate(() => {
      stage.api.script.kept = stage.api.script['GET policies'];
      stage.api.setResponse('GET policies', 'offline');
      stage.api.emit('policies', {}, 'ERROR');
    });
    await page.getByRole('alert').getByText('We cannot reach the service.').first().waitFor();
    await heading(page, 'Current policy').waitFor();
    await page.evaluate(() => {
      stage.api.setResponse('GET policies', stage.api.script.kept);
      window.dispatchEvent(new Event('focus'));
    });
    expect(
      await settle(
        () => page.getByRole('alert').textContent(),
        (words) => words === '',
      ),
    ).toBe('');
  });

  test('a new one is announced, shown and linked', async () => {
    const here = await gallery.visit('policy-arrived');
    await here.getByText('You now see the new policy.').first().waitFor();
    await here.getByRole('status').getByText('You now see the new policy.').waitFor();
    await here.getByRole('heading', { name: 'Groups stay here' }).waitFor();
    const elsewhere = await gallery.visit('policy-arrived-elsewhere');
    await heading(elsewhere, 'Earlier policy p-1').waitFor();
    await elsewhere
      .getByText('p-2 came into force while this page was open.')
      .getByRole('link', { name: 'p-2' })
      .click();
    await heading(elsewhere, 'Current policy').waitFor();
  });

  test('a link to a rule, or to a line, leads there, and again when it is followed again', async () => {
    const rule = await gallery.visit('policy-rule');
    expect(
      await settle(
        () => focused(rule),
        (at) => at?.includes('Lantern emails') === true,
      ),
    ).toContain('Lantern emails');
    const page = await gallery.visit('policy-line');
    expect(
      await settle(
        () => focused(page),
        (at) => at === 'permit (principal, action == Action::"create", resource is Policy)',
      ),
    ).toBe('permit (principal, action == Action::"create", resource is Policy)');
    for (let turn = 0; turn < 2; turn += 1) {
      await page.getByRole('link', { name: 'Policy text', exact: true }).click();
      expect(
        await settle(
          () => focused(page),
          (at) => at === 'Policy text',
        ),
      ).toBe('Policy text');
      await page.getByRole('heading', { level: 1 }).focus();
    }
  });

  test('in trial it is linked from the one in force, and compared with it', async () => {
    const page = await gallery.visit('policy-in-trial');
    await heading(page, 'Current policy').waitFor();
    await page.getByText('s-1 is in trial.').getByRole('link', { name: 's-1' }).click();
    await heading(page, 'Policy s-1 in trial').waitFor();
    await page.getByText('These rules decide nothing.').waitFor();
    await page.getByRole('link', { name: 'What changed with s-1' }).click();
    await page
      .getByText(/lines? removed\./)
      .first()
      .waitFor();
    expect(new URL(page.url()).hash).toBe('#compare=p-3..s-1');
    const over = await gallery.visit('policy-trial-over');
    await over.getByText('Was in trial').waitFor();
  });

  test('one that never was', async () => {
    const page = await gallery.visit('policy-absent');
    await heading(page, 'There is no policy p-9').waitFor();
    await page.getByRole('link', { name: 'Current policy' }).click();
    await heading(page, 'Current policy').waitFor();
  });

  test('the history shows from when to when, by whom and what for', async () => {
    const page = await gallery.visit('policy-history');
    const items = page.getByRole('list', { name: 'Earlier policies' }).getByRole('heading');
    expect(await items.allTextContents()).toEqual(['p-2', 'p-1']);
    await page.getByText('Groups are for our own services.').waitFor();
    expect(await page.locator('.facts dd').nth(2).textContent()).toBe('You');
  });

  test('what is unchanged is folded until it is asked for', async () => {
    const page = await gallery.visit('policy-comparison');
    await page.getByText('6 lines added, 1 line removed.').first().waitFor();
    await button(page, 'Show 6 unchanged lines').click();
    expect(
      await settle(
        () => page.evaluate(() => document.activeElement?.getAttribute('aria-label')),
        (label) => label === '6 unchanged lines',
      ),
    ).toBe('6 unchanged lines');
    await page.getByRole('combobox', { name: 'Before' }).focus();
    await page.getByRole('combobox', { name: 'Before' }).selectOption('p-1');
    await page.getByText('11 lines added, 1 line removed.').first().waitFor();
    expect(new URL(page.url()).hash).toBe('#compare=p-1..p-3');
    expect(
      await settle(
        () => page.getByRole('status').textContent(),
        (text) => text === '11 lines added, 1 line removed.',
      ),
    ).toBe('11 lines added, 1 line removed.');
    expect(await page.evaluate(() => document.activeElement?.id)).toBe('compare-before');
  });
});

describe('decisions', () => {
  test('say what, whether, when and by which rule, in words', async () => {
    const page = await gallery.visit('decisions');
    const first = page.getByRole('list', { name: 'Decisions' }).getByRole('listitem').first();
    for (const words of [
      'Share with Lantern Notes: Email address',
      'Refused',
      'Lantern Notes does not need your address any more.',
      'Rule Lantern emails, policy p-3',
    ]) {
      await first.getByText(words).first().waitFor();
    }
    await first.getByText(/^3 times, first .+, last .+$/).waitFor();
    expect(
      await first
        .getByRole('link')
        .evaluateAll((links) => links.map((link) => link.getAttribute('href'))),
    ).toEqual(['/policy#p-3=&rule=lantern-emails', '/policy#p-3']);
    await page.getByText('No rule permits this. Policy p-3').waitFor();
  });

  test('come by themselves and move to the top when they happen again', async () => {
    const page = await gallery.visit('decisions');
    expect(await watching(page, 2)).toBe(2);
    await page.evaluate(() => {
      const again = structuredClone(stage.api.script['GET policydecisions'].items[3]);
      again.metadata.resourceVersion = '801';
      Object.assign(again.status, { count: 2, lastTimestamp: '2030-01-01T00:00:00Z' });
      stage.api.emit('policydecisions', again);
    });
    const words = page.getByRole('list', { name: 'Decisions' }).locator('.strong');
    expect(
      await settle(
        async () => (await words.allTextContents())[0],
        (top) => top === 'changing: accounts',
      ),
    ).toBe('changing: accounts');
    expect(await words.count()).toBe(6);
    expect(
      await page.evaluate(
        () => stage.api.calls.filter(({ call }) => call === 'GET policydecisions').length,
      ),
    ).toBe(1);
  });

  test('more are shown when asked for, and the keyboard goes on where they begin', async () => {
    const page = await gallery.visit('decisions-many');
    const rows = page.getByRole('list', { name: 'Decisions' }).getByRole('listitem');
    await page.getByText('20 of 47 decisions, newest first.').waitFor();
    await button(page, 'Show more').click();
    await page.getByText('40 of 47 decisions, newest first.').waitFor();
    expect(
      await settle(
        () => rows.nth(20).evaluate((row) => row.contains(document.activeElement)),
        Boolean,
      ),
    ).toBe(true);
    await button(page, 'Show more').click();
    await page.getByText('47 decisions, newest first.').waitFor();
    expect(await button(page, 'Show more').count()).toBe(0);
  });

  test('those that let a page read are folded away; refused reads are not', async () => {
    const page = await gallery.visit('decisions');
    const shown = page.getByRole('list', { name: 'Decisions' });
    await shown.getByText('reading: apps').waitFor();
    expect(await shown.getByText('reading: accounts').count()).toBe(0);
    await page.getByText('1 decision to let a page read', { exact: true }).click();
    const folded = page.getByRole('list', { name: '1 decision to let a page read' });
    await folded.getByText('reading: accounts').waitFor();
    expect(await folded.getByRole('listitem').count()).toBe(1);
  });

  test('by one rule, those that let a page read are shown with the others', async () => {
    const page = await gallery.visit('decisions-rule');
    await page.getByRole('list', { name: 'Decisions' }).waitFor();
    expect(await page.getByText(/to let a page read/).count()).toBe(0);
  });

  test('pages of the API are read to the end', async () => {
    const page = await gallery.visit('decisions-many');
    expect(await watching(page, 2)).toBe(2);
    await page.evaluate(() => {
      const all = stage.api.script['GET policydecisions'];
      const part = (items: object[], more?: string) => ({
        ...all,
        items,
        metadata: { resourceVersion: '900', continue: more },
      });
      stage.api.setResponse('GET policydecisions', [
        part(all.items.slice(0, 30), 'next'),
        part(all.items.slice(30, 46)),
      ]);
      stage.api.emit('policydecisions', {}, 'ERROR');
    });
    await page.getByText('20 of 46 decisions, newest first.').waitFor();
  });

  test.each([
    ['decisions-none', 'There are no decisions about you yet.'],
    ['decisions-none-rule', 'This rule has not decided anything about you.'],
    ['decisions-visitor', 'You are not signed in.'],
  ])('%s: %s', async (scene, words) => {
    await (await gallery.visit(scene)).getByText(words).waitFor();
  });

  test('out of reach: trying again helps', async () => {
    const page = await gallery.visit('decisions-offline');
    await page.getByText('We cannot reach the service.').first().waitFor();
    await button(page, 'Try again').click();
    await page.getByText('6 decisions, newest first.').waitFor();
  });
});
