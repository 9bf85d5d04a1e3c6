import { Refusal, type Answer } from './answer.js';

/** Answers by call, such as `GET` or `POST login`; of a list the last one stays. */
export type Script = Record<string, Answer | Answer[]>;

interface Call { call: string; body: unknown }

const pause = (milliseconds: number): Promise<void> => new Promise((done) => { setTimeout(done, milliseconds); });
const headers = { 'Content-Type': 'application/json', 'Audit-ID': 'c0ffee00-6d0e-4c7b-9d36-1b8a7f1d2a55' };

/** Stands in for the API in the gallery: answers by script, records what was asked, and lets a test push events. */
export class FakeAPI {
  readonly calls: Call[] = [];
  readonly script: Script;
  delay = 0;
  #waiting = 0;
  #watchers: ReadableStreamDefaultController<Uint8Array>[] = [];

  constructor(script: Script) { this.script = script; }

  /** Puts this in place of fetch, for this page only. */
  install(): void {
    globalThis.fetch = (input, init) => this.#answer(new URL(String(input), location.origin), init ?? {});
  }

  /** Changes an answer. */
  say(call: string, answer: Answer | Answer[]): void { this.script[call] = answer; }

  /** How many watches are open. */
  get watching(): number { return this.#watchers.length; }

  /** Sends one event to every watch; with an object, that is what GET answers from now on. */
  push(object?: object): void {
    if (object) this.script.GET = object;
    const line = new TextEncoder().encode(`\n${JSON.stringify({ type: 'MODIFIED', object: object ?? { metadata: {} } })}\n`);
    for (const watcher of this.#watchers) watcher.enqueue(line);
  }

  async #answer(url: URL, { method = 'GET', body, signal }: RequestInit): Promise<Response> {
    if (url.searchParams.get('watch')) return this.#watch(signal);
    const part = url.pathname.split('/').slice(5).join('/');
    const call = /\/(interactions|mockmessages)/.test(url.pathname) ? `${method} ${part}`.trim() : 'discovery';
    if (call !== 'discovery') this.calls.push({ call, body: body ? JSON.parse(String(body)) : undefined });
    this.#waiting += 1;
    await pause(this.delay);
    this.#waiting -= 1;
    return this.#speak(this.#next(call) ?? (call === 'discovery' ? { resources: [] } : new Refusal(500)));
  }

  /** Settles when every call has its answer and the page has been drawn with it. */
  async settled(): Promise<void> {
    for (let calm = 0; calm < 3; calm = this.#waiting ? 0 : calm + 1) await new Promise(requestAnimationFrame);
  }

  #next(call: string): Answer | undefined {
    const answer = this.script[call];
    return Array.isArray(answer) ? (answer.length > 1 ? answer.shift() : answer[0]) as Answer : answer;
  }

  async #speak(answer: Answer): Promise<Response> {
    if (answer === 'never') return new Promise(() => undefined);
    if (answer === 'offline') throw new TypeError('Failed to fetch');
    const [object, status] = answer instanceof Refusal ? [answer.status, answer.status.code] : [answer, 200];
    return new Response(JSON.stringify(object), { status, headers });
  }

  #watch(signal: AbortSignal | null | undefined): Response {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#watchers.push(controller);
        signal?.addEventListener('abort', () => {
          this.#watchers = this.#watchers.filter((one) => one !== controller);
          controller.error(new DOMException('aborted', 'AbortError'));
        });
      },
    });
    return new Response(body, { headers });
  }
}
