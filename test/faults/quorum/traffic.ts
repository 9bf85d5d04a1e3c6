import { scaled } from '../../support/patience.js';
import { type Answer, exchange, type Tab } from '../../support/people/tab.js';
import type { Served } from '../served.js';
import { pause } from './quorum.js';

/**
 * One request and what became of it, in milliseconds since the traffic began; without a code it got
 * no answer.
 */
export interface Exchange {
  readonly replica: number;
  readonly what: 'create' | 'get' | 'list';
  readonly name?: string;
  readonly at: number;
  readonly took: number;
  readonly code?: number;
  readonly retryAfter?: string | undefined;
  readonly count?: number;
}

const every = 20;
/** After so long a request is given up; no answer of the service may take as long. */
const patience = scaled(10_000);

function whatOf(number: number): Exchange['what'] {
  if (number % every === 0) return 'list';
  return number % 2 ? 'create' : 'get';
}

/**
 * Clients of an operator's at each replica, who create objects with names of their own, read them
 * and list them, and remember every answer: so many requests a second.
 */
export class Traffic {
  readonly exchanges: Exchange[] = [];
  readonly #replicas: readonly Served[];
  readonly #cookie: string;
  readonly #began = performance.now();
  readonly #prefix: string;
  readonly #running: Promise<void>[] = [];
  readonly #rate: number;
  #over = false;

  /** `rate`: requests a second, in all. */
  constructor(replicas: readonly Served[], operator: Tab, prefix: string, rate = 20) {
    this.#replicas = replicas;
    this.#prefix = prefix;
    this.#rate = rate;
    this.#cookie = operator.cookies
      .filter(({ path }) => path === '/')
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
    for (const i of replicas.keys()) this.#running.push(this.#run(i));
  }

  /** Milliseconds since it began. */
  now(): number {
    return performance.now() - this.#began;
  }

  /** Ends it once every request has its answer. */
  async stop(): Promise<void> {
    this.#over = true;
    await Promise.all(this.#running);
  }

  /** The names whose creation was acknowledged, and those whose was not. */
  get created(): { readonly sure: ReadonlySet<string>; readonly unsure: ReadonlySet<string> } {
    const creations = this.exchanges.filter(({ what }) => what === 'create');
    const [sure, unsure] = [
      creations.filter(({ code }) => code === 201),
      creations.filter(({ code }) => code !== 201),
    ];
    return {
      sure: new Set(sure.map(({ name }) => name!)),
      unsure: new Set(unsure.map(({ name }) => name!)),
    };
  }

  /** What is in the store under its names as against what was acknowledged; each a sentence. */
  async faults(): Promise<string[]> {
    const { sure, unsure } = this.created;
    const answer = await this.#ask(0, 'GET', 'groups');
    const there = (answer.body.items as { metadata: { name: string } }[])
      .map(({ metadata }) => metadata.name)
      .filter((name) => name.startsWith(this.#prefix));
    const found = new Set(there);
    return [
      ...[...sure]
        .filter((name) => !found.has(name))
        .map((name) => `${name} was acknowledged and is lost`),
      ...there
        .filter((name) => !sure.has(name) && !unsure.has(name))
        .map((name) => `${name} was never asked for`),
      ...this.exchanges
        .filter(
          (exchange) =>
            (exchange.code === undefined || ![200, 201, 503, 504, 429].includes(exchange.code)) &&
            !this.stale.includes(exchange),
        )
        .map(
          (exchange) =>
            `${exchange.what} of ${exchange.name} at ${exchange.at.toFixed(0)} ms was answered ${exchange.code}`,
        ),
      ...this.exchanges
        .filter(
          ({ code, retryAfter }) => (code === 503 || code === 429) !== (retryAfter !== undefined),
        )
        .map((exchange) => `${exchange.code} with Retry-After ${exchange.retryAfter}`),
    ];
  }

  /** Reads that did not find what had been acknowledged before they were sent. */
  get stale(): readonly Exchange[] {
    return this.exchanges.filter(({ what, code }) => what === 'get' && code === 404);
  }

  /** Requests of some time and replica. */
  within(from: number, to = Infinity, replica?: number): Exchange[] {
    return this.exchanges.filter(
      ({ at, replica: by }) => at >= from && at < to && (replica === undefined || by === replica),
    );
  }

  async #run(replica: number): Promise<void> {
    const under = new Set<Promise<void>>();
    const step = (1000 / this.#rate) * this.#replicas.length;
    for (let due = this.now(), number = 0; !this.#over; due += step, number += 1) {
      const one = this.#once(replica, number).finally(() => {
        under.delete(one);
      });
      under.add(one);
      await pause(Math.max(1, due + step - this.now()));
    }
    await Promise.all(under);
  }

  async #once(replica: number, number: number): Promise<void> {
    const what = whatOf(number);
    const name = this.#nameFor(what, `${this.#prefix}${replica}-${number}`);
    const at = this.now();
    const facts = { replica, what, ...(name !== undefined && { name }), at } as const;
    try {
      const { code, headers } = await this.#ask(
        replica,
        what === 'create' ? 'POST' : 'GET',
        what === 'get' && name !== undefined ? `groups/${name}` : 'groups',
        what === 'create' ? { metadata: { name }, spec: { displayName: name } } : undefined,
      );
      this.exchanges.push({
        ...facts,
        took: this.now() - at,
        code,
        retryAfter: headers['retry-after'],
      });
    } catch {
      this.exchanges.push({ ...facts, took: this.now() - at });
    }
  }

  /** The name that a request is about: the one given for a new object, or the last one made. */
  #nameFor(what: Exchange['what'], fresh: string): string | undefined {
    if (what === 'create') return fresh;
    if (what === 'list') return undefined;
    return this.exchanges.findLast(
      (exchange) => exchange.what === 'create' && exchange.code === 201,
    )?.name;
  }

  #ask(replica: number, method: string, path: string, body?: unknown): Promise<Answer> {
    const headers = {
      accept: 'application/json',
      cookie: this.#cookie,
      'sec-fetch-site': 'same-origin',
      ...(body !== undefined && { 'content-type': 'application/json' }),
    };
    const sent = exchange(
      this.#replicas[replica]!.url,
      method,
      `/api/v1beta1/${path}`,
      headers,
      body === undefined ? undefined : JSON.stringify(body),
    );
    let timer: NodeJS.Timeout;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new Error('no answer'));
      }, patience);
    });
    return Promise.race([sent, late]).finally(() => {
      clearTimeout(timer);
    });
  }
}

/** The time that so much of all answers took at most. */
export function percentile(exchanges: readonly Exchange[], share: number): number {
  const took = exchanges.map((exchange) => exchange.took).sort((a, b) => a - b);
  return took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? 0;
}

/** Figures of some requests in a line. */
export function figures(exchanges: readonly Exchange[]): string {
  const codes = new Map<string, number>();
  for (const { code } of exchanges) {
    codes.set(String(code ?? 'none'), (codes.get(String(code ?? 'none')) ?? 0) + 1);
  }
  return `${exchanges.length} requests (${[...codes].map(([code, count]) => `${count} × ${code}`).join(', ')}), median ${percentile(exchanges, 0.5).toFixed(0)} ms, p99 ${percentile(exchanges, 0.99).toFixed(0)} ms, longest ${percentile(exchanges, 1).toFixed(0)} ms`;
}
