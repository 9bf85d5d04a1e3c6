import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';
import { timed } from '../../support/timed.js';

/** Chromium without its own windows: a new page takes a fifth of the processor time. */
const shell = '/usr/bin/chromium-headless-shell';

/** Starts the machine's Chromium, or the one that CHROMIUM names. */
export const startChromium = (): Promise<Browser> =>
  timed('browser', () =>
    chromium.launch({
      executablePath: process.env.CHROMIUM ?? (existsSync(shell) ? shell : '/usr/bin/chromium'),
      args: [
        '--no-sandbox',
        '--disable-quic',
        '--disable-background-networking',
        '--no-first-run',
        // One for each window: a new one for each page takes half as much processor time again.
        '--renderer-process-limit=1',
      ],
    }),
  );
