import { expect, test } from '@jest/globals';
import { GenerationCache } from '../../storage/generation-cache.js';

const maxBytes = 100_000;

test('a value is there until another replaces it', () => {
  const cache = new GenerationCache<string>(maxBytes);
  expect(cache.get('a')).toBeUndefined();
  cache.set('a', 'first', 10);
  expect(cache.get('a')).toBe('first');
  cache.set('a', 'second', 10);
  expect(cache.get('a')).toBe('second');
});

test.each([
  ['small', 1, 2000],
  ['large', maxBytes / 2, 10],
])('a %s value in use stays while others come and go', (_, bytes, count) => {
  const cache = new GenerationCache<number>(maxBytes);
  cache.set('in use', 1, 1);
  for (let i = 0; i < count; i += 1) {
    cache.set(`other-${i}`, i, bytes);
    expect(cache.get('in use')).toBe(1);
    expect(cache.get(`other-${i}`)).toBe(i);
  }
  const left = Array.from({ length: count }, (_, i) => cache.get(`other-${i}`));
  expect(left.filter((one) => one !== undefined).length * bytes).toBeLessThan(2 * maxBytes);
  expect(left[0]).toBeUndefined();
});

test('a value that is written again and again drops no other', () => {
  const cache = new GenerationCache<number>(maxBytes);
  cache.set('other', 1, 1);
  for (let i = 0; i < 100; i += 1) cache.set('again', i, maxBytes / 4);
  expect([cache.get('again'), cache.get('other')]).toEqual([99, 1]);
});

test('a value that is larger than the cache is not kept', () => {
  const cache = new GenerationCache<string>(maxBytes);
  cache.set('a', 'small', 10);
  cache.set('b', 'small', 10);
  cache.set('a', 'large', maxBytes);
  expect([cache.get('a'), cache.get('b')]).toEqual([undefined, 'small']);
});
