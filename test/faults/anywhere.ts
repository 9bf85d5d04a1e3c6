import { settles } from '../support/patience.js';
import { type Answer, type Init, Pending, Tab } from '../support/people/tab.js';
import type { Served } from './served.js';

/** How often a balancer asks whether a replica is ready, in milliseconds. */
const every = 200;
const gone = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE']);

/**
 * Sends each request to the next replica that said it was ready when it was last asked, as a
 * balancer in front of them does.
 */
export class Balancer {
  readonly #replicas: readonly Served[];
  readonly #ready: boolean[];
  readonly #timer: NodeJS.Timeout;
  #turn = 0;

  constructor(replicas: readonly Served[]) {
    this.#replicas = replicas;
    this.#ready = replicas.map(() => true);
    this.#timer = setInterval(() => {
      for (const i of replicas.keys()) void this.#ask(i);
    }, every);
  }

  /** The next that is ready; the next of all where none is. */
  next(): Served {
    const open = this.#replicas.filter((_, i) => this.#ready[i]);
    const among = open.length > 0 ? open : this.#replicas;
    return among[this.#turn++ % among.length]!;
  }

  /** Resolves once it sends requests to all of them. */
  async whole(): Promise<void> {
    await settles(
      async () => this.#ready,
      (ready) => ready.every(Boolean),
    );
  }

  end(): void {
    clearInterval(this.#timer);
  }

  async #ask(replica: number): Promise<void> {
    this.#ready[replica] = await this.#replicas[replica]!.tab()
      .get('/readyz', { plain: true })
      .then(
        ({ code }) => code === 200,
        () => false,
      );
  }
}

/**
 * A browser whose requests a balancer spreads over the replicas; it repeats one that got no answer,
 * or 503, once.
 */
export class Anywhere extends Tab {
  /** What it repeated, and why. */
  readonly repeated: string[] = [];
  readonly #balancer: Balancer;

  constructor(balancer: Balancer, network: string) {
    const { url, baseURL } = balancer.next();
    super(url, baseURL);
    this.#balancer = balancer;
    this.headers = { 'x-forwarded-for': network };
  }

  override send<T = any>(method: string, path: string, init: Init = {}): Pending<T> {
    return new Pending(this.#send(method, path, init));
  }

  async #send(method: string, path: string, init: Init): Promise<Answer> {
    const why = await this.#once(method, path, init);
    if (typeof why !== 'string') return why;
    this.repeated.push(`${method} ${path.split('?')[0]}: ${why}`);
    const again = await this.#once(method, path, init);
    if (typeof again === 'string') {
      throw new Error(`${method} ${path.split('?')[0]}: ${why}, then ${again}`);
    }
    return again;
  }

  /** The answer, or why there is none that counts. */
  async #once(method: string, path: string, init: Init): Promise<Answer | string> {
    const tab = Object.assign(this.#balancer.next().tab(), {
      cookies: this.cookies,
      headers: this.headers,
    });
    try {
      const answer = await tab.send(method, path, init);
      if (answer.code === 503) return `503 ${answer.body?.message ?? ''}`;
      this.cookies = tab.cookies;
      return answer;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (!gone.has(code ?? '')) throw error;
      return code!;
    }
  }
}
