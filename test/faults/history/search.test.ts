import { describe, expect, test } from '@jest/globals';
import fc from '../../support/fast-check.js';
import { isLinearizable, mostOperations, type Operation } from './search.js';

type Register = number;
const put = (value: number, start: number, end?: number): Operation<Register> => ({
  start,
  ...(end !== undefined && { end }),
  step: () => [value],
});
const read = (value: number, start: number, end: number): Operation<Register> => ({
  start,
  end,
  step: (state) => (state === value ? [state] : []),
});
const swap = (
  from: number,
  to: number,
  swapped: boolean,
  start: number,
  end: number,
): Operation<Register> => ({
  start,
  end,
  step: (state) => ((state === from) === swapped ? [swapped ? to : state] : []),
});

describe('a register', () => {
  test.each<[string, Operation<Register>[]]>([
    ['nothing at all', []],
    ['one after another', [put(1, 0, 1), read(1, 2, 3), put(2, 4, 5), read(2, 6, 7)]],
    ['a read during a write sees either', [put(1, 0, 9), read(0, 1, 2), read(1, 3, 4)]],
    ['two writes at once end as either', [put(1, 0, 9), put(2, 0, 9), read(1, 10, 11)]],
    ['a write without an answer may have been made', [put(1, 0), read(1, 5, 6)]],
    ['or not', [put(1, 0), read(0, 5, 6)]],
    ['or be made late', [put(1, 0), read(0, 5, 6), read(1, 7, 8)]],
    ['one of two swaps wins', [swap(0, 1, true, 0, 9), swap(0, 2, false, 0, 9), read(1, 10, 11)]],
  ])('explains: %s', (_, operations) => {
    expect(isLinearizable(operations, 0)).toBe(true);
  });

  test.each<[string, Operation<Register>[]]>([
    ['a stale read', [put(1, 0, 1), read(0, 2, 3)]],
    ['a read of what comes later', [read(1, 0, 1), put(1, 2, 3)]],
    ['a value that no one wrote', [put(1, 0, 9), read(2, 1, 2)]],
    ['a read that goes back', [put(1, 0, 9), read(1, 1, 2), read(0, 3, 4)]],
    [
      'two readers that disagree on an order',
      [put(1, 0, 4), put(2, 0, 4), read(1, 5, 6), read(2, 7, 8)],
    ],
    ['a write without an answer that is undone', [put(1, 0), read(1, 1, 2), read(0, 3, 4)]],
    ['two swaps that both win', [swap(0, 1, true, 0, 9), swap(0, 2, true, 0, 9)]],
    ['a swap that loses to no other', [swap(0, 1, false, 0, 1)]],
  ])('does not explain: %s', (_, operations) => {
    expect(isLinearizable(operations, 0)).toBe(false);
  });
});

interface Drawn {
  readonly what: 'put' | 'read' | 'swap';
  readonly value: number;
  readonly start: number;
  readonly length: number;
  readonly lost: boolean;
}
const drawn: fc.Arbitrary<Drawn> = fc.record({
  what: fc.constantFrom('put', 'read', 'swap'),
  value: fc.integer({ min: 0, max: 2 }),
  start: fc.integer({ min: 0, max: 12 }),
  length: fc.integer({ min: 1, max: 6 }),
  lost: fc.boolean(),
});
function made({ what, value, start, length, lost }: Drawn): Operation<Register> {
  if (what === 'put') return put(value, start, lost ? undefined : start + length);
  if (what === 'read') return read(value, start, start + length);
  return swap(value, (value + 1) % 3, !lost, start, start + length);
}

/** Every order that keeps what came one after another, tried without cleverness. */
function tried(operations: readonly Operation<Register>[], state: Register): boolean {
  if (operations.every(({ end }) => end === undefined)) return true;
  return operations.some((operation, i) => {
    const others = operations.filter((_, j) => j !== i);
    return (
      !others.some(({ end }) => end !== undefined && end < operation.start) &&
      operation.step(state).some((next) => tried(others, next))
    );
  });
}

test('the search agrees with trying every order', () => {
  const answers = { true: 0, false: 0 };
  fc.assert(
    fc.property(fc.array(drawn, { maxLength: 6 }), (all) => {
      const operations = all.map(made);
      const expected = tried(operations, 0);
      answers[`${expected}`] += 1;
      expect(isLinearizable(operations, 0)).toBe(expected);
    }),
    { numRuns: 3_000 },
  );
  expect(Math.min(answers.true, answers.false)).toBeGreaterThan(100);
});

test('two hundred at once are searched, more are refused', () => {
  const many = (count: number): Operation<Register>[] =>
    Array.from({ length: count }, (_, i) => put(i, i, i + 2.5));
  expect(isLinearizable([...many(mostOperations - 1), read(mostOperations - 2, 900, 901)], 0)).toBe(
    true,
  );
  expect(isLinearizable([...many(mostOperations - 1), read(0, 900, 901)], 0)).toBe(false);
  expect(() => isLinearizable(many(mostOperations + 1), 0)).toThrow(RangeError);
});
