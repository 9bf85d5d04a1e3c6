import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from '@jest/globals';
import { BoundedMap } from '../security/bounded-map.js';
import { draw, random } from './support/random.js';

test('a bounded map forgets what was set longest ago, and only to make room', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1).set('b', 2).set('a', 3);
  expect([...map]).toEqual([
    ['b', 2],
    ['a', 3],
  ]);
  map.set('c', 4);
  expect([...map.keys()]).toEqual(['a', 'c']);
  map.delete('a');
  map.set('d', 5);
  expect([...map.keys()]).toEqual(['c', 'd']);
});

test('a bounded map makes what it does not hold, once', () => {
  const map = new BoundedMap<string, number>(1);
  let made = 0;
  const make = (): number => (made += 1);
  expect([map.getOrCreate('a', make), map.getOrCreate('a', make)]).toEqual([1, 1]);
  expect([map.getOrCreate('b', make), map.getOrCreate('a', make), map.size]).toEqual([2, 3, 1]);
});

test('a bounded map orders its keys by their last set', () => {
  const map = new BoundedMap<number, number>(8);
  let model: number[] = [];
  for (let i = 0; i < 20_000; i += 1) {
    const key = draw(12);
    if (i % 3000 === 2999) {
      map.clear();
      model = [];
    } else if (random() < 0.4) {
      map.delete(key);
      model = model.filter((other) => other !== key);
    } else {
      map.set(key, i);
      model = [...model.filter((other) => other !== key), key].slice(-8);
    }
    expect([...map.keys()]).toEqual(model);
  }
});

test('a bounded map that is not full keeps no table of before', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const map = new BoundedMap<string, Buffer>(100_000);
  const used = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const setAll = (times: number): void => {
    for (let i = 0; i < times * 1_000; i += 1) map.set(`key ${i % 1_000}`, Buffer.alloc(0));
  };
  setAll(2);
  const before = used();
  setAll(500);
  // 500 tables of a thousand entries take more than 10 MB.
  expect(used() - before).toBeLessThan(2 << 20);
  expect(map.size).toBe(1_000);
});
