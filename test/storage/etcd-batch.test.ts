import { expect, test } from '@jest/globals';
import { type BatchMember, takeBatch } from '../../storage/etcd/batch.js';
import { checkVersion, ordersProgress, parseVersion } from '../../storage/etcd/version.js';
import type { Check, Write } from '../../storage/storage.js';

function member(checks: readonly string[], writes: readonly string[], bytes = 100): BatchMember {
  return {
    checks: checks.map((key): Check => ({ key, is: 'absent' })),
    writes: writes.map((key): Write => ({ put: key, value: Buffer.alloc(1) })),
    bytes,
    nonce: Buffer.alloc(12),
    leases: undefined,
    deadline: Infinity,
    resolve: () => undefined,
    reject: () => undefined,
  };
}

const many = (count: number, prefix: string): string[] =>
  Array.from({ length: count }, (_, i) => prefix + i);

test('members that check what another writes go in different batches, in order', () => {
  const [a, b, c, d] = [
    member(['x'], ['y']),
    member(['y'], ['x']),
    member([], ['y']),
    member(['z'], ['z']),
  ];
  const queue = [a, b, c, d];
  expect(takeBatch(queue)).toEqual([a, d]);
  expect(queue).toEqual([b, c]);
  expect(takeBatch(queue)).toEqual([b]);
  expect(takeBatch(queue)).toEqual([c]);
});

test('nothing overtakes a member that it conflicts with', () => {
  const [first, waits, behind] = [member([], ['a']), member(['a'], ['b']), member(['b'], ['c'])];
  const queue = [first, waits, behind];
  expect(takeBatch(queue)).toEqual([first]);
  expect(takeBatch(queue)).toEqual([waits]);
});

test('members that only check the same key share a batch', () => {
  const queue = [member(['a'], ['b']), member(['a'], ['c'])];
  expect(takeBatch(queue)).toHaveLength(2);
});

test('members and the widest of them stay within the operations of a transaction', () => {
  const queue = [
    ...many(63, 'k').map((key) => member([key], [key])),
    member([], many(64, 'wide')),
    ...many(10, 'l').map((key) => member([], [key])),
  ];
  expect(takeBatch(queue)).toHaveLength(64);
  expect(takeBatch(queue)).toHaveLength(10);
});

test('a member that is too wide or too large goes alone, wherever it stands', () => {
  for (const alone of [member([], many(65, 'k')), member([], ['big'], 1 << 20)]) {
    const queue = [alone, member([], ['a']), member([], ['b'])];
    expect(takeBatch(queue)).toEqual([alone]);
    expect(takeBatch(queue)).toHaveLength(2);
    const behind = [member([], ['a']), alone, member([], ['b'])];
    expect(takeBatch(behind)).toHaveLength(2);
    expect(takeBatch(behind)).toEqual([alone]);
  }
});

test('a batch stays under a mebibyte', () => {
  const queue = many(5, 'k').map((key) => member([], [key], 300_000));
  expect([takeBatch(queue).length, takeBatch(queue).length]).toEqual([3, 2]);
});

test('versions of etcd are refused, warned of or accepted', () => {
  expect(() => checkVersion('3.3.25')).toThrow(/too old/);
  for (const version of ['3.4.23', '3.5.32', '3.6.13']) {
    expect(checkVersion(version)).toContain(version);
  }
  for (const version of ['3.5.33', '3.6.14', '3.7.0', '4.0.0']) {
    expect(checkVersion(version)).toBeUndefined();
  }
  expect(['3.4.24', '3.5.7'].map((version) => ordersProgress(parseVersion(version)))).toEqual([
    false,
    false,
  ]);
  expect(
    ['3.4.25', '3.5.8', '3.6.0', '3.7.1'].map((version) => ordersProgress(parseVersion(version))),
  ).toEqual([true, true, true, true]);
});
