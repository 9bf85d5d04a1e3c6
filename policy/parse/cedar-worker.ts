import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import type * as Cedar from '@cedar-policy/cedar-wasm/nodejs';

/**
 * Runs in a worker thread: validation takes up to seconds of CPU, and a text that crashes Cedar
 * only ends the worker.
 */
const workerSource = `const { parentPort, workerData } = require('node:worker_threads');
const cedar = require(workerData);
parentPort.on('message', ([name, argument]) => parentPort.postMessage(cedar[name](argument)));`;

/**
 * How long a worker is kept for the next text, in milliseconds. Its start takes longer than most
 * validations, and who edits a policy checks it again soon.
 */
const keptMs = 10_000;

type FunctionName = 'policySetTextToParts' | 'validate' | 'formatPolicies';

/** Cedar in a thread of its own, for one text at a time. */
export class CedarWorker {
  /** A worker that waits for the next text. */
  static #kept: CedarWorker | undefined;

  readonly #worker = new Worker(workerSource, {
    eval: true,
    workerData: createRequire(import.meta.url).resolve('@cedar-policy/cedar-wasm/nodejs'),
    resourceLimits: { maxOldGenerationSizeMb: 256 },
  });
  #settle: { resolve: (value: any) => void; reject: (error: unknown) => void } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #hasEnded = false;

  private constructor() {
    this.#worker.on('message', (answer) => this.#settle?.resolve(answer));
    this.#worker.on('error', (error) => this.#end(error));
    this.#worker.on('exit', () => this.#end(new Error('the validation worker ended')));
    this.#worker.unref();
  }

  /** Returns the worker that is kept, or starts one. */
  static take(): CedarWorker {
    const worker = CedarWorker.#kept ?? new CedarWorker();
    CedarWorker.#kept = undefined;
    clearTimeout(worker.#timer);
    return worker;
  }

  /** Calls a function of Cedar. Rejects if the worker ended. */
  call<N extends FunctionName>(
    name: N,
    argument: Parameters<(typeof Cedar)[N]>[0],
  ): Promise<ReturnType<(typeof Cedar)[N]>> {
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      this.#worker.postMessage([name, argument]);
    });
  }

  /** Keeps the worker for a while, unless another is kept. */
  release(): void {
    if (CedarWorker.#kept || this.#hasEnded) return this.terminate();
    CedarWorker.#kept = this;
    this.#timer = setTimeout(() => this.terminate(), keptMs).unref();
  }

  terminate(): void {
    this.#end(new Error('the validation worker was ended'));
    void this.#worker.terminate();
  }

  #end(error: unknown): void {
    this.#hasEnded = true;
    if (CedarWorker.#kept === this) CedarWorker.#kept = undefined;
    clearTimeout(this.#timer);
    this.#settle?.reject(error);
  }
}
