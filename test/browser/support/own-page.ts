import { mailTo } from '../../support/people/signin.js';
import type { TestService } from '../../support/service.js';
import type { Person } from './person.js';

/**
 * Goes to the account page without a session, and so to the sign-in; types an address and its code.
 * Stands in setup afterwards, or on the page.
 */
export async function comeByEmail(
  service: TestService,
  person: Person,
  address: string,
): Promise<void> {
  const { page } = person;
  await page.goto(`${service.baseURL}/account`);
  await person.at('LoginRequired');
  await page.getByRole('textbox', { name: 'Email' }).fill(address);
  await page.getByRole('button', { name: 'Continue with email' }).click();
  await typeCode(service, person, address);
}

/** Types the newest code to an address, which the mailbox then forgets. */
export async function typeCode(
  service: TestService,
  { page }: Person,
  address: string,
): Promise<void> {
  const field = page.getByRole('textbox', { name: 'Code' });
  await field.waitFor();
  const { code } = await mailTo(service, address, [], (mail) => mail.code !== undefined);
  await service.tab().delete('mockmessages').is(200);
  await field.fill(code);
}

/** Registers a passkey in setup; stands on the account page afterwards. */
export async function join(service: TestService, person: Person, address: string): Promise<void> {
  await comeByEmail(service, person, address);
  await person.at('Authenticated');
  await person.page.getByRole('button', { name: 'Add a passkey', exact: true }).click();
  await says(person, 'Passkey added.');
  await person.page.getByRole('textbox', { name: 'Your name' }).fill('Ada Lovelace');
  await person.page.getByRole('button', { name: 'Continue', exact: true }).click();
  await person.at('account');
}

/** Waits until a part of the account page says so. */
export const says = ({ page }: Person, words: string | RegExp): Promise<void> =>
  page.getByText(words).first().waitFor();

/** Waits out the time for which buttons that take something away are deaf, then presses Confirm. */
export async function confirm({ page }: Person): Promise<void> {
  const button = page.getByRole('button', { name: 'Confirm', exact: true });
  await button.waitFor();
  await page.waitForTimeout(600);
  await button.click();
}
