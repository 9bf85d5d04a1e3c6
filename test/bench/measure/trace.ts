import type { Chromium } from '../chromium.js';

/** An event of Chromium's tracing; with times in microseconds, of the clock and of the thread. */
interface Event {
  readonly name: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args: any;
}

const script = /^(EvaluateScript|FunctionCall|RunMicrotasks|v8\.|V8\.|MinorGC|MajorGC)/;
const drawing =
  /^(UpdateLayoutTree|Layout|ParseHTML|ParseAuthorStyleSheet|PrePaint|Paint|Layerize|Commit)$/;

/** Starts to record what the threads of all pages do. */
export async function record(browser: Chromium): Promise<() => Promise<Event[]>> {
  const events: Event[] = [];
  browser.on('', 'Tracing.dataCollected', ({ value }) => {
    events.push(...value);
  });
  await browser.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: {
      includedCategories: ['devtools.timeline', 'blink.user_timing', 'v8', 'v8.execute'],
    },
  });
  return async () => {
    const complete = new Promise((resolve) => {
      browser.on('', 'Tracing.tracingComplete', resolve);
    });
    await browser.send('Tracing.end');
    await complete;
    return events;
  };
}

/**
 * Milliseconds of the main thread's own time spent in script until so many after the navigation to
 * `address` began: compiling, running and collecting, microtasks included; style and layout that it
 * forces are not.
 */
export function scriptTime(events: readonly Event[], address: string, until: number): number {
  const start = events.find(
    ({ name, args }) => name === 'navigationStart' && args.data.documentLoaderURL === address,
  )!;
  const own = events
    .filter(
      ({ ph, pid, tid, ts }) =>
        ph === 'X' &&
        pid === start.pid &&
        tid === start.tid &&
        ts >= start.ts &&
        ts < start.ts + until * 1000,
    )
    .sort((event, other) => event.ts - other.ts || other.dur! - event.dur!);
  const around: { end: number; script: boolean }[] = [];
  let micros = 0;
  for (const { name, ts, dur = 0, tdur = 0 } of own) {
    while (around.length > 0 && around.at(-1)!.end <= ts) around.pop();
    const outside = around.at(-1)?.script ?? false;
    const inside = script.test(name) || (outside && !drawing.test(name));
    if (inside !== outside) micros += inside ? tdur : -tdur;
    around.push({ end: ts + dur, script: inside });
  }
  return micros / 1000;
}
