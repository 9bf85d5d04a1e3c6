import { Duplex } from 'node:stream';
import { afterEach, expect, test } from '@jest/globals';
import type { Cluster } from '../../storage/etcd/client.js';
import { Keyspace } from '../../storage/etcd/key-prefix.js';
import { CurrentRevision } from '../../storage/etcd/linearizable-revision.js';
import { markKey, ProgressKey } from '../../storage/etcd/progress-key.js';
import type { WatchStreams } from '../../storage/etcd/watch-stream.js';
import { watchPrefix } from '../../storage/etcd/watcher.js';
import type { Batch } from '../../storage/storage.js';

const keyspace = new Keyspace('/v/', 0);
const realNow = performance.now;
afterEach(() => {
  performance.now = realNow;
});

/** An etcd whose watch stream says what the test has it say. */
class Scripted {
  readonly asked: unknown[] = [];
  readonly ending = new AbortController();
  puts = 0;
  readonly stream = Object.assign(
    new Duplex({
      objectMode: true,
      read: () => undefined,
      write: (request, _, done) => {
        this.asked.push(request);
        done();
      },
    }),
    { cancel: () => undefined },
  );
  /** What a quorum says is the latest, whenever it is asked. */
  latest = 5;
  /** How often the watch has gone on to another member. */
  turns = 0;
  readonly cluster = {
    revisionListeners: new Set<(revision: number, asked: number) => void>(),
    read: async (
      _: string,
      send: (member: object) => Promise<{ header: { revision: string } }>,
    ) => {
      const asked = performance.now();
      const answer = await send({
        kv: { range: async () => ({ header: { revision: String(this.latest) } }) },
      });
      this.said(this.latest, asked);
      return answer;
    },
    call: () => {
      this.puts += 1;
      return Promise.resolve({ header: { revision: '12' } });
    },
    notifyRevision: () => undefined,
  } as unknown as Cluster;

  /**
   * A quorum has answered a question of this replica: this revision was the latest at the time of the
   * question.
   */
  said(revision: number, asked: number): void {
    for (const listener of this.cluster.revisionListeners) listener(revision, asked);
  }

  /**
   * Watches `w/` from 4, one before the latest; returns the batches until the revision is
   * reached.
   */
  async watch(marked: boolean, until: number, batches: Batch[] = []): Promise<Batch[]> {
    const streams = {
      open: () => this.stream,
      rotate: () => {
        this.turns += 1;
      },
    } as unknown as WatchStreams;
    const marker = marked ? new ProgressKey(this.cluster, keyspace) : undefined;
    for await (const batch of watchPrefix(
      {
        cluster: this.cluster,
        keyspace,
        streams,
        currentRevision: new CurrentRevision(this.cluster, keyspace),
        progressKey: marker,
      },
      'w/',
      4,
      this.ending.signal,
    )) {
      batches.push(batch);
      if (batch.revision >= until) break;
    }
    return batches;
  }

  /** `more`: the rest of what etcd had to say at once comes in another message. */
  event(key: string, revision: number, more = false): void {
    const kv = {
      key: keyspace.toEtcdKey(key),
      value: Buffer.alloc(0),
      create_revision: String(revision),
      mod_revision: String(revision),
    };
    this.#say(revision, [{ type: 'Put', kv, prev_kv: null }], more);
  }

  answer(revision: number): void {
    this.#say(revision, []);
  }

  #say(revision: number, events: unknown[], fragment = false): void {
    this.stream.push({
      header: { revision: String(revision) },
      created: false,
      canceled: false,
      compact_revision: '0',
      cancel_reason: '',
      fragment,
      events,
    });
  }
}

test('an event that arrives after progress answers is delivered', async () => {
  const etcd = new Scripted();
  const batches = etcd.watch(true, 12);
  for (let i = 0; i < 3; i += 1) etcd.answer(10);
  etcd.event('w/a', 9);
  etcd.event('other', 11);
  etcd.event(markKey, 12);
  expect(
    (await batches).map(({ revision, changes }) => [revision, changes.map(({ key }) => key)]),
  ).toEqual([
    [4, []],
    [4, []],
    [4, []],
    [9, ['w/a']],
    [11, []],
    [12, []],
  ]);
  expect(etcd.asked[0]).toMatchObject({ create_request: { key: keyspace.toEtcdKey('') } });
});

test('a progress key is written where nothing shows the progress of a watch', async () => {
  const etcd = new Scripted();
  const batches = etcd.watch(true, 12);
  while (etcd.puts === 0) {
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
  }
  etcd.event(markKey, 12);
  await batches;
  expect(etcd.asked.filter((request) => 'progress_request' in (request as object))).toEqual([]);
});

