import { createRequire } from 'node:module';
import type * as Cedar from '@cedar-policy/cedar-wasm/nodejs';
import { SerialWorker } from '../../security/serial-worker.js';

const source = `const { parentPort, workerData } = require('node:worker_threads');
const cedar = require(workerData);
parentPort.on('message', ([name, argument]) => parentPort.postMessage(cedar[name](argument)));`;

type FunctionName = 'policySetTextToParts' | 'validate' | 'formatPolicies';

/** Calls a function of Cedar in its thread. Rejects if the thread ended. */
export type CallCedar = <N extends FunctionName>(
  name: N,
  argument: Parameters<(typeof Cedar)[N]>[0],
) => Promise<ReturnType<(typeof Cedar)[N]>>;

let worker: SerialWorker | undefined;

/** Runs a task with Cedar in a thread of its own: validation takes up to seconds of CPU. */
export function withCedarWorker<T>(
  timeoutMs: number,
  task: (call: CallCedar) => Promise<T>,
): Promise<T> {
  worker ??= new SerialWorker(
    source,
    createRequire(import.meta.url).resolve('@cedar-policy/cedar-wasm/nodejs'),
  );
  return worker.run(timeoutMs, (call) => task((...message) => call(message)));
}
