import { request } from 'node:http';
import type { Served } from '../served.js';
import type { Filter, Step, Track } from './history.js';
import { ask, pause } from './line.js';
import { keys, type Recorder } from './recorder.js';

/**
 * A client that lists and then watches for ever. Cut off, it goes on at another replica from where it
 * was, or, now and then, lists again, as it does when the server answers that its start is too old.
 */
export class Watcher {
  readonly #to: Recorder;
  readonly #filter: Filter;
  readonly #name: string;
  readonly #steps: Step[] = [];
  readonly #query: string;
  #turn: number;
  #at = 0;
  opened = 0;
  #stopped = false;
  #cut: () => void = () => {};

  constructor(to: Recorder, name: string, filter: Filter, turn: number) {
    this.#to = to;
    this.#name = name;
    this.#filter = filter;
    this.#turn = turn;
    this.#query = filter.label ? `&labelSelector=shard%3D${filter.label}` : '';
  }

  get track(): Track {
    return { name: this.#name, filter: this.#filter, steps: this.#steps };
  }
  get at(): number {
    return this.#at;
  }

  async run(): Promise<void> {
    let listed = false;
    while (!this.#stopped) {
      const place = this.#to.places[this.#turn++ % this.#to.places.length]!;
      listed ||= await this.#list(place);
      if (
        listed &&
        ((await this.#watch(place)) === 'late' || (!this.#to.over && this.#to.chance.next() < 0.15))
      ) {
        listed = false;
      }
      await pause(20);
    }
  }

  /**
   * Waits until it has reached the revision `due`, at which it receives something, or for so long;
   * then stops.
   */
  async finish(due: number, milliseconds: number): Promise<void> {
    for (
      const end = performance.now() + milliseconds;
      this.#at < due && performance.now() < end;
    ) {
      await pause(20);
    }
    this.#stopped = true;
    this.#cut();
    this.#steps.push({ step: 'reached', revision: due });
  }

  async #list(place: Served): Promise<boolean> {
    const reply = await ask(place.url, 'GET', `groups?${this.#query.slice(1)}`, {
      cookie: this.#to.cookie,
    });
    if (typeof reply === 'string' || reply.code !== 200) return false;
    this.#at = Number(reply.body.metadata.resourceVersion);
    this.#steps.push({ step: 'listed', revision: this.#at });
    return true;
  }

  /**
   * One connection, until it ends; `late` where only a list helps. Everything that has arrived is
   * taken in before it is cut from here.
   */
  #watch(place: Served): Promise<'ended' | 'late'> {
    const { hostname, port } = new URL(place.url);
    const path = this.#filter.key ? `groups/${this.#filter.key}?` : 'groups?';
    return new Promise((resolve) => {
      let [rest, late] = ['', false];
      const req = request(
        {
          host: hostname,
          port,
          agent: false,
          path: `/api/v1beta1/${path}watch=true&allowWatchBookmarks=true&resourceVersion=${this.#at}${this.#query}`,
          headers: {
            accept: 'application/json',
            'sec-fetch-site': 'same-origin',
            cookie: this.#to.cookie,
          },
        },
        (res) => {
          if (res.statusCode !== 200) {
            res.resume();
            if (res.statusCode !== 503 && res.statusCode !== 429) {
              this.#to.surprise(`${this.#name}: a watch was answered ${res.statusCode}`);
            }
            return;
          }
          this.opened += 1;
          this.#steps.push({ step: 'opened', from: this.#at, at: place.url });
          res.setEncoding('utf8').on('data', (text: string) => {
            const lines = (rest + text).split('\n');
            rest = lines.pop()!;
            for (const line of lines) if (line.trim() && this.#take(JSON.parse(line))) late = true;
            if (late) req.destroy();
          });
        },
      );
      const timer = setTimeout(() => req.destroy(), this.#to.chance.between(700, 6_000));
      this.#cut = () => req.destroy();
      req
        .on('error', () => {})
        .on('close', () => {
          clearTimeout(timer);
          resolve(late ? 'late' : 'ended');
        })
        .end();
    });
  }

  /** Whether it is too late to go on. */
  #take({ type, object }: { type: string; object: any }): boolean {
    if (type === 'ERROR') {
      if (object.code !== 410 && object.code !== 503) {
        this.#to.surprise(`${this.#name}: ${JSON.stringify(object).slice(0, 200)}`);
      }
      return object.code === 410;
    }
    const revision = Number(object.metadata.resourceVersion);
    this.#at = revision;
    if (type === 'BOOKMARK') {
      this.#steps.push({ step: 'reached', revision });
    } else if (keys.includes(object.metadata.name)) {
      this.#steps.push({
        step: 'received',
        type: type as 'ADDED',
        key: object.metadata.name,
        revision,
        value: object.spec.displayName,
      });
    }
    return false;
  }
}