test('where answers never overtake events, they are asked for and believed', async () => {
  const etcd = new Scripted();
  const batches = etcd.watch(false, 10);
  while (etcd.asked.length < 2) {
    await new Promise((resolve) => {
      setTimeout(resolve, 5);
    });
  }
  etcd.answer(10);
  expect(await batches).toMatchObject([{ revision: 10, changes: [] }]);
  expect(etcd.asked[0]).toMatchObject({ create_request: { key: keyspace.toEtcdKey('w/') } });
  expect(etcd.puts).toBe(0);
});

test('a revision that arrives in pieces is delivered whole or not at all', async () => {
  const etcd = new Scripted();
  const batches = etcd.watch(false, 10);
  etcd.event('w/a', 9, true);
  etcd.event('w/b', 9, true);
  etcd.event('w/c', 9);
  etcd.event('w/d', 10);
  expect(
    (await batches).map(({ revision, changes }) => [revision, changes.map(({ key }) => key)]),
  ).toEqual([
    [9, ['w/a', 'w/b', 'w/c']],
    [10, ['w/d']],
  ]);
});

const soon = (holds: () => boolean): Promise<void> =>
  new Promise((resolve) => {
    const timer = setInterval(() => {
      if (holds()) {
        clearInterval(timer);
        resolve();
      }
    }, 5);
  });
/** The test's own clock, at so many milliseconds from here. */
function moveTo(milliseconds: number): void {
  performance.now = () => milliseconds;
}

test('a watch is as new as the last word of a quorum that it has reached', async () => {
  moveTo(1_000);
  const etcd = new Scripted();
  const batches: Batch[] = [];
  const over = etcd.watch(false, 20, batches);
  await soon(() => etcd.asked.length > 0);
  etcd.answer(5);
  await soon(() => batches.length === 1);
  expect(batches.at(-1)).toMatchObject({ revision: 5, asOf: 1_000 });

  moveTo(1_400); // before anything is asked for by itself
  etcd.said(8, 1_300);
  etcd.answer(5);
  etcd.event('w/a', 7);
  await soon(() => batches.length === 3);
  expect(batches.slice(1).map(({ revision, asOf }) => [revision, asOf])).toEqual([
    [5, 1_000],
    [7, 1_000],
  ]);
  etcd.event('w/b', 8);
  await soon(() => batches.length === 4);
  expect(batches.at(-1)).toMatchObject({ revision: 8, asOf: 1_300 });

  etcd.said(8, 1_350);
  etcd.answer(8);
  etcd.said(30, 1_380);
  etcd.said(31, 1_390);
  etcd.said(12, 1_360); // answered later though asked before: true, and of no use where another is reached
  etcd.event('w/c', 30);
  await over;
  expect(batches.slice(4).map(({ revision, asOf }) => [revision, asOf])).toEqual([
    [8, 1_350],
    [30, 1_380],
  ]);
});

test('after half a second without a request a quorum is asked, then the member', async () => {
  moveTo(1_000);
  const etcd = new Scripted();
  const batches: Batch[] = [];
  const over = etcd.watch(false, 20, batches);
  await soon(() => etcd.asked.length > 0);
  etcd.answer(5);
  await soon(() => batches.length === 1);
  const before = etcd.asked.length;
  etcd.latest = 6;
  moveTo(1_500);
  await soon(() => etcd.asked.length > before);
  etcd.answer(5);
  await soon(() => batches.length === 2);
  expect(batches.at(-1)).toMatchObject({ revision: 5, asOf: 1_000 });
  etcd.answer(6);
  await soon(() => batches.length === 3);
  expect(batches.at(-1)).toMatchObject({ revision: 6, asOf: 1_500 });
  etcd.event('w/z', 20);
  await over;
});

test('a member that lacks what a quorum has is left for the next', async () => {
  moveTo(1_000);
  const etcd = new Scripted();
  const batches: Batch[] = [];
  let cancelled = 0;
  etcd.stream.cancel = () => {
    cancelled += 1;
    etcd.stream.destroy(new Error('cancelled'));
    return undefined;
  };
  const over = etcd.watch(false, 20, batches).catch(() => undefined);
  await soon(() => etcd.asked.length > 0);
  etcd.answer(5);
  await soon(() => batches.length === 1);
  etcd.latest = 9;
  for (let now = 1_500; now <= 4_000; now += 500) {
    moveTo(now);
    const count = batches.length;
    etcd.answer(5);
    await soon(() => batches.length > count);
  }
  expect([cancelled, etcd.turns, batches.at(-1)!.asOf]).toEqual([0, 0, 1_000]);
  moveTo(4_001);
  await soon(() => etcd.turns === 1);
  expect(cancelled).toBeGreaterThan(0);
  etcd.ending.abort();
  await over;
});
