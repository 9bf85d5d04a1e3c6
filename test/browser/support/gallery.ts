import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { scaled } from '../../support/patience.js';
import { startChromium } from './chromium.js';
import { GalleryServer } from './gallery-server.js';
import { watchLiveRegions } from './live-regions.js';

/** What one call to the scripted API was. */
export interface Call {
  call: string;
  body: { spec?: Record<string, unknown> } | undefined;
}

/**
 * What the gallery's page offers to tests; functions given to `page.evaluate` see it as a global.
 */
interface Driver {
  api: {
    calls: Call[];
    script: Record<string, any>;
    watching: number;
    delay: number;
    push(object?: object): void;
    emit(collection: string, object: object, type?: string): void;
    setResponse(call: string, answer: unknown): void;
    settled(): Promise<void>;
  };
}
declare global {
  var stage: Driver;
}

/** The built gallery under its policy, and a browser to look at it. */
export class Gallery {
  readonly #folder = mkdtempSync(join(tmpdir(), 'vestibule-gallery-'));
  readonly server = new GalleryServer(this.#folder);
  /** Complaints of the browser about the policy of the pages. */
  readonly complaints: string[] = [];
  #browser: Browser | undefined;
  #origin = '';

  /** Builds the gallery, serves it and starts a browser. */
  async open(): Promise<void> {
    const build = ['test/browser/gallery/build.mjs', this.#folder];
    await promisify(execFile)(process.execPath, build);
    this.#origin = await this.server.listen();
    this.#browser = await startChromium();
  }

  async close(): Promise<void> {
    await this.#browser?.close();
    await this.server.close();
    rmSync(this.#folder, { recursive: true });
  }

  /** A window with storage and cookies of its own. */
  async window(options: BrowserContextOptions = {}): Promise<BrowserContext> {
    const context = await this.#browser!.newContext({
      locale: 'en-GB',
      timezoneId: 'UTC',
      ...options,
    });
    await watchLiveRegions(context);
    context.on('console', (message) => {
      if (/Content Security Policy|Trusted|not announced/.test(message.text())) {
        this.complaints.push(message.text());
      }
    });
    context.on('weberror', (error) => {
      this.complaints.push(String(error.error()));
    });
    return context;
  }

  /**
   * Opens a scene and waits until its state is reached, once more where the browser itself stood
   * still; a name may carry a query or a fragment.
   */
  async show(page: Page, scene: string): Promise<Page> {
    for (let again = true; ; again = false) {
      await page.goto('about:blank');
      await page.goto(`${this.#origin}/gallery/${scene}`);
      const reached = await page
        .locator('html[data-scene]')
        .waitFor({ state: 'attached', timeout: scaled(30_000) })
        .then(
          () => true,
          () => false,
        );
      if (reached) return page;
      const { ours, ...found } = await page.evaluate(whatHolds);
      if (ours || !again) throw new Error(`${scene} is never reached: ${JSON.stringify(found)}`);
    }
  }

  /** Opens a scene in a window of its own. */
  async visit(scene: string, options: BrowserContextOptions = {}): Promise<Page> {
    return this.show(await (await this.window(options)).newPage(), scene);
  }

  /** The names of all scenes, as the gallery's first page lists them. */
  async scenes(): Promise<string[]> {
    const page = await (await this.window()).newPage();
    await page.goto(`${this.#origin}/gallery`);
    const names = await page.getByRole('link').allTextContents();
    await page.context().close();
    return names;
  }

  /** The address of a page of the gallery. */
  at(scene: string): string {
    return `${this.#origin}/gallery/${scene}`;
  }
}

/**
 * Why a scene is not reached: ours when the page's script runs and frames are drawn, else the
 * browser's, which loads or draws nothing.
 */
async function whatHolds(): Promise<{
  ours: boolean;
  script: boolean;
  frames: boolean;
  html: string;
}> {
  const script = (globalThis as { stage?: Driver }).stage !== undefined;
  const frames = await Promise.race([
    new Promise<boolean>((done) => {
      requestAnimationFrame(() => {
        done(true);
      });
    }),
    new Promise<boolean>((done) => {
      setTimeout(done, 5_000, false);
    }),
  ]);
  return { ours: script && frames, script, frames, html: document.body.innerHTML.slice(0, 1_000) };
}

/** Calls that change something, which the page has sent. */
export const sent = (page: Page): Promise<Call[]> =>
  page.evaluate(() => stage.api.calls.filter(({ call }) => !call.startsWith('GET')));

/** Reads until it matches, for what comes a moment after an act; gives the last thing read. */
export async function settle<T>(
  read: () => Promise<T>,
  matches: (value: T) => boolean,
): Promise<T> {
  const end = Date.now() + 30_000;
  let value = await read();
  while (!matches(value) && Date.now() < end) value = await read();
  return value;
}
