import { FakeRefusal, type FakeResponse } from './answer.js';

/**
 * Responses by call, such as `GET` or `POST login`, and on other pages `GET policies`. The last
 * response of a list is repeated.
 */
export type Script = Record<string, FakeResponse | FakeResponse[]>;

interface RecordedCall {
  call: string;
  body: unknown;
}
interface Watcher {
  path: string;
  controller: ReadableStreamDefaultController<Uint8Array>;
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise((done) => {
    setTimeout(done, milliseconds);
  });
const eventLine = (type: string, object: object): Uint8Array =>
  new TextEncoder().encode(`\n${JSON.stringify({ type, object })}\n`);
const headers = {
  'Content-Type': 'application/json',
  'Audit-ID': 'c0ffee00-6d0e-4c7b-9d36-1b8a7f1d2a55',
};

/**
 * A fake API for the gallery: responds by script, records requests, and lets a test push events.
 */
export class FakeAPI {
  readonly calls: RecordedCall[] = [];
  readonly script: Script;
  delay = 0;
  #waiting = 0;
  #watchers: Watcher[] = [];

  constructor(script: Script) {
    this.script = script;
  }

  /** Replaces fetch on this page. */
  install(): void {
    globalThis.fetch = (input, init) =>
      this.#answer(new URL(String(input), location.origin), init ?? {});
  }

  /** Changes a response. */
  setResponse(call: string, answer: FakeResponse | FakeResponse[]): void {
    this.script[call] = answer;
  }

  /** The number of open watches. */
  get watching(): number {
    return this.#watchers.length;
  }

  /** Sends one event to every watch. The object, if given, becomes the response to GET. */
  push(object?: object): void {
    if (object) this.script.GET = object;
    for (const { controller } of this.#watchers) {
      controller.enqueue(eventLine('MODIFIED', object ?? { metadata: {} }));
    }
  }

  /** Sends one event to the watches of one collection. */
  emit(collection: string, object: object, type = 'MODIFIED'): void {
    for (const { path, controller } of this.#watchers) {
      if (path === collection) controller.enqueue(eventLine(type, object));
    }
  }

  async #answer(url: URL, { method = 'GET', body, signal }: RequestInit): Promise<Response> {
    const path = url.pathname.split('/').slice(3);
    if (url.searchParams.get('watch')) return this.#watch(path.join('/'), signal);
    if (path[0] === 'appearances') return this.#speak(this.script.appearance ?? { spec: {} });
    const of = /^(interactions|mockmessages)$/.test(path[0] ?? '') ? path.slice(2) : path;
    const call = path.length > 0 ? `${method} ${of.join('/')}`.trim() : 'discovery';
    if (call !== 'discovery' && !call.endsWith('accessreviews')) {
      this.calls.push({ call, body: body ? JSON.parse(String(body)) : undefined });
    }
    this.#waiting += 1;
    await pause(this.delay);
    this.#waiting -= 1;
    return this.#speak(
      this.#next(call) ?? (call === 'discovery' ? { resources: [] } : new FakeRefusal(500)),
    );
  }

  /**
   * Resolves when every call has its response and the page has been drawn. Bodies are read in their
   * order, on a busy machine for longer than some frames: one that is read here comes after the page's.
   */
  async settled(): Promise<void> {
    for (let calm = 0; calm < 3; calm = this.#waiting ? 0 : calm + 1) {
      await new Promise(requestAnimationFrame);
      await new Response('{}').json();
    }
  }

  #next(call: string): FakeResponse | undefined {
    const answer = this.script[call];
    if (!Array.isArray(answer)) return answer;
    return (answer.length > 1 ? answer.shift() : answer[0]) as FakeResponse;
  }

  async #speak(answer: FakeResponse): Promise<Response> {
    if (answer === 'never') return new Promise(() => undefined);
    if (answer === 'offline') throw new TypeError('Failed to fetch');
    const [object, status] =
      answer instanceof FakeRefusal ? [answer.status, answer.status.code] : [answer, 200];
    return new Response(JSON.stringify(object), { status, headers });
  }

  #watch(path: string, signal: AbortSignal | null | undefined): Response {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#watchers.push({ path, controller });
        signal?.addEventListener('abort', () => {
          this.#watchers = this.#watchers.filter((watcher) => watcher.controller !== controller);
          controller.error(new DOMException('aborted', 'AbortError'));
        });
      },
    });
    return new Response(body, { headers });
  }
}
