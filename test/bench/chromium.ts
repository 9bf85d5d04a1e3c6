import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';

const paths = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];
const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-quic',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-extensions',
  '--no-first-run',
  '--no-default-browser-check',
  '--remote-debugging-pipe',
];

interface Message {
  id?: number;
  sessionId?: string;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { message: string };
}

/** Where Chromium is, if it is installed. */
export const chromiumPath = (): string | undefined =>
  paths.find((path) => path && existsSync(path));

/**
 * A browser spoken to over its pipe in the DevTools protocol, bare: a driver that puts scripts of
 * its own into every page would be measured with it.
 */
export class Chromium {
  readonly #process: ChildProcess;
  readonly #asked = new Map<
    number,
    { resolve: (value: any) => void; reject: (error: Error) => void }
  >();
  readonly #heard = new Map<string, (params: any) => void>();
  #last = 0;
  #held = '';

  /** Starts it with a profile of its own. */
  constructor(path: string, profile: string) {
    this.#process = spawn(path, [...flags, `--user-data-dir=${profile}`], {
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    });
    (this.#process.stdio[4] as Readable)
      .setEncoding('utf8')
      .on('data', (text: string) => this.#take(text));
    this.#process.once('exit', (code) => {
      for (const { reject } of this.#asked.values()) reject(new Error(`Chromium ended (${code})`));
    });
  }

  /** Sends a command, to a page where a session is named, and resolves with its result. */
  send(method: string, params: object = {}, sessionId?: string): Promise<any> {
    const id = ++this.#last;
    (this.#process.stdio[3] as Writable).write(
      `${JSON.stringify({ id, method, params, sessionId })}\0`,
    );
    return new Promise((resolve, reject) => {
      this.#asked.set(id, { resolve, reject });
    });
  }

  /** Hears an event of a session; one listener each. */
  on(sessionId: string, method: string, listener: (params: any) => void): void {
    this.#heard.set(`${sessionId} ${method}`, listener);
  }

  /**
   * Resolves once its processes do next to nothing: a new window of its own keeps them busy for a
   * while.
   */
  async calm(): Promise<void> {
    const used = async (): Promise<number> =>
      (await this.send('SystemInfo.getProcessInfo')).processInfo.reduce(
        (sum: number, { cpuTime }: { cpuTime: number }) => sum + cpuTime,
        0,
      );
    const late = Date.now() + 15_000;
    for (let [before, still] = [await used(), 0]; still < 2 && Date.now() < late; ) {
      await new Promise((done) => {
        setTimeout(done, 200);
      });
      const now = await used();
      still = now - before < 0.02 ? still + 1 : 0;
      before = now;
    }
  }

  /** Ends it and waits for that. */
  async stop(): Promise<void> {
    const ended = new Promise((resolve) => {
      this.#process.once('exit', resolve);
    });
    this.send('Browser.close').catch(() => {});
    await ended;
  }

  #take(text: string): void {
    const parts = (this.#held + text).split('\0');
    this.#held = parts.pop()!;
    for (const part of parts) {
      const { id, sessionId = '', method, params, result, error } = JSON.parse(part) as Message;
      if (id === undefined) {
        this.#heard.get(`${sessionId} ${method}`)?.(params);
        continue;
      }
      const asked = this.#asked.get(id)!;
      this.#asked.delete(id);
      if (error) {
        asked.reject(new Error(error.message));
      } else {
        asked.resolve(result);
      }
    }
  }
}
