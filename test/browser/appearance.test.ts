import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Appearance, type AppearanceSpec } from '../../kinds/appearance/appearance.js';
import { palettesOf } from '../../kinds/appearance/palette.js';
import { png } from '../kinds/appearance/images.js';
import { settles } from '../support/patience.js';
import { startTest, stopAll, type TestService } from '../support/service.js';
import { closeBrowser, leaveAfterEach, Person } from './support/person.js';

const accentColor = '#0c6b62';
const full: AppearanceSpec = {
  displayName: 'Harbour',
  logo: png(48, 24).toString('base64'),
  accentColor,
  supportURI: 'https://harbour.test/help',
  privacyPolicyURI: 'https://harbour.test/privacy',
  termsOfServiceURI: 'https://harbour.test/terms',
};

/** A colour in the form in which browsers return it. */
const rgb = (color: string): string => {
  const number = Number.parseInt(color.slice(1), 16);
  return `rgb(${number >> 16}, ${(number >> 8) & 255}, ${number & 255})`;
};

describe('pages with an appearance', () => {
  let service: TestService;
  const people: Person[] = [];
  beforeAll(async () => {
    service = await startTest({ flags: ['--limit-factor', '1000'] });
  });
  leaveAfterEach(people);
  afterAll(async () => {
    await closeBrowser();
    await stopAll();
  });

  /** Sets the appearance, and waits until pages have it. */
  const set = async (spec: AppearanceSpec): Promise<void> => {
    await service.store.change(service.store.systemCall(), (tx) =>
      tx.update(Appearance, 'default', (next) => {
        next.spec = { ...spec };
      }),
    );
    await settles(
      async () => (await service.tab().navigate('/account').is(200)).bytes,
      (bytes) => bytes.includes('/assets/appearance-') === (spec.accentColor !== undefined),
    );
  };
  const visit = async (options: Parameters<typeof Person.arrive>[0]): Promise<Person> => {
    const person = await Person.arrive(options);
    people.push(person);
    await person.page.goto(`${service.baseURL}/account`);
    await person.at('LoginRequired');
    await person.page.getByRole('button', { name: 'Continue with email' }).waitFor();
    return person;
  };
  const colors = ({ page }: Person): Promise<Record<string, string>> =>
    page.evaluate(() => {
      const of = (selector: string) => getComputedStyle(document.querySelector(selector)!);
      return {
        button: of('.button.main').backgroundColor,
        text: of('.button.main').color,
        mark: of('.top > :first-child').borderTopColor,
        ground: of('html').backgroundColor,
      };
    });

  test('have its name, logo and links from the first view on', async () => {
    await set(full);
    const { page } = await visit({});
    await page.getByRole('banner').getByText('Harbour', { exact: true }).waitFor();
    expect(await page.title()).toMatch(/ – Harbour$/);
    const logo = page.getByRole('banner').locator('img');
    expect(await logo.evaluate((one: HTMLImageElement) => one.naturalWidth)).toBe(48);
    for (const [name, uri] of [
      ['Help', full.supportURI],
      ['Privacy policy', full.privacyPolicyURI],
      ['Terms', full.termsOfServiceURI],
    ]) {
      expect(
        await page
          .getByRole('contentinfo')
          .getByRole('link', { name: `${name} (opens in a new tab)` })
          .getAttribute('href'),
      ).toBe(uri);
    }
  });

  test('read it with one preloaded request, and load no more than that', async () => {
    await set(full);
    const person = await Person.arrive({});
    people.push(person);
    const asked: string[] = [];
    person.page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await person.page.goto(`${service.baseURL}/account`);
    await person.at('LoginRequired');
    await person.page.getByRole('banner').getByText('Harbour', { exact: true }).waitFor();
    const signIn = asked.slice(asked.findIndex((path) => path.startsWith('/interaction/')));
    expect(signIn.filter((path) => path.includes('appearances'))).toEqual([
      '/api/v1beta1/appearances/default',
    ]);
    expect(signIn.filter((path) => path.includes('/assets/appearance-'))).toHaveLength(1);
  });

  test.each(['light', 'dark'] as const)(
    'have its accent colour on %s pages, and every text is readable',
    async (colorScheme) => {
      await set(full);
      const person = await visit({ colorScheme });
      const palette = palettesOf(accentColor)[colorScheme];
      expect(await colors(person)).toMatchObject({
        button: rgb(palette.accent),
        text: rgb(palette['accent-ink']),
      });
      expect(await person.faults()).toEqual([]);
    },
  );

  test('have the system’s colours in forced colours', async () => {
    const forced = { forcedColors: 'active' } as const;
    await set({});
    const plain = await colors(await visit(forced));
    await set({ accentColor });
    const person = await visit(forced);
    expect(await colors(person)).toEqual(plain);
    expect(Object.values(plain)).not.toContain(rgb(accentColor));
    expect(await person.faults()).toEqual([]);
  });

  test('have its name beside the host, and an icon, also where a page is without scripts', async () => {
    await set(full);
    const { host } = new URL(service.baseURL);
    const person = await visit({});
    const { page } = person;
    const seen = async (): Promise<string[]> =>
      page.getByRole('banner').locator('bdi').allInnerTexts();
    const icon = async (): Promise<number> => {
      const path = await page.locator('link[rel=icon]').getAttribute('href');
      return (await page.request.get(new URL(path!, service.baseURL).href)).status();
    };
    expect([await seen(), await icon()]).toEqual([['Harbour', host], 200]);
    await page.goto(`${service.baseURL}/oauth2/auth?client_id=absent`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect([await seen(), await icon()]).toEqual([['Harbour', host], 200]);
    expect(await person.faults()).toEqual([]);
  });

  test('show the host and the mark without it', async () => {
    await set({});
    const { page } = await visit({});
    await page.getByRole('banner').getByText(new URL(service.baseURL).host).waitFor();
    expect(await page.getByRole('banner').locator('img').count()).toBe(0);
    expect(await page.getByRole('contentinfo').getByRole('link').count()).toBe(0);
  });
});
