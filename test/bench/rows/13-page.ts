import { existsSync } from 'node:fs';
import { chromium, type Browser, type CDPSession } from 'playwright-core';
import { gzipSync } from 'node:zlib';
import { authorization } from '../flow.js';
import { Skip, type Metric, type Row, type Sample } from '../row.js';
import { startVestibule } from '../sides/vestibule.js';

const roundTrip = 150;
const slower = 4;
const paths = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const ready = `(() => { const look = () => { const field = document.querySelector('input[type=email]'); if (field && !field.disabled && field.offsetParent) { globalThis.ready ??= performance.now() } else requestAnimationFrame(look) }; look() })()`;

/** Opens the sign-in page in a browser that has seen nothing, as after the redirect from a Client. */
async function open(browser: Browser, origin: string): Promise<Sample> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  const began = await context.request.get(origin + authorization('/oauth2/auth', {}).target, { maxRedirects: 0 });
  const interaction = await context.request.get(origin + began.headers().location!, { maxRedirects: 0, headers: { 'Sec-Fetch-Site': 'none', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' } });
  await throttle(cdp);
  let [requests, gz] = [0, 0];
  const bodies: Promise<void>[] = [];
  page.on('response', (response) => {
    requests += 1;
    bodies.push(response.body().then((body) => { gz += gzipSync(body, { level: 9 }).length }, () => {}));
  });
  await page.addInitScript(ready);
  await page.goto(origin + interaction.headers().location!);
  await page.waitForSelector('input[type=email]', { state: 'visible' });
  const took = await page.evaluate(() => (globalThis as unknown as { ready: number }).ready);
  const script = await scriptTime(cdp);
  await Promise.all(bodies);
  await context.close();
  return { operations: 1, seconds: took / 1000, cpuMicros: 0, p50: took / 1000, p99: took / 1000, rss: 0, values: { gz: gz / 1000, requests, took, script } };
}

async function throttle(cdp: CDPSession): Promise<void> {
  await cdp.send('Network.enable');
  await cdp.send('Performance.enable');
  await cdp.send('Network.emulateNetworkConditions', { offline: false, latency: roundTrip, downloadThroughput: -1, uploadThroughput: -1 });
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: slower });
}

async function scriptTime(cdp: CDPSession): Promise<number> {
  const { metrics } = await cdp.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'ScriptDuration')!.value * 1000;
}

const of = (name: string): Pick<Metric, 'of' | 'is' | 'ours'> => ({ of: ({ values }) => values![name]!, is: '≤', ours: 'vestibule' });

/** The sign-in page, cold, on a slow line and a slow processor, against a fixed budget. */
export const page: Row = {
  metrics: [
    { ...of('gz'), id: '13a', workload: 'sign-in page, gz', unit: 'kB', gate: 20, stretch: 12 },
    { ...of('requests'), id: '13b', workload: 'sign-in page, requests', unit: '', gate: 4, stretch: 2 },
    { ...of('took'), id: '13c', workload: 'sign-in page, ready to type', unit: 'ms', gate: 1000, stretch: 450 },
    { ...of('script'), id: '13d', workload: 'sign-in page, script', unit: 'ms', gate: 60, stretch: 30 },
  ],
  async open(bench) {
    const executablePath = paths.find((path) => path && existsSync(path));
    if (!executablePath) throw new Skip('Chromium is not installed');
    const server = await startVestibule(bench, bench.newFolder('page'));
    const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-quic', '--disable-background-networking', '--no-first-run'] });
    const origin = `http://localhost:${server.port}`;
    await open(browser, origin);
    return [{ name: 'vestibule', sample: () => open(browser, origin), async stop() { await browser.close(); await server.stop() } }];
  },
};
