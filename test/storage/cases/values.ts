import { expect } from '@jest/globals';
import { limits, TooLargeError } from '../../../storage/storage.js';
import { answered, bytes, everything, made, Watched } from '../drive.js';
import { withStore } from '../fixture.js';
import type { OpenStore } from '../store.js';

/** A driver may keep a value within the record that it read. */
const recordHeaderBytes = 32;
const printable = Array.from({ length: 94 }, (_, i) => String.fromCharCode(33 + i)).join('');

/** Odd keys and values, and the limits to the byte. */
export function valueCases(open: OpenStore): void {
  withStore(
    open,
    'empty values, zero bytes and every byte come back as they were',
    async (storage) => {
      const values = [
        Buffer.alloc(0),
        Buffer.alloc(1),
        Buffer.alloc(40),
        Buffer.from(Array.from({ length: 256 }, (_, i) => i)),
      ];
      await storage.commit(
        [],
        values.map((value, i) => ({ put: `v${i}`, value })),
      );
      for (const [i, value] of values.entries()) {
        expect((await storage.get(`v${i}`)).entry?.value.equals(value)).toBe(true);
      }
      expect((await storage.list(everything)).entries.map(({ value }) => value.length)).toEqual([
        0, 1, 40, 256,
      ]);
    },
  );

  withStore(
    open,
    'a value does not keep a larger buffer in memory that it was a part of',
    async (storage, store) => {
      const part = () => Buffer.from('x'.repeat(300)); // of the pool of small buffers
      const { revision } = await storage.get('v/a');
      const watched = new Watched(storage, 'v/', revision);
      for (let i = 0; i < 3; i += 1) {
        made(
          await storage.commit(
            [],
            [
              { put: 'v/a', value: part() },
              { put: 'v/b', value: part() },
            ],
          ),
        );
      }
      await watched.until(() => watched.changes.length === 6);
      await watched.stop();
      const { entry } = await storage.get('v/a');
      const { entries } = await storage.list(everything);
      await store.disturb();
      const again = (await store.storage.get('v/a')).entry;
      const values = [
        entry,
        again,
        ...entries,
        ...watched.changes.flatMap((change) => [change.entry, change.before]),
      ];
      for (const { value } of values.filter((value) => value !== undefined)) {
        expect(value.buffer.byteLength - value.length).toBeLessThanOrEqual(recordHeaderBytes);
      }
    },
  );

  withStore(
    open,
    'keys of every printable character, and the longest, stay apart and in byte order',
    async (storage) => {
      const keys = [
        printable,
        ...printable,
        'k'.repeat(limits.keyBytes),
        'k'.repeat(limits.keyBytes - 1),
      ].sort();
      for (const part of [keys.slice(0, 50), keys.slice(50)]) {
        made(
          await storage.commit(
            [],
            part.map((key) => ({ put: key, value: bytes(key) })),
          ),
        );
      }
      const { entries } = await storage.list({ start: '!', end: '~~' });
      expect(entries.map(({ key }) => key)).toEqual(keys);
      for (const { key, value } of entries) expect(value.toString()).toBe(key);
    },
  );

  withStore(open, 'malformed keys are refused', async (storage) => {
    for (const key of ['', 'a b', 'a\n', 'ä', 'a\0', 'k'.repeat(limits.keyBytes + 1)]) {
      await expect(storage.commit([], [{ put: key, value: bytes('x') }])).rejects.toThrow(
        TooLargeError,
      );
      await expect(storage.commit([{ key, is: 'absent' }], [])).rejects.toThrow(TooLargeError);
      await expect(storage.get(key)).rejects.toThrow(TooLargeError);
    }
  });

  withStore(
    open,
    'a hundred checks and writes pass, one more of either does not',
    async (storage) => {
      const keys = Array.from({ length: 101 }, (_, i) => `k${i}`);
      const checks = keys.map((key) => ({ key, is: 'absent' as const }));
      const writes = keys.map((key) => ({ put: key, value: bytes('x') }));
      await expect(storage.commit(checks, [])).rejects.toThrow(TooLargeError);
      await expect(storage.commit([], writes)).rejects.toThrow(TooLargeError);
      made(await storage.commit(checks.slice(1), writes.slice(1)));
      expect((await storage.list(everything)).entries).toHaveLength(100);
    },
  );

  withStore(
    open,
    'a commit of exactly a mebibyte passes, one byte more does not',
    async (storage) => {
      const value = Buffer.alloc(limits.commitBytes - 3, 7);
      await expect(storage.commit([], [{ put: 'key1', value }])).rejects.toThrow(TooLargeError);
      made(await storage.commit([], [{ put: 'key', value }]));
      expect((await storage.get('key')).entry?.value.equals(value)).toBe(true);
    },
  );

  withStore(open, 'pages over every message limit are put together', async (storage) => {
    const { revision } = await storage.get('a');
    const watched = new Watched(storage, 'l', revision);
    for (let i = 0; i < 6; i++) {
      made(await storage.commit([], [{ put: `l${i}`, value: Buffer.alloc(900_000, i) }]));
    }
    const { entries, more } = await answered(() => storage.list(everything));
    expect(entries.map(({ value }) => value.equals(Buffer.alloc(900_000, value[0]!)))).toEqual(
      Array.from({ length: 6 }, () => true),
    );
    expect(more).toBe(0);
    await watched.until(() => watched.changes.length === 6);
    expect(watched.changes[5]!.entry!.value.length).toBe(900_000);
    await watched.stop();
  });
}
