import { setTimeout as pause } from 'node:timers/promises';
import { secondMs } from '../../schema/units.js';

const intervalMs = 10 * secondMs;

/** What is done every ten seconds until nothing is left. */
interface BackgroundTask {
  step(signal: AbortSignal): Promise<void>;
  isDone(): boolean;
  onError(error: unknown): void;
}

/** Starts a task in the background; returns what ends it and waits for a running step. */
export function startBackgroundTask(task: BackgroundTask): () => Promise<void> {
  const stop = new AbortController();
  const { signal } = stop;
  const run = async (): Promise<void> => {
    while (!signal.aborted && !task.isDone()) {
      await task.step(signal).catch((error: unknown) => task.onError(error));
      await pause(intervalMs, undefined, { ref: false, signal }).catch(() => {});
    }
  };
  const running = run();
  return async () => {
    stop.abort();
    await running;
  };
}
