import type { Bench } from '../bench.js';
import { storeWith } from '../filled.js';
import { cpuPerOperation, type Row, type Side } from '../row.js';
import { loadedSide } from '../side.js';

const counts = [
  ['1 k', 1_000],
  ['1 M', 1_000_000],
] as const;
const inFlight = 8;
const shared = {
  unit: 'µs',
  ours: '1 M',
  peer: '1 k',
  of: cpuPerOperation,
  is: '≤',
  gate: 1.5,
  stretch: 1.1,
} as const;

async function sides(
  bench: Bench,
  load: 'get' | 'watchstart',
  warm: Side['warm'],
): Promise<Side[]> {
  return Promise.all(
    counts.map(async ([name, count]) => {
      const { served, operator } = await storeWith(bench, count);
      const own = `/api/v1beta1/accounts/${operator.name}`;
      const { metadata } = await operator.browser.fetch('/api/v1beta1/accounts?limit=1');
      const target =
        load === 'get'
          ? own
          : `/api/v1beta1/accounts?watch=true&resourceVersion=${metadata.resourceVersion}`;
      const requests = Array.from({ length: inFlight }, () =>
        operator.browser.bytes('GET', target),
      );
      return loadedSide(bench, {
        name,
        server: served,
        load,
        args: {
          port: served.port,
          requests,
          ...(load === 'get' && { expect: '"kind":"Account"' }),
        },
        warm,
      });
    }),
  );
}

/** A watch begun at a recent version, among a million objects and among a thousand. */
export const watchStart: Row = {
  slice: 0.5,
  metrics: [{ ...shared, id: '9a', workload: 'watch start, growth to 1 M' }],
  open: (bench) => sides(bench, 'watchstart', { operations: 3_000 }),
};

/** One object read, among a million and among a thousand. */
export const getGrowth: Row = {
  slice: 0.5,
  metrics: [{ ...shared, id: '9b', workload: 'get account, growth to 1 M' }],
  open: (bench) => sides(bench, 'get', { operations: 40_000 }),
};
