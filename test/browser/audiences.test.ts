import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Gallery, sent, settle } from './support/gallery.js';

const gallery = new Gallery();
beforeAll(() => gallery.open(), 120_000);
afterAll(() => gallery.close());

describe('the scopes of an Audience', () => {
  test('stand under its name with who runs it, and are sent by their ids', async () => {
    const page = await gallery.visit('consent-audiences');
    expect(await page.getByRole('heading', { level: 2 }).allTextContents()).toEqual([
      'Billing',
      'Calendar',
    ]);
    expect(await page.getByText('From Example Accounting Ltd.').count()).toBe(2);
    await page.evaluate(() => {
      stage.api.script['POST consent'] = 'never';
    });
    await page.getByText('Calendar: write', { exact: true }).click();
    await page.getByRole('button', { name: 'Allow', exact: true }).dblclick();
    expect(await sent(page)).toEqual([
      { call: 'POST consent', body: { spec: { scopes: ['openid', 'calendar/write'] } } },
    ]);
  });

  test('are taken back on the account page without the rest of the grant', async () => {
    const page = await gallery.visit('account');
    const row = page.getByRole('group', { name: 'Board', exact: true });
    await row.getByText('Example Accounting Ltd.').waitFor();
    await row.getByRole('checkbox', { name: 'Read invoices', exact: true }).uncheck();
    const confirm = page.getByRole('button', { name: 'Confirm', exact: true });
    const calls = await settle(
      async () => {
        if (await confirm.isVisible()) await confirm.click();
        return sent(page);
      },
      (seen) => seen.length > 0,
    );
    expect(calls).toContainEqual(
      expect.objectContaining({
        call: expect.stringMatching(/^PATCH grants\/\w+-board$/),
        body: { spec: { scopes: ['openid'], audiences: [] } },
      }),
    );
  });
});
