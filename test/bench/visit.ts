import type { Cookie } from './browser.js';
import type { Chromium } from './chromium.js';
import { record, scriptTime } from './measure/trace.js';

/** What one cold visit of a page came to. */
export interface Visit {
  /**
   * Requests begun before the field stood in the document: any of these may have held it up, the
   * document's own included.
   */
  readonly requests: number;
  /**
   * Bytes of these requests' answers as they travelled, without headers: compressed where the
   * server does that.
   */
  readonly bytes: number;
  /**
   * From the start of the navigation until the frame that shows the field is drawn, in
   * milliseconds.
   */
  readonly ready: number;
  /**
   * Script on the main thread until then, in milliseconds of that thread's own time: other people's
   * work on the machine is not in it.
   */
  readonly script: number;
}

/** A line and a processor worse than ours. */
export interface Conditions {
  readonly roundTrip: number;
  readonly slower: number;
}

/** One page, spoken to. */
type Tab = (method: string, params?: object) => Promise<any>;

/**
 * All that is put into the page: one observer that looks for the field after each change of the
 * document and is then gone. The time is taken in the first task after the next frame, when the
 * field is styled, laid out and drawn and the thread is free for a key.
 */
const observer = (selector: string): string => `globalThis.seen = new Promise((seen, never) => {
  setTimeout(() => never(new Error('no field in 30 s')), 30_000);
  const look = new MutationObserver(() => {
    if (!document.querySelector(${JSON.stringify(selector)})) return;
    look.disconnect();
    const stood = performance.now();
    requestAnimationFrame(() => { const { port1, port2 } = new MessageChannel(); port1.onmessage = () => seen([stood, performance.now()]); port2.postMessage(0) });
  });
  look.observe(document, { childList: true, subtree: true });
})`;

/** A request: when it began, in seconds of the browser's clock, and what came of it. */
interface Asked {
  readonly began: number;
  head: number;
  bytes: number;
}

/** Notes what the page asks for and what comes of it. */
function note(browser: Chromium, session: string): Map<string, Asked> {
  const asked = new Map<string, Asked>();
  browser.on(session, 'Network.requestWillBeSent', ({ requestId, timestamp }) => {
    asked.set(requestId, { began: timestamp, head: 0, bytes: 0 });
  });
  browser.on(session, 'Network.responseReceived', ({ requestId, response }) => {
    asked.get(requestId)!.head = response.encodedDataLength;
  });
  browser.on(session, 'Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    const one = asked.get(requestId)!;
    one.bytes = encodedDataLength - one.head;
  });
  return asked;
}

async function evaluate(tab: Tab, expression: string): Promise<unknown> {
  const { result, exceptionDetails } = await tab('Runtime.evaluate', {
    expression,
    awaitPromise: true,
    returnByValue: true,
  });
  if (exceptionDetails) {
    throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  }
  return result.value;
}

/** That the field is one to type into: seen, and a letter typed stands in it. */
async function type(tab: Tab, selector: string): Promise<void> {
  const field = `document.querySelector(${JSON.stringify(selector)})`;
  await evaluate(tab, `${field}.checkVisibility() && ${field}.focus()`);
  await tab('Input.insertText', { text: 'a' });
  const value = await evaluate(tab, `${field}.value`);
  if (value !== 'a') throw new Error(`a letter was typed, the field has “${String(value)}”`);
}

/** Puts the line and the processor in place. */
async function prepare(
  tab: Tab,
  cookies: readonly (Cookie & { url: string })[],
  selector: string,
  { roundTrip, slower }: Conditions,
): Promise<void> {
  for (const domain of ['Network', 'Page']) await tab(`${domain}.enable`);
  await tab('Network.setCookies', { cookies });
  await tab('Network.emulateNetworkConditions', {
    offline: false,
    latency: roundTrip,
    downloadThroughput: -1,
    uploadThroughput: -1,
  });
  await tab('Emulation.setCPUThrottlingRate', { rate: slower });
  await tab('Page.addScriptToEvaluateOnNewDocument', { source: observer(selector) });
}

async function look(
  browser: Chromium,
  session: string,
  tab: Tab,
  address: string,
  selector: string,
): Promise<Visit> {
  const asked = note(browser, session);
  const stop = await record(browser);
  const committed = new Promise((resolve) => {
    browser.on(session, 'Page.frameNavigated', resolve);
  });
  await tab('Page.navigate', { url: address });
  await committed;
  const [stood, ready] = (await evaluate(tab, 'seen')) as [number, number];
  await type(tab, selector);
  const script = scriptTime(await stop(), address, ready);
  const [first] = asked.values();
  const before = [...asked.values()].filter(({ began }) => began < first!.began + stood / 1000);
  return {
    requests: before.length,
    bytes: before.reduce((sum, { bytes }) => sum + bytes, 0),
    ready,
    script,
  };
}

/**
 * Opens an address in a window that has seen nothing but these cookies: an empty cache, new
 * connections, a process of its own.
 */
export async function visit(
  browser: Chromium,
  address: string,
  cookies: readonly Cookie[],
  selector: string,
  conditions: Conditions,
): Promise<Visit> {
  const { browserContextId } = await browser.send('Target.createBrowserContext');
  try {
    const { targetId } = await browser.send('Target.createTarget', {
      url: 'about:blank',
      browserContextId,
    });
    const { sessionId } = await browser.send('Target.attachToTarget', { targetId, flatten: true });
    const tab: Tab = (method, params) => browser.send(method, params, sessionId);
    await browser.calm();
    await prepare(
      tab,
      cookies.map((cookie) => ({ ...cookie, url: address })),
      selector,
      conditions,
    );
    return await look(browser, sessionId, tab, address, selector);
  } finally {
    await browser.send('Target.disposeBrowserContext', { browserContextId });
  }
}
