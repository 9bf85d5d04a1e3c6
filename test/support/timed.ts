/** What a suite spends its time on, beside its own work. */
type Part = 'service' | 'etcd' | 'browser' | 'wait';

declare global {
  /** Seconds of this suite by part (environment.mjs). */
  var suiteTimes: Partial<Record<Part, number>> | undefined;
}

/** Does the work and adds its time to a part of the suite's time. */
export async function timed<T>(part: Part, work: () => Promise<T>): Promise<T> {
  const startedAt = performance.now();
  try {
    return await work();
  } finally {
    const times = (globalThis.suiteTimes ??= {});
    times[part] = (times[part] ?? 0) + (performance.now() - startedAt) / 1000;
  }
}
