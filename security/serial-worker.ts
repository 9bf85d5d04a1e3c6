import { Worker } from 'node:worker_threads';

/** Sends a message to the thread, and resolves with its answer. Rejects if the thread ended. */
export type CallWorker = (message: unknown) => Promise<any>;

/**
 * How long an idle thread is kept, in milliseconds: its start takes longer than most tasks, and who
 * sent one text often sends another.
 */
const keptMs = 10_000;

/** A thread with at most one task at a time. */
class Thread {
  readonly #worker: Worker;
  #settle: { resolve: (answer: any) => void; reject: (error: unknown) => void } | undefined;
  hasEnded = false;

  constructor(source: string, module: string) {
    this.#worker = new Worker(source, {
      eval: true,
      workerData: module,
      resourceLimits: { maxOldGenerationSizeMb: 256 },
    });
    this.#worker.on('message', (answer) => this.#settle?.resolve(answer));
    this.#worker.on('error', (error) => this.#end(error));
    this.#worker.on('exit', () => this.#end(new Error('the worker thread ended')));
    this.#worker.unref();
  }

  readonly call: CallWorker = (message) =>
    new Promise((resolve, reject) => {
      if (this.hasEnded) return reject(new Error('the worker thread ended'));
      this.#settle = { resolve, reject };
      this.#worker.postMessage(message);
    });

  terminate(): void {
    this.#end(new Error('the worker thread was ended'));
    void this.#worker.terminate();
  }

  #end(error: unknown): void {
    this.hasEnded = true;
    this.#settle?.reject(error);
  }
}

/**
 * Runs tasks on untrusted text in a thread, one after another. A text that takes too long, needs too
 * much memory or crashes its parser ends the thread and nothing else.
 */
export class SerialWorker {
  readonly #source: string;
  readonly #module: string;
  #thread: Thread | undefined;
  #idle: NodeJS.Timeout | undefined;
  #last: Promise<unknown> = Promise.resolve();

  /** `source` is the script of the thread (CommonJS); its `workerData` is the path of `module`. */
  constructor(source: string, module: string) {
    this.#source = source;
    this.#module = module;
  }

  /** Runs a task after those before it. Rejects if it takes longer than `timeoutMs`. */
  run<T>(timeoutMs: number, task: (call: CallWorker) => Promise<T>): Promise<T> {
    const result = this.#last.then(() => this.#runNow(timeoutMs, task));
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #runNow<T>(timeoutMs: number, task: (call: CallWorker) => Promise<T>): Promise<T> {
    clearTimeout(this.#idle);
    if (!this.#thread || this.#thread.hasEnded) {
      this.#thread = new Thread(this.#source, this.#module);
    }
    const thread = this.#thread;
    const timer = setTimeout(() => thread.terminate(), timeoutMs);
    try {
      return await task(thread.call);
    } catch (error) {
      thread.terminate();
      throw error;
    } finally {
      clearTimeout(timer);
      this.#idle = setTimeout(() => thread.terminate(), keptMs).unref();
    }
  }
}
