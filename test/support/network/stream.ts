import { type ClientRequest, request as http, type IncomingMessage } from 'node:http';
import { request as https } from 'node:https';
import { scaled } from '../patience.js';
import type { Tab } from '../people/tab.js';
import { repeats } from '../repeats.js';

/** A watch as a test follows it: waits for events instead of sleeping. */
export class Stream {
  readonly events: { type: string; object: any }[] = [];
  code = 0;
  ended = false;
  /** Whether it ended as a whole answer does, rather than being cut. */
  clean = false;
  /** Lines without anything on them. */
  blank = 0;
  /** How many characters it had. */
  length = 0;
  #request!: ClientRequest;
  #answer: IncomingMessage | undefined;
  #wake: (() => void)[] = [];

  /** As a page's script follows it with the cookies of `tab`; with a `token`, as a program does. */
  constructor(tab: Tab, path: string, accept = 'application/json', token?: string) {
    const { hostname, port } = new URL(tab.base);
    const target = path.startsWith('/') ? path : `/api/v1beta1/${path}`;
    const cookie = tab.cookies
      .filter((cookie) => target.startsWith(cookie.path))
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
    const headers = {
      accept,
      ...(token
        ? { authorization: `Bearer ${token}` }
        : { 'sec-fetch-site': 'same-origin', ...(cookie && { cookie }) }),
      ...tab.headers,
    };
    this.#ask(tab.patient, (taken) =>
      (tab.base.startsWith('https:') ? https : http)(
        { ...tab.tls, host: hostname, port, path: target, headers, agent: false },
        taken,
      ),
    );
  }

  /** Asks, and again where the store had no time to answer. */
  #ask(isPatient: boolean, begin: (taken: (res: IncomingMessage) => void) => ClientRequest): void {
    this.#request = begin((res) => {
      if (
        res.statusCode === 503 &&
        isPatient &&
        repeats.allows('503 the store cannot be reached')
      ) {
        res.resume().on('close', () => this.#ask(isPatient, begin));
        return;
      }
      this.#answer = res;
      this.code = res.statusCode!;
      let rest = '';
      res.setEncoding('utf8');
      res
        .on('data', (text: string) => {
          this.length += text.length;
          const lines = (rest + text).split('\n');
          rest = lines.pop()!;
          for (const line of lines) {
            if (line.trim()) {
              this.events.push(JSON.parse(line));
            } else {
              this.blank += 1;
            }
          }
          this.#stir();
        })
        .on('error', () => {})
        .on('close', () => {
          this.ended = true;
          this.clean = res.complete;
          this.#stir();
        });
      this.#stir();
    });
    this.#request
      .on('error', () => {
        this.ended = true;
        this.#stir();
      })
      .end();
  }

  /** Resolves once `holds`, or throws with what was seen. */
  async until(holds: (stream: this) => boolean, milliseconds = 10_000): Promise<this> {
    const end = Date.now() + scaled(milliseconds);
    while (!holds(this)) {
      if (Date.now() > end) {
        throw new Error(
          `timed out: ${JSON.stringify(this.events).slice(0, 800)} ended ${this.ended} code ${this.code}`,
        );
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 200);
        this.#wake.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
    return this;
  }

  /** Reads no more from the connection until `goOn`. */
  stall(): void {
    this.#answer!.pause();
  }
  goOn(): void {
    this.#answer!.resume();
  }

  close(): void {
    this.#request.destroy();
  }

  #stir(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}
