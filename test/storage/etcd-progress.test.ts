import { expect, test } from '@jest/globals';
import { Duplex } from 'node:stream';
import type { Cluster } from '../../storage/etcd/cluster.js';
import { Keyspace } from '../../storage/etcd/keyspace.js';
import { markKey, Marker } from '../../storage/etcd/marker.js';
import type { Streams } from '../../storage/etcd/stream.js';
import { watchPrefix } from '../../storage/etcd/watcher.js';
import type { Batch } from '../../storage/storage.js';

const keyspace = new Keyspace('/v/', 0);

/** An etcd whose watch stream says what the test has it say. */
class Scripted {
  readonly asked: unknown[] = [];
  puts = 0;
  readonly stream = Object.assign(new Duplex({ objectMode: true, read: () => undefined, write: (request, _, done) => { this.asked.push(request); done(); } }), { cancel: () => undefined });
  readonly cluster = {
    horizon: 0, onHorizon: new Set<() => void>(),
    read: () => Promise.resolve({ header: { revision: '5' } }),
    call: () => { this.puts += 1; return Promise.resolve({ header: { revision: '12' } }); },
    saw: () => undefined,
  } as unknown as Cluster;

  /** Watches `w/` from 4, one before the latest; answers what was told until the revision is reached. */
  async watch(marked: boolean, until: number): Promise<Batch[]> {
    const streams = { open: () => this.stream, rotate: () => undefined } as unknown as Streams;
    const marker = marked ? new Marker(this.cluster, keyspace) : undefined;
    const told: Batch[] = [];
    for await (const batch of watchPrefix({ cluster: this.cluster, keyspace, streams, marker }, 'w/', 4, new AbortController().signal)) {
      told.push(batch);
      if (batch.revision >= until) break;
    }
    return told;
  }

  /** `more`: the rest of what etcd had to say at once comes in another message. */
  event(key: string, revision: number, more = false): void {
    const kv = { key: keyspace.key(key), value: Buffer.alloc(0), create_revision: String(revision), mod_revision: String(revision) };
    this.#say(revision, [{ type: 'Put', kv, prev_kv: null }], more);
  }

  answer(revision: number): void {
    this.#say(revision, []);
  }

  #say(revision: number, events: unknown[], fragment = false): void {
    this.stream.push({ header: { revision: String(revision) }, created: false, canceled: false, compact_revision: '0', cancel_reason: '', fragment, events });
  }
}

test('where answers may overtake events, none is believed: an event that comes after them is told', async () => {
  const etcd = new Scripted();
  const told = etcd.watch(true, 12);
  for (let i = 0; i < 3; i += 1) etcd.answer(10);
  etcd.event('w/a', 9);
  etcd.event('other', 11);
  etcd.event(markKey, 12);
  expect((await told).map(({ revision, changes }) => [revision, changes.map(({ key }) => key)])).toEqual([[4, []], [4, []], [4, []], [9, ['w/a']], [11, []], [12, []]]);
  expect(etcd.asked[0]).toMatchObject({ create_request: { key: keyspace.key('') } });
});

test('where nothing tells how far a watch is, a mark is written; it satisfies who waits', async () => {
  const etcd = new Scripted();
  const told = etcd.watch(true, 12);
  while (etcd.puts === 0) await new Promise((resolve) => { setTimeout(resolve, 5); });
  etcd.event(markKey, 12);
  await told;
  expect(etcd.asked.filter((request) => 'progress_request' in (request as object))).toEqual([]);
});

test('where answers never overtake events, they are asked for and believed', async () => {
  const etcd = new Scripted();
  const told = etcd.watch(false, 10);
  while (etcd.asked.length < 2) await new Promise((resolve) => { setTimeout(resolve, 5); });
  etcd.answer(10);
  expect(await told).toEqual([{ revision: 10, changes: [] }]);
  expect(etcd.asked[0]).toMatchObject({ create_request: { key: keyspace.key('w/') } });
  expect(etcd.puts).toBe(0);
});

test('a revision that comes in pieces is told whole or not at all', async () => {
  const etcd = new Scripted();
  const told = etcd.watch(false, 10);
  etcd.event('w/a', 9, true);
  etcd.event('w/b', 9, true);
  etcd.event('w/c', 9);
  etcd.event('w/d', 10);
  expect((await told).map(({ revision, changes }) => [revision, changes.map(({ key }) => key)])).toEqual([[9, ['w/a', 'w/b', 'w/c']], [10, ['w/d']]]);
});
