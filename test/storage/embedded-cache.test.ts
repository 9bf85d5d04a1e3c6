import { expect, test } from '@jest/globals';
import { EntryCache } from '../../storage/embedded/entry-cache.js';
import type { Entry } from '../../storage/storage.js';
import { bytes } from './drive.js';

const entry = (key: string, value: Buffer = bytes(key)): Entry => ({ key, value, revision: 1 });
const fail = (key: string): never => {
  throw new Error(`${key} was read again`);
};

test('a key is read once, also if it is absent, and a new entry replaces it', () => {
  const cache = new EntryCache();
  expect(cache.get('a', entry)).toEqual(entry('a'));
  expect(cache.get('b', () => undefined)).toBeUndefined();
  expect(cache.get('a', fail)).toEqual(entry('a'));
  expect(cache.get('b', fail)).toBeUndefined();
  cache.set('a', undefined);
  cache.set('b', entry('b'));
  expect(cache.get('a', fail)).toBeUndefined();
  expect(cache.get('b', fail)).toEqual(entry('b'));
});

test('a key in use stays while others come and go; memory is bounded by number and by bytes', () => {
  for (const [value, count] of [
    [bytes('small'), 20_000],
    [Buffer.alloc(1 << 20), 40],
  ] as const) {
    const cache = new EntryCache();
    cache.set('in use', entry('in use'));
    for (let i = 0; i < count; i += 1) {
      cache.set(`other-${i}`, entry(`other-${i}`, value));
      expect(cache.get('in use', fail)).toEqual(entry('in use'));
    }
    expect(() => cache.get('other-0', fail)).toThrow('was read again');
  }
});
