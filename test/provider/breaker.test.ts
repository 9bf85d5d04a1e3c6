import { afterEach, expect, jest, test } from '@jest/globals';
import { CircuitBreaker } from '../../provider/claims/circuit-breaker.js';
import { ResponseCache } from '../../provider/claims/response-cache.js';

let now = 0;
jest.spyOn(performance, 'now').mockImplementation(() => now);
afterEach(() => {
  now = 0;
  jest.useRealTimers();
});

const fail = (breaker: CircuitBreaker, times: number, version = '1'): void => {
  for (let i = 0; i < times; i += 1) {
    if (breaker.enter('s', version)) breaker.leave('s', version, false);
  }
};

test('five failures in a row keep everybody away for half a minute', () => {
  const breaker = new CircuitBreaker();
  fail(breaker, 4);
  breaker.leave('s', '1', true);
  fail(breaker, 4);
  expect(breaker.enter('s', '1')).toBe(true);
  breaker.leave('s', '1', false);
  expect(breaker.enter('s', '1')).toBe(false);
  expect(breaker.enter('other', '1')).toBe(true);
  now = 29_999;
  expect(breaker.enter('s', '1')).toBe(false);
  now = 30_000;
  expect([breaker.enter('s', '1'), breaker.enter('s', '1')]).toEqual([true, false]);
  breaker.leave('s', '1', false);
  now = 59_999;
  expect(breaker.enter('s', '1')).toBe(false);
  now = 60_000;
  expect(breaker.enter('s', '1')).toBe(true);
  breaker.leave('s', '1', true);
  expect([breaker.enter('s', '1'), breaker.enter('s', '1')]).toEqual([true, true]);
});

test('a supplier that was changed starts again without failures', () => {
  const breaker = new CircuitBreaker();
  fail(breaker, 5);
  expect(breaker.enter('s', '2')).toBe(true);
  breaker.leave('s', '1', false);
  fail(breaker, 4, '2');
  expect(breaker.enter('s', '2')).toBe(true);
});

test('an answer is asked for once a minute, for all whom it covers', async () => {
  jest.useFakeTimers();
  const answers = new ResponseCache<string>();
  let asked = 0;
  const ask = async (): Promise<string> => `answer ${++asked}`;
  expect(
    await Promise.all([answers.get('k', ['a', 'b'], ask), answers.get('k', ['b'], ask)]),
  ).toEqual(['answer 1', 'answer 1']);
  expect(await answers.get('other', ['a'], ask)).toBe('answer 2');
  expect(await answers.get('k', ['c'], ask)).toBe('answer 3');
  expect(await answers.get('k', ['a'], ask)).toBe('answer 4');
  jest.advanceTimersByTime(59_999);
  expect(await answers.get('k', ['a'], ask)).toBe('answer 4');
  jest.advanceTimersByTime(1);
  expect(await answers.get('k', ['a'], ask)).toBe('answer 5');
  expect(await answers.get('none', ['a'], async () => undefined)).toBeUndefined();
  expect(await answers.get('none', ['a'], ask)).toBe('answer 6');
});
