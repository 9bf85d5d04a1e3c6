import { type Browser, chromium } from 'playwright-core';
import { timed } from '../../support/timed.js';

/** Starts the machine's Chromium, or the one that CHROMIUM names. */
export const startChromium = (): Promise<Browser> =>
  timed('browser', () =>
    chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--disable-quic', '--disable-background-networking', '--no-first-run'],
    }),
  );
