import type { Served } from '../served.js';
import type { Outcome, Write } from './history.js';
import { ask, pause, type Reply } from './line.js';
import { keys, type Recorder, shards } from './recorder.js';

/**
 * Someone who writes and reads the same few objects as everybody else, at any replica, one call at
 * a time.
 */
export class Writer {
  readonly #to: Recorder;
  readonly #name: string;
  readonly #seen = new Map<string, number>();

  constructor(to: Recorder, name: string) {
    this.#to = to;
    this.#name = name;
  }

  async run(): Promise<void> {
    while (!this.#to.over) {
      await this.once();
      await pause(this.#to.chance.between(2, 20));
    }
  }

  async once(): Promise<void> {
    const { chance } = this.#to;
    const key = this.#to.pick(keys);
    const die = chance.next();
    if (die < 0.36) {
      await this.patch(key, undefined, chance.next() < 0.2 ? this.#to.pick(shards) : undefined);
    } else if (die < 0.58) {
      await this.patch(key, this.#seen.get(key));
    } else if (die < 0.68) {
      await this.create(key, this.#to.pick(shards));
    } else if (die < 0.76) {
      await this.remove(key, chance.next() < 0.5 ? this.#seen.get(key) : undefined);
    } else if (die < 0.9) {
      await this.get(key);
    } else {
      await this.list(chance.next() < 0.5 ? this.#to.pick(shards) : undefined);
    }
  }

  /** Answers the code, and the revision where it was done. */
  create(key: string, label: string): Promise<number | undefined> {
    const value = this.#to.value(this.#name);
    return this.#write({ verb: 'create', key, value }, 'POST', 'groups', {
      metadata: { name: key, labels: { shard: label } },
      spec: { displayName: value },
    });
  }

  patch(key: string, expects?: number, label?: string): Promise<number | undefined> {
    const value = this.#to.value(this.#name);
    const metadata = {
      ...(expects !== undefined && { resourceVersion: String(expects) }),
      ...(label && { labels: { shard: label } }),
    };
    return this.#write(
      { verb: 'patch', key, value, ...(expects !== undefined && { expects }) },
      'PATCH',
      `groups/${key}`,
      { metadata, spec: { displayName: value } },
      'application/merge-patch+json',
    );
  }

  remove(key: string, expects?: number): Promise<number | undefined> {
    return this.#write(
      { verb: 'delete', key, ...(expects !== undefined && { expects }) },
      'DELETE',
      `groups/${key}`,
      expects === undefined ? undefined : { preconditions: { resourceVersion: String(expects) } },
    );
  }

  async get(key: string): Promise<void> {
    const start = this.#to.now();
    const reply = await this.#ask(this.#to.place(), 'GET', `groups/${key}`);
    const end = this.#to.now();
    if (typeof reply === 'string') return;
    if (reply.code === 404) {
      this.#to.calls.push({ type: 'get', key, start, end });
    } else if (reply.code === 200) {
      const revision = Number(reply.body.metadata.resourceVersion);
      this.#seen.set(key, revision);
      this.#to.calls.push({
        type: 'get',
        key,
        start,
        end,
        revision,
        value: reply.body.spec.displayName,
      });
    } else {
      this.#odd('GET', reply);
    }
  }

  async list(label?: string): Promise<number | undefined> {
    const start = this.#to.now();
    const reply = await this.#ask(
      this.#to.place(),
      'GET',
      `groups${label ? `?labelSelector=shard%3D${label}` : ''}`,
    );
    const end = this.#to.now();
    if (typeof reply === 'string') return undefined;
    if (reply.code !== 200) return void this.#odd('LIST', reply);
    const items = (reply.body.items as any[])
      .filter(({ metadata }) => keys.includes(metadata.name))
      .map(({ metadata, spec }) => ({
        key: metadata.name as string,
        revision: Number(metadata.resourceVersion),
        value: spec.displayName as string,
      }));
    for (const { key, revision } of items) this.#seen.set(key, revision);
    const revision = Number(reply.body.metadata.resourceVersion);
    this.#to.calls.push({ type: 'list', start, end, revision, items, ...(label && { label }) });
    return revision;
  }

  async #write(
    facts: Pick<Write, 'verb' | 'key' | 'value' | 'expects'>,
    method: string,
    path: string,
    body: unknown,
    type?: string,
  ): Promise<number | undefined> {
    const start = this.#to.now();
    const reply = await this.#ask(this.#to.place(), method, path, body, type);
    const end = this.#to.now();
    if (reply === 'unsent') return undefined;
    const outcome = outcomeOf(reply);
    if (reply === 'unknown' || outcome === undefined) {
      if (reply !== 'unknown') this.#odd(facts.verb, reply);
      this.#to.calls.push({ type: 'write', ...facts, start, outcome: 'unknown' });
      return undefined;
    }
    if (outcome === 'unknown') {
      this.#to.calls.push({ type: 'write', ...facts, start, outcome });
      return reply.code;
    }
    if (outcome === 'refused') {
      this.#to.calls.push({ type: 'write', ...facts, start, end, outcome });
      return reply.code;
    }
    const revision =
      facts.verb === 'delete' ? undefined : Number(reply.body.metadata.resourceVersion);
    if (revision !== undefined) this.#seen.set(facts.key, revision);
    this.#to.calls.push({
      type: 'write',
      ...facts,
      start,
      end,
      outcome,
      uid: facts.verb === 'delete' ? reply.body.details.uid : reply.body.metadata.uid,
      ...(revision !== undefined && { revision }),
    });
    return reply.code;
  }

  async #ask(
    place: Served,
    method: string,
    path: string,
    body?: unknown,
    type?: string,
  ): Promise<Reply> {
    const reply = await ask(place.url, method, path, {
      cookie: this.#to.cookie,
      body,
      ...(type && { type }),
    });
    if (reply === 'unsent') await pause(50);
    if (typeof reply !== 'string') {
      this.#to.codes.set(reply.code, (this.#to.codes.get(reply.code) ?? 0) + 1);
    }
    return reply;
  }

  #odd(what: string, reply: Reply): void {
    if (
      typeof reply === 'string' ||
      reply.code === 503 ||
      reply.code === 504 ||
      reply.code === 429
    ) {
      return;
    }
    this.#to.surprise(`${what}: ${reply.code} ${JSON.stringify(reply.body).slice(0, 200)}`);
  }
}

/** 503 says that nothing was written, and the recorder does not take its word for it. */
function outcomeOf(reply: Reply): Outcome | undefined {
  if (typeof reply === 'string') return 'unknown';
  if (reply.code === 200 || reply.code === 201) return 'done';
  if (reply.code === 404 || reply.code === 409 || reply.code === 429) return 'refused';
  return reply.code === 503 || reply.code === 504 ? 'unknown' : undefined;
}
