import type { Locator } from 'playwright-core';
import type { Tab } from '../../support/people/tab.js';
import type { TestService } from '../../support/service.js';
import { Person } from './person.js';

/**
 * A person in a browser who holds the cookies of a tab, so that they are signed in where that is.
 */
export async function asPerson(
  service: TestService,
  tab: Tab,
  options: Parameters<typeof Person.arrive>[0] = {},
): Promise<Person> {
  const person = await Person.arrive(options);
  await person.context.addCookies(
    tab.cookies.map(({ name, value, path }) => ({
      name,
      value,
      path,
      domain: new URL(service.baseURL).hostname,
      httpOnly: true,
      sameSite: 'Lax' as const,
    })),
  );
  return person;
}

/** Presses Tab until what has the focus is called so. */
export async function reach({ page }: Person, name: string): Promise<void> {
  for (let i = 0; i < 400; i += 1) {
    const held = await page.evaluate(() => {
      const one = document.activeElement;
      return one?.matches('a, button, summary, select, input')
        ? [one.textContent, (one as HTMLInputElement).labels?.[0]?.textContent].join('|')
        : '';
    });
    if (held.includes(name)) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`${name} cannot be reached by Tab`);
}

/** Reaches a button by Tab, once it is there, and presses Enter. */
export async function go(person: Person, name: string): Promise<void> {
  await person.page
    .getByRole('button', { name: new RegExp(`^${name}`) })
    .first()
    .waitFor();
  await reach(person, name);
  await person.page.keyboard.press('Enter');
}

/** Waits until an element has the focus. */
export const focused = (one: Locator): Promise<void> =>
  one.and(one.page().locator(':focus')).waitFor();
