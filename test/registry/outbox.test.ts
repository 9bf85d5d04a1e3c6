import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Transport } from '../../mail/message.js';
import { mailWorker } from '../../mail/worker.js';
import type { Log } from '../../observability/log.js';
import type { Outcome, Worker } from '../../registry/store/outbox.js';
import { decodeRow, encodeRow, outboxRow } from '../../registry/store/outbox-row.js';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import { prefixRange, type Storage, UnavailableError } from '../../storage/storage.js';
import { until } from '../provider/support/fixture.js';
import { clock } from '../support/clock.js';
import { Room } from './room.js';

let directory: string;
let storage: Storage;
const rooms: Room[] = [];

beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'vestibule-outbox-'));
  storage = await openEmbedded({ directory });
});
afterEach(async () => {
  clock.release();
  for (const room of rooms.splice(0)) await room.close();
  await storage.close();
  rmSync(directory, { recursive: true });
});

async function open(...workers: Worker[]): Promise<Room> {
  const room = await Room.open(storage, { workers });
  rooms.push(room);
  return room;
}

/** A worker that records its runs and answers with `answer`. */
function worker(
  delivery: Worker['delivery'],
  answer: (payload: any, attempt: number) => Outcome | Promise<Outcome> = () => ({ done: true }),
  parallel = 4,
): Worker & { ran: { id: string; payload: any; attempt: number }[] } {
  const ran: { id: string; payload: any; attempt: number }[] = [];
  return {
    name: 'errand',
    delivery,
    maxParallel: parallel,
    ran,
    async run(payload, { id, attempt }) {
      ran.push({ id, payload, attempt });
      return answer(payload, attempt);
    },
  };
}

const rows = async () => (await storage.list(prefixRange('outbox/'))).entries;
const empty = () => until(async () => (await rows()).length === 0, 'an empty outbox');

/** Leaves a row as a process leaves it that died while carrying it out, `ago` milliseconds ago. */
async function abandon(id: string, ago: number): Promise<void> {
  const key = `outbox/errand/${id}`;
  const { entry } = await storage.get(key);
  const { head, sealed } = decodeRow(entry!.value);
  await storage.commit(
    [],
    [
      {
        put: key,
        value: encodeRow({ ...head, attempt: 1, claimed: Date.now() - ago }, sealed),
        ...(entry!.expires && { expires: entry!.expires }),
      },
    ],
  );
}

