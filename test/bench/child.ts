import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { pinned } from './layout.js';
import type { Memo } from './memo.js';

/** How a child is started. */
export interface ChildOptions {
  readonly core: number | undefined;
  readonly command: readonly string[];
  /**
   * What the line that says it is ready begins with, or what is asked every few milliseconds
   * whether it is.
   */
  readonly ready: string | (() => Promise<boolean>);
  readonly cwd: string;
  /** Where standard error goes. */
  readonly log: string;
  /** Whether it answers questions over IPC. */
  readonly ipc: boolean;
  readonly environment?: Readonly<Record<string, string>>;
}

/** What a process says of itself. */
export interface Usage {
  readonly cpuMicros: number;
  readonly rss: number;
  /** Resident bytes that are not pages of files; absent for programs that others wrote. */
  readonly anonymous?: number;
  readonly memo?: Memo;
  readonly written?: number;
}

type Reply = { readonly id: number; readonly value?: unknown; readonly error?: string };

const running = new Set<Child>();

/** Ends every child that still runs. */
export async function stopAll(): Promise<void> {
  await Promise.all([...running].map((child) => child.stop()));
}

/** A process on a core of its own that answers one question after another. */
export class Child {
  /** The line that said it is ready; empty where it was asked. */
  readonly line: string;
  readonly #process: ChildProcess;
  readonly #waiting = new Map<
    number,
    { resolve: (value: never) => void; reject: (error: Error) => void }
  >();
  #asked = 0;

  private constructor(process: ChildProcess, line: string, log: string) {
    this.#process = process;
    this.line = line;
    running.add(this);
    process.on('message', (reply: Reply) => this.#answer(reply));
    process.once('exit', (code, signal) => {
      running.delete(this);
      for (const { reject } of this.#waiting.values()) {
        reject(new Error(`it ended (${code ?? signal}): ${tail(log)}`));
      }
    });
  }

  /** Starts it and waits for its line; throws with the end of its log where it ends before. */
  static async start(options: ChildOptions): Promise<Child> {
    const log = openSync(options.log, 'a');
    const [file, ...args] = pinned(options.core, options.command) as [string, ...string[]];
    const child = spawn(file, args, {
      cwd: options.cwd,
      env: { ...process.env, NODE_ENV: 'production', ...options.environment },
      stdio: ['ignore', 'pipe', log, ...(options.ipc ? ['ipc' as const] : [])],
    });
    closeSync(log);
    const line = await new Promise<string>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code, signal) =>
        reject(
          new Error(
            `${options.command.slice(0, 3).join(' ')} ended (${code ?? signal}): ${tail(options.log)}`,
          ),
        ),
      );
      const { ready } = options;
      createInterface({ input: child.stdout! }).on('line', (text) => {
        if (typeof ready === 'string' && text.startsWith(ready)) resolve(text);
      });
      if (typeof ready === 'function') {
        void askUntil(ready, () => child.exitCode !== null).then(() => resolve(''));
      }
    });
    return new Child(child, line, options.log);
  }

  /** The id of its process. */
  get pid(): number {
    return this.#process.pid!;
  }

  /** Asks and waits for the answer. */
  ask<T>(question: Record<string, unknown>): Promise<T> {
    const id = ++this.#asked;
    return new Promise<T>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#process.send({ ...question, id });
    });
  }

  /** Processor time and memory so far. */
  usage(): Promise<Usage> {
    return this.ask<Usage>({ ask: 'usage' });
  }

  /** Ends it and waits for that. */
  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    const ended = new Promise((resolve) => {
      this.#process.once('exit', resolve);
    });
    this.#process.kill('SIGTERM');
    const late = setTimeout(() => this.#process.kill('SIGKILL'), 15_000);
    await ended;
    clearTimeout(late);
  }

  #answer({ id, value, error }: Reply): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (error === undefined) {
      waiting?.resolve(value as never);
    } else {
      waiting?.reject(new Error(error));
    }
  }
}

/** Asks every few milliseconds until the answer is yes, or there is no one left to ask. */
async function askUntil(ready: () => Promise<boolean>, isOver: () => boolean): Promise<void> {
  while (!isOver() && !(await ready())) await pause(5);
}

const tail = (log: string): string => readFileSync(log, 'utf8').slice(-2_000);
