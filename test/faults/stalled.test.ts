import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openEtcd } from '../../storage/etcd/etcd.js';
import { type Storage, UnavailableError, UnknownOutcomeError } from '../../storage/storage.js';
import { answered, made } from '../storage/drive.js';
import { type EtcdServer, startEtcd } from '../storage/etcd-server.js';
import { Stream } from '../support/network/stream.js';
import { signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import { stopAll, temporary } from '../support/service.js';
import { Served } from './served.js';

const [objects, rounds] = [80, 125];
const mebibyte = 1 << 20;

let etcd: EtcdServer;
let storage: Storage;
let served: Served;
let operator: Tab;
beforeAll(async () => {
  etcd = await startEtcd();
  storage = await openEtcd({ servers: [etcd.endpoint], prefix: '/vestibule/' });
  [served] = (await Served.replicas(1, temporary(), etcd.endpoint, '', () => [
    '--operators',
    'op@example.test',
  ])) as [Served];
  operator = (await signIn(served, 'op@example.test')).tab;
});
afterAll(async () => {
  await served?.end();
  await storage?.close();
  await etcd?.stop();
  await stopAll();
});

/** What the process has in memory, in bytes. */
const resident = (): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${served.pid}/status`, 'utf8'))![1]) * 1024;

/** One commit; again where a slow machine's etcd answered too late, unless it did write. */
async function write(values: ReadonlyMap<string, Buffer>): Promise<void> {
  const [first] = [...values.keys()] as [string, ...string[]];
  const { revision } = (await answered(() => storage.get(first))).entry!;
  try {
    made(
      await storage.commit(
        [],
        [...values].map(([put, value]) => ({ put, value })),
      ),
    );
  } catch (error) {
    if (!(error instanceof UnknownOutcomeError || error instanceof UnavailableError)) throw error;
    if ((await answered(() => storage.get(first))).entry!.revision === revision) {
      await write(values);
    }
  }
}

/** Frees the long texts of the events received: all of them together are 400 MB. */
function dropText({ events }: Stream): void {
  for (const { object } of events) delete object.metadata.annotations;
}

/**
 * Each object written again in one commit a round, ten thousand characters each; the readers are
 * never more than two rounds behind.
 */
async function change(
  values: ReadonlyMap<string, Buffer>,
  readers: readonly Stream[],
  from: number,
): Promise<number> {
  let highest = resident();
  for (let round = 1; round <= rounds; round += 1) {
    await write(values);
    for (const reader of readers) {
      await reader.until(({ events }) => events.length >= from + (round - 2) * objects, 30_000);
    }
    highest = Math.max(highest, resident());
    readers.forEach(dropText);
  }
  for (const reader of readers) {
    await reader.until(({ events }) => events.length >= from + rounds * objects, 30_000);
  }
  return highest;
}

test('a reader that stops is cut within ten thousand changes; others get all', async () => {
  const values = new Map<string, Buffer>();
  for (let i = 0; i < objects; i += 1) {
    await operator
      .post('groups', {
        metadata: { name: `g${i}`, annotations: { large: 'x'.repeat(10_000) } },
        spec: { displayName: `g${i}` },
      })
      .is(201);
    const key = `objects/groups/g${i}`;
    values.set(key, (await storage.get(key)).entry!.value);
  }
  const watch = (): Promise<Stream> =>
    new Stream(operator, 'groups?watch=true').until(({ events }) => events.length === objects);
  const readers = [await watch(), await watch()];
  const usual = await change(values, readers, objects);
  const stalled = await watch();
  stalled.stall();
  const highest = await change(values, readers, objects * (rounds + 1));
  stalled.goOn();
  await stalled.until(({ ended }) => ended, 30_000);
  expect([stalled.clean, stalled.events.length < objects * (rounds + 1)]).toEqual([true, true]);
  expect((highest - usual) / mebibyte).toBeLessThan(64);
  process.stderr.write(
    `resident: ${Math.round(usual / mebibyte)} MiB at most without a reader that stops, ${Math.round(highest / mebibyte)} with one, which got ${stalled.events.length - objects} of ${objects * rounds}\n`,
  );
  for (const reader of readers) {
    const versions = reader.events
      .slice(objects)
      .map(({ object }) => `${object.metadata.resourceVersion} ${object.metadata.name}`);
    expect([reader.ended, versions.length, new Set(versions).size]).toEqual([
      false,
      2 * rounds * objects,
      2 * rounds * objects,
    ]);
    reader.close();
  }
}, 180_000);
