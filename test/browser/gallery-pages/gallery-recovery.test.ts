import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { Gallery, sent } from '../support/gallery.js';

const gallery = new Gallery();
beforeAll(() => gallery.open(), 120_000);
afterEach(() => {
  expect([...gallery.complaints.splice(0), ...gallery.server.reports]).toEqual([]);
});
afterAll(() => gallery.close());

const me = 'bcdfghjklmnpqrstvwxz';
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const heading = (page: Page, name: string, level = 2) =>
  page.getByRole('heading', { level, name, exact: true });

test('a recovery that begins elsewhere shows at once; one press stops it', async () => {
  const page = await gallery.visit('account');
  await button(page, 'I lost all my passkeys').waitFor();
  expect(await heading(page, 'Your passkeys will be removed').count()).toBe(0);
  const waiting = await page.evaluate(async (name) => {
    const object = {
      apiVersion: 'id.vestibule.org/v1beta1',
      kind: 'Recovery',
      metadata: {
        name: `${name}-r1`,
        uid: 'u',
        resourceVersion: '900',
        generation: 1,
        creationTimestamp: new Date().toISOString(),
      },
      spec: {},
      status: {
        account: name,
        phase: 'Waiting',
        startedBy: 'Person',
        startedFrom: 'Chrome on Windows',
        startedTimestamp: new Date().toISOString(),
        halfwayTimestamp: new Date(Date.now() + 86_400_000).toISOString(),
        readyTimestamp: new Date(Date.now() + 172_800_000).toISOString(),
      },
    };
    stage.api.setResponse(`DELETE recoveries/${name}-r1`, {
      ...object,
      metadata: { ...object.metadata, resourceVersion: '901' },
      status: { ...object.status, phase: 'Cancelled' },
    });
    stage.api.emit('recoveries', object, 'ADDED');
    return object.metadata.name;
  }, me);
  const notice = page.getByRole('region', { name: 'Your passkeys will be removed' });
  await notice.waitFor();
  expect(await notice.textContent()).toContain('Chrome on Windows');
  await page.getByText('Chrome on Windows').waitFor();
  expect(await button(page, 'I lost all my passkeys').count()).toBe(0);
  await button(page, 'Keep my passkeys').focus();
  await page.keyboard.press('Enter');
  await notice.waitFor({ state: 'detached' });
  expect((await sent(page)).map(({ call }) => call)).toContain(`DELETE recoveries/${waiting}`);
  await page
    .getByRole('status')
    .filter({ hasText: 'You keep your passkeys.' })
    .waitFor({ state: 'attached' });
});

test('a person who lost all passkeys reads what happens before it begins', async () => {
  const page = await gallery.visit('account-recovery-ask');
  await page.getByText('After a wait, we remove all your passkeys').waitFor();
  expect(
    (await sent(page)).filter(({ call }) => call.startsWith('POST accounts/~/recovery')),
  ).toEqual([]);
  await button(page, 'Cancel').click();
  await button(page, 'I lost all my passkeys').waitFor();
});

test('a passkey that does not count in full yet says from when it does', async () => {
  const page = await gallery.visit('account-passkey-weak');
  await page.getByText(/^Counts as a strong sign-in from/).waitFor();
});

test('the link of a mail stops it with one press', async () => {
  const page = await gallery.visit('recovery-stop');
  await heading(page, 'Keep your passkeys?', 1).waitFor();
  expect(page.url()).not.toContain('#');
  expect(await sent(page)).toEqual([]);
  await page.evaluate((name) => {
    stage.api.setResponse(`POST recoveries/${name}-r1/cancel`, { kind: 'Recovery' });
  }, me);
  await button(page, 'Keep my passkeys').click();
  await heading(page, 'You keep your passkeys', 1).waitFor();
  expect(await sent(page)).toEqual([
    { call: `POST recoveries/${me}-r1/cancel`, body: { spec: { token: 'a'.repeat(43) } } },
  ]);
});

test.each([
  ['recovery-over', 'There is nothing to stop'],
  ['recovery-bad', 'This link is not complete'],
])('%s: %s', async (scene, words) => {
  const page = await gallery.visit(scene);
  await heading(page, words, 1).waitFor();
  expect(await page.getByRole('link', { name: 'Open your account' }).getAttribute('href')).toBe(
    '/account',
  );
});
