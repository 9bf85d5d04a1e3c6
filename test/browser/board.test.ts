import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { mailTo } from '../support/people/signin.js';
import { stopAll } from '../support/service.js';
import { type Board, startBoard } from './support/board.js';
import { closeBrowser, Person } from './support/person.js';

let board: Board;
beforeAll(async () => {
  board = await startBoard();
});
afterAll(async () => {
  board?.stop();
  await closeBrowser();
  await stopAll();
});

test('groups and claims of another service are seen, chosen and withdrawn', async () => {
  const person = await Person.arrive();
  const { page } = person;
  await page.goto(board.url);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('textbox', { name: 'Email' }).fill('Ada@example.test');
  await page.getByRole('button', { name: 'Continue with email' }).click();
  await page
    .getByRole('textbox', { name: 'Code' })
    .fill((await mailTo(board.service, 'ada@example.test')).code);
  await person.at('Authenticated');
  await page.getByRole('button', { name: 'Not now' }).click();
  await person.at('ConsentRequired');
  const dues = page.getByRole('group', { name: 'Your dues' });
  expect(await dues.innerText()).toMatch(/Sensitive[^]*From The Clubhouse[^]*All paid[^]*(Yes|No)/);
  expect(await page.getByRole('group', { name: 'Your groups' }).innerText()).toMatch(
    /From Vestibule[^]*editors, operators/,
  );
  const address = page.getByRole('group', { name: 'Your email address' });
  expect(await address.innerText()).toMatch(
    /Not possible[^]*The board is run by others: it does not get your address\./,
  );
  expect(await address.getByRole('checkbox').isDisabled()).toBe(true);
  expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(1);
  expect(await person.faults()).toEqual([]);
  for (const name of ['Your groups', 'Your membership']) {
    await page.getByRole('checkbox', { name }).check();
  }
  await page.waitForTimeout(600);
  await page.getByRole('button', { name: 'Allow' }).click();
  await page.getByRole('button', { name: 'Change what you share' }).waitFor();
  const shown = await page.getByRole('main').innerText();
  expect(shown).toMatch(
    /Editors meet on Thursday[^]*editors\noperators[^]*openid groups membership[^]*member_since\s+20\d\d/,
  );
  expect(shown).not.toContain('dues_paid');
  await page.getByRole('button', { name: 'Change what you share' }).click();
  await person.at('ConsentRequired');
  await page.waitForTimeout(600);
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByRole('alert').filter({ hasText: 'access_denied' }).waitFor();
  expect(person.complaints).toEqual([]);
  await person.leave();
});