describe('the outbox', () => {
  test('carries out what a transaction left, once, with what belongs to it in one commit', async () => {
    const part = { checks: [], writes: [{ put: 'meta/noted', value: Buffer.from('yes') }] };
    const one = worker('AtMostOnce', () => ({ done: true, part }));
    const room = await open(one);
    await room.later('errand', { say: 'hello' }, { id: 'a' });
    await empty();
    expect(one.ran).toEqual([{ id: 'a', payload: { say: 'hello' }, attempt: 1 }]);
    const [noted, row] = [await storage.get('meta/noted'), await storage.get('outbox/errand/a')];
    expect(noted.entry!.value.toString()).toBe('yes');
    expect(row.entry).toBeUndefined();
  });

  test('rests where the store takes no writes, and goes on when it does', async () => {
    const commit = storage.commit.bind(storage);
    const one = worker('AtMostOnce');
    const room = await open(one);
    let refused = 0;
    await room.later('errand', {}, { id: 'a', notBefore: Date.now() + 200 } as never);
    storage.commit = () => {
      refused += 1;
      return Promise.reject(new UnavailableError('the disk is full'));
    };
    await until(async () => refused > 0, 'a try');
    for (let turn = 0; turn < 50; turn += 1) {
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    expect(refused).toBe(1);
    storage.commit = commit;
    await empty();
    expect(one.ran).toHaveLength(1);
  });

  test('leaves what another replica wrote to it for a second, and takes it up then', async () => {
    const one = worker('AtMostOnce');
    const room = await open(one);
    const written = outboxRow(
      room.keys,
      'errand',
      { say: 'hello' },
      { id: 'theirs', notBefore: Date.now(), until: Date.now() + 60_000 },
    );
    const { head, sealed } = decodeRow(written.value);
    const from = Date.now();
    await storage.commit(
      [],
      [{ ...written, value: encodeRow({ ...head, by: 'another' }, sealed) }],
    );
    await room.later('errand', { say: 'me first' }, { id: 'own' });
    await empty();
    expect(one.ran.map(({ id }) => id)).toEqual(['own', 'theirs']);
    expect(Date.now() - from).toBeGreaterThanOrEqual(1_000);
  });

  test('forgets a row that another replica deleted before it was due', async () => {
    const one = worker('Idempotent');
    const room = await open(one);
    const inAnHour = Date.now() + 3_600_000;
    await room.later('errand', {}, { id: 'a', notBefore: inAnHour, until: inAnHour } as never);
    expect(room.outbox.pending('errand').rows).toBe(1);
    await storage.commit([], [{ delete: 'outbox/errand/a' }]);
    await until(async () => room.outbox.pending('errand').rows === 0, 'the end of the row');
    expect(one.ran).toEqual([]);
  });

  test('runs a row once whose deletion a list does not know', async () => {
    const one = worker('Idempotent');
    const list = storage.list.bind(storage);
    const room = await open(one);
    let openGate = (): void => {};
    const gate = new Promise<void>((resolve) => {
      openGate = resolve;
    });
    let held = 0;
    let pendingAtList = 1;
    storage.list = async (range, options) => {
      if (range.start === 'outbox/') pendingAtList = room.outbox.pending('errand').rows;
      const page = await list(range, options);
      if (range.start === 'outbox/' && page.entries.length > 0) {
        held += 1;
        await gate;
      }
      return page;
    };
    const inAnHour = Date.now() + 3_600_000;
    await room.later('errand', {}, { id: 'a', notBefore: inAnHour, until: inAnHour } as never);
    await until(async () => held === 1, 'a list with the row');
    await room.later('errand', {}, { id: 'a' });
    await until(async () => (await list(prefixRange('outbox/'))).entries.length === 0, 'its end');
    pendingAtList = -1;
    openGate();
    await until(async () => pendingAtList >= 0, 'the next list');
    storage.list = list;
    expect([pendingAtList, one.ran.length]).toEqual([0, 1]);
  });

  test('takes each row up when it is due, in any order of arrival', async () => {
    const one = worker('AtMostOnce');
    const room = await open(one);
    const now = Date.now();
    await room.store.change(room.store.systemCall(), async (tx) => {
      for (const [id, wait] of [
        ['late', 600_000],
        ['second', 3_000],
        ['first', 150],
        ['none', 0],
      ] as const) {
        await tx.enqueue('errand', {}, now + 900_000, { id, notBefore: now + wait });
      }
    });
    await until(async () => (await rows()).length === 1, 'what is due');
    expect(one.ran.map(({ id }) => id)).toEqual(['none', 'first', 'second']);
    expect((await rows()).map(({ key }) => key)).toEqual(['outbox/errand/late']);
  });

  test('holds nothing of a payload in the clear', async () => {
    const room = await open();
    await room.later('errand', { say: 'a secret code' }, { id: 'a' });
    const [entry] = await rows();
    expect(entry!.value.toString('latin1')).not.toContain('secret');
    expect(() => room.keys.open('outbox/errand/b', decodeRow(entry!.value).sealed)).toThrow();
  });

  test('a transaction that does not commit leaves no row', async () => {
    const one = worker('AtMostOnce');
    const room = await open(one);
    await expect(
      room.store.change(room.store.systemCall(), async (tx) => {
        await tx.enqueue('errand', {}, Date.now() + 1000, { id: 'a' });
        throw new Error('changed its mind');
      }),
    ).rejects.toThrow('changed its mind');
    await room.later('errand', {}, { id: 'b' });
    await empty();
    expect(one.ran.map(({ id }) => id)).toEqual(['b']);
  });

  test('AtMostOnce: a row that another replica began and did not finish is dropped', async () => {
    const quiet = await open();
    await quiet.later('errand', {}, { id: 'a' });
    await abandon('a', 31_000);
    const one = worker('AtMostOnce');
    await open(one);
    await empty();
    expect(one.ran).toEqual([]);
  });

  test('AtMostOnce: what is slow is not dropped by another replica', async () => {
    clock.own();
    let refuse!: (outcome: Outcome) => void;
    const [slow, other] = [
      worker('AtMostOnce', (_, attempt) =>
        attempt > 1
          ? { done: true }
          : new Promise((resolve) => {
              refuse = resolve;
            }),
      ),
      worker('AtMostOnce'),
    ];
    const { claimMs: claimFor } = mailWorker(
      { from: () => 'sign-in@example.test', appearance: () => ({}) },
      { transport: {} as Transport },
      {} as Log,
    ) as Required<Worker>;
    const room = await open({ ...slow, claimMs: claimFor });
    await room.later('errand', {}, { id: 'a' });
    await until(async () => slow.ran.length === 1, 'the first try');
    clock.advance(100_000);
    await open({ ...other, claimMs: claimFor });
    await new Promise((resolve) => {
      setTimeout(resolve, 1_500);
    }); // another replica waits a second
    refuse({ done: false, notBefore: Date.now() });
    await until(async () => slow.ran.length + other.ran.length === 2, 'the second try');
    await empty();
  });

  test('AtLeastOnce: a row of another replica is adopted when its claim expires', async () => {
    const quiet = await open();
    for (const id of ['fresh', 'old']) await quiet.later('errand', {}, { id });
    await abandon('old', 31_000);
    await abandon('fresh', 28_500);
    const one = worker('AtLeastOnce');
    await open(one);
    await until(async () => one.ran.length === 1, 'the old one');
    expect(one.ran).toEqual([{ id: 'old', payload: {}, attempt: 2 }]);
    await empty();
    expect(one.ran[1]).toEqual({ id: 'fresh', payload: {}, attempt: 2 });
  });

  test('keeps the time of the next try over a restart', async () => {
    clock.own();
    const refusing = worker('AtLeastOnce', () => ({
      done: false,
      notBefore: Date.now() + 3_600_000,
    }));
    const first = await open(refusing);
    await first.later('errand', {}, { id: 'a', until: Date.now() + 7_200_000 });
    await until(async () => {
      const [entry] = await rows();
      return (
        entry &&
        decodeRow(entry.value).head.attempt === 1 &&
        decodeRow(entry.value).head.claimed === undefined
      );
    }, 'the refusal');
    await rooms.pop()!.close();
    const second = worker('AtLeastOnce');
    const room = await open(second);
    await room.later('errand', { later: true }, { id: 'b' });
    await until(async () => second.ran.length === 1, 'the new row');
    expect(second.ran.map(({ id }) => id)).toEqual(['b']);
    await rooms.pop()!.close();
    clock.advance(3_601_000);
    const third = worker('AtLeastOnce');
    await open(third);
    await empty();
    expect(third.ran).toEqual([{ id: 'a', payload: {}, attempt: 2 }]);
  });

  test('a row that failed waits and is tried again; one over its time is dropped', async () => {
    clock.own();
    const one = worker('AtLeastOnce', (_payload, attempt) => {
      if (attempt === 1) throw new Error('no');
      return { done: true };
    });
    const room = await open(one);
    await room.later('errand', {}, { id: 'over', until: Date.now() - 1 });
    await until(async () => (await rows()).length === 0, 'the end of what was over');
    expect(one.ran).toEqual([]);
    await room.later('errand', {}, { id: 'a' });
    await until(async () => {
      const [entry] = await rows();
      return entry && decodeRow(entry.value).head.notBefore > Date.now() + 5_000;
    }, 'the refusal');
    clock.advance(11_000);
    await room.later('errand', {}, { id: 'wake' });
    await empty();
    expect(one.ran.filter(({ id }) => id === 'a').map(({ attempt }) => attempt)).toEqual([1, 2]);
  });

  test('two replicas carry each row out once', async () => {
    const workers = [worker('AtMostOnce'), worker('AtMostOnce'), worker('AtMostOnce')];
    const [room] = [await open(workers[0]!), await open(workers[1]!), await open(workers[2]!)];
    await Promise.all(
      Array.from({ length: 60 }, (_, i) => room.later('errand', { i }, { id: `row-${i}` })),
    );
    await empty();
    const ran = workers.flatMap((worker) => worker.ran);
    expect(ran.map(({ id }) => id).sort()).toEqual(
      Array.from({ length: 60 }, (_, i) => `row-${i}`).sort(),
    );
    expect(ran.every(({ attempt }) => attempt === 1)).toBe(true);
  });

  test('does no more at once than it may, and finishes what is under way when it stops', async () => {
    let now = 0;
    let max = 0;
    const gate: { open?: () => void } = {};
    const opened = new Promise<void>((resolve) => {
      gate.open = resolve;
    });
    const one = worker(
      'AtMostOnce',
      async () => {
        max = Math.max(max, (now += 1));
        await opened;
        now -= 1;
        return { done: true };
      },
      3,
    );
    const room = await open(one);
    for (let i = 0; i < 10; i += 1) await room.later('errand', {}, { id: `row-${i}` });
    await until(async () => now === 3, 'three at once');
    const stopping = rooms.pop()!.close();
    gate.open!();
    await stopping;
    expect([max, now, one.ran.length]).toEqual([3, 0, 3]);
    expect((await rows()).length).toBe(7);
    expect((await rows()).every(({ value }) => decodeRow(value).head.claimed === undefined)).toBe(
      true,
    );
  });
});
