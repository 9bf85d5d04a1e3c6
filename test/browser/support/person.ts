import { afterEach, expect } from '@jest/globals';
import axe from 'axe-core';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { scaled } from '../../support/patience.js';
import { seen } from '../../support/secrets.js';
import { startChromium } from './chromium.js';
import { watchLiveRegions } from './live-regions.js';

let browser: Browser | undefined;

/** A person in a browser of their own; complaints of the page are kept. */
export class Person {
  readonly context: BrowserContext;
  readonly page: Page;
  readonly complaints: string[] = [];

  private constructor(context: BrowserContext, page: Page) {
    this.context = context;
    this.page = page;
    this.#listen(page);
  }

  static async arrive(options: Parameters<Browser['newContext']>[0] = {}): Promise<Person> {
    browser ??= await startChromium();
    const context = await browser.newContext(options);
    context.setDefaultTimeout(scaled(15_000));
    await watchLiveRegions(context);
    // A page may be gone before its headers are asked for.
    context.on(
      'response',
      (response) =>
        void response.headerValues('set-cookie').then(
          (lines) => seen.note({ headers: { 'set-cookie': lines }, body: undefined }),
          () => {},
        ),
    );
    return new Person(context, await context.newPage());
  }

  /** Another tab of the same browser. */
  async tab(): Promise<Page> {
    const page = await this.context.newPage();
    this.#listen(page);
    return page;
  }

  /** Waits until the view of a phase is ready for input. */
  async at(phase: string, page: Page = this.page): Promise<void> {
    await page.waitForFunction(
      (wanted) => (globalThis as any).document.querySelector('main')?.dataset.phase === wanted,
      phase,
    );
  }

  /** What axe finds wrong on the page as it stands. */
  async faults(page: Page = this.page): Promise<string[]> {
    const session = await this.context.newCDPSession(page);
    await session.send('Runtime.evaluate', { expression: axe.source });
    const { result } = await session.send('Runtime.evaluate', {
      expression: `axe.run().then((found) => JSON.stringify(found.violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' '))))`,
      awaitPromise: true,
      returnByValue: true,
    });
    await session.detach();
    return JSON.parse(String(result.value)) as string[];
  }

  leave(): Promise<void> {
    return this.context.close();
  }

  #listen(page: Page): void {
    page.on('console', (message) => {
      if (message.type() === 'error' && !/Failed to load resource/.test(message.text())) {
        this.complaints.push(message.text());
      }
    });
    page.on('pageerror', (error) => this.complaints.push(error.message));
  }
}

/** Closes the browser that all persons of this file share. */
export async function closeBrowser(): Promise<void> {
  await browser?.close();
  browser = undefined;
}

/** After each test these people leave; a page of theirs that complained fails it. */
export function leaveAfterEach(people: Person[]): void {
  afterEach(async () => {
    const all = people.splice(0);
    expect(all.flatMap(({ complaints }) => complaints)).toEqual([]);
    await Promise.all(all.map((one) => one.leave()));
  });
}
