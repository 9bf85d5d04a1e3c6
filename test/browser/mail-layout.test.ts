import { readFileSync } from 'node:fs';
import { afterAll, expect, test } from '@jest/globals';
import { type MailOrder, writeMessage } from '../../mail/messages.js';
import { closeBrowser, leaveAfterEach, Person } from './support/person.js';

const people: Person[] = [];
leaveAfterEach(people);
afterAll(closeBrowser);

const tokens = readFileSync('ui/style/tokens.css', 'utf8').split('prefers-color-scheme: dark');

/** The value of a property of tokens.css, as browsers report it. */
function token(scheme: 'light' | 'dark', name: string): string {
  const [, value = ''] = new RegExp(`--${name}: #([0-9a-f]+);`).exec(
    tokens[scheme === 'light' ? 0 : 1]!,
  )!;
  const digits = value.length === 3 ? value.replace(/./g, '$&$&') : value;
  const channels = digits.match(/../g)!.map((channel) => Number.parseInt(channel, 16));
  return `rgb(${channels.join(', ')})`;
}

const order = (language: string): MailOrder => ({
  to: 'ada@example.test',
  languages: [language],
  newBrowser: {
    host: 'id.example.test',
    now: Date.UTC(2026, 10, 25),
    browser: 'Firefox on Linux',
    account: 'https://id.example.test/account',
  },
});

test.each([
  ['light', 'en'],
  ['dark', 'en'],
  ['light', 'ar'],
  ['dark', 'ar'],
] as const)(
  'a mail has a heading and the colours of the pages: %s, %s',
  async (scheme, language) => {
    const { subject, html } = writeMessage(order(language), { displayName: 'Example' });
    expect(subject).toContain('Example');
    const person = await Person.arrive({
      colorScheme: scheme,
      viewport: { width: 360, height: 800 },
    });
    people.push(person);
    const { page } = person;
    await page.setContent(html);
    const heading = page.getByRole('heading', { level: 1 });
    expect(await heading.innerText()).toBe(subject);
    const style = (selector: string, property: string): Promise<string> =>
      page
        .locator(selector)
        .first()
        .evaluate(
          (element, name) => (globalThis as any).getComputedStyle(element).getPropertyValue(name),
          property,
        );
    expect(await style('body', 'background-color')).toBe(token(scheme, 'ground'));
    expect(await style('.card', 'background-color')).toBe(token(scheme, 'card'));
    expect(await style('h1', 'color')).toBe(token(scheme, 'ink'));
    expect(await style('.soft', 'color')).toBe(token(scheme, 'soft'));
    expect(await style('a', 'background-color')).toBe(token('light', 'accent'));
    expect(await person.faults()).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360);
  },
);
