import { describe, expect, test } from '@jest/globals';
import { type Bounds, evaluate, exitCodeOf } from './bench/measure/evaluate.js';
import { footprintOf } from './bench/measure/footprint.js';
import { measure } from './bench/measure/measure.js';
import { lineOf, sideLines } from './bench/measure/report.js';
import { boundOf, resultOf, without } from './bench/measure/result.js';
import { perSignIn, retainedIn } from './bench/measure/retained-content.js';
import { median, percentile, spreadOf } from './bench/measure/statistics.js';
import { isWanted } from './bench/options.js';
import { parseStat, treeOf, usageOfTree } from './bench/processes.js';
import { cpuPerOperation, type Metric, type Sample, type Side } from './bench/row.js';

const atMost: Bounds = { is: '≤', gate: 3, stretch: 2 };
const atLeast: Bounds = { is: '≥', gate: 0.45, stretch: 0.6 };
const sample = (cpuMicros: number, client?: number): Sample => ({
  operations: 10,
  seconds: 1,
  cpuMicros,
  p50: 0.001,
  p99: 0.002,
  rss: 100,
  ...(client !== undefined && { client }),
});
const metric: Metric = {
  id: '1a',
  workload: 'get',
  unit: 'µs',
  ours: 'ours',
  peer: 'raw',
  of: cpuPerOperation,
  is: '≤',
  gate: { 20: 3, 24: 2 },
  stretch: 1.5,
};

describe('one metric', () => {
  test.each([
    ['the gate holds', atMost, [2.4, 2.5, 2.6], 'pass'],
    ['the aim holds', atMost, [1.9, 2.0, 1.8], 'pass, stretch'],
    ['the gate is broken', atMost, [3.2, 3.1, 2.9], 'fail'],
    ['at the gate', atMost, [3, 3, 3], 'pass'],
    ['more is better', atLeast, [0.5, 0.46, 0.55], 'pass'],
    ['more is better, aim', atLeast, [0.6, 0.61, 0.7], 'pass, stretch'],
    ['more is better, broken', atLeast, [0.4, 0.44, 0.46], 'fail'],
    ['a gate without an aim holds', { is: '≥', gate: 0.9 }, [1, 1, 1.1], 'pass'],
    ['a gate without an aim is broken', { is: '≥', gate: 0.9 }, [0.8, 0.8, 0.9], 'fail'],
    ['rounds that disagree', atMost, [1, 1.2, 1.3], 'unsteady'],
    ['nothing was done in a round', atMost, [1, NaN, 1], 'unsteady'],
  ] as const)('%s', (_what, bounds, rounds, verdict) => {
    expect(evaluate(bounds, rounds, [0.3, 0.4]).verdict).toBe(verdict);
  });

  test('the slowest of a hundred is that of all the times of a window', async () => {
    const side = (name: string): Side => ({
      name,
      stop: async () => undefined,
      sample: async (seconds) => {
        const times = Array.from({ length: 100 }, (_, i) => (i === 99 ? 50 : 1));
        return { operations: 100, seconds, cpuMicros: 1, p50: 1, p99: 50, rss: 1, times };
      },
    });
    const rounds = await measure(
      { metrics: [], open: async () => [], seconds: 3, slice: 1 },
      [side('a')],
      { rounds: 1, quick: false },
    );
    expect([rounds.get('a')![0]!.p99, rounds.get('a')![0]!.times!.length]).toEqual([50, 300]);
    const one = {
      ...side('b'),
      sample: async (seconds: number) => ({
        operations: 200,
        seconds,
        cpuMicros: 1,
        p50: 1,
        p99: 50,
        rss: 1,
        times: Array.from({ length: 200 }, (_, i) => (i === 199 ? 50 : 1)),
      }),
    };
    expect(
      (
        await measure({ metrics: [], open: async () => [], seconds: 3, slice: 1 }, [one], {
          rounds: 1,
          quick: false,
        })
      ).get('b')![0]!.p99,
    ).toBe(1);
  });

  test('a client at its limit measured itself, with any result', () => {
    expect(evaluate(atMost, [1, 1, 1], [0.3, 0.9]).verdict).toBe('client-bound');
    expect(evaluate(atMost, [1, 1, 1], [0.3, 0.89]).verdict).toBe('pass, stretch');
  });

  test('without a gate nothing is judged, be it ever so unsteady or the client busy', () => {
    expect(evaluate({ is: '≥' }, [0.1, 9, 0.2], [0.99])).toEqual({
      ratio: 0.2,
      spread: 90,
      verdict: 'no gate',
    });
    expect(evaluate({ is: '≥' }, [1], [], true).verdict).toBe('quick');
    expect(exitCodeOf(['no gate'])).toBe(0);
  });

  test('a quick run gives no verdict', () =>
    expect(evaluate(atMost, [99], [1], true).verdict).toBe('quick'));

  test('the middle round is the value; the spread is largest over smallest', () => {
    expect(evaluate(atMost, [2, 2.4, 2.2], [])).toEqual({
      ratio: 2.2,
      spread: 1.2,
      verdict: 'pass',
    });
    expect(evaluate({ is: '≤', gate: 600, stretch: 300, budget: true }, [-10, 20, 80], [])).toEqual(
      {
        ratio: 20,
        spread: 1.15,
        verdict: 'pass, stretch',
      },
    );
    expect(
      evaluate({ is: '≤', gate: 600, stretch: 300, budget: true }, [100, 500, 550], []).verdict,
    ).toBe('pass');
    expect(
      evaluate({ is: '≤', gate: 600, stretch: 300, budget: true }, [100, 500, 650], []).verdict,
    ).toBe('unsteady');
  });
});

describe('a row', () => {
  const rounds = new Map([
    ['ours', [sample(200), sample(220), sample(210)]],
    ['raw', [sample(100, 0.5), sample(100, 0.5), sample(100, 0.5)]],
  ]);

  test('compares round by round and holds each Node line to its own gate', () => {
    expect(resultOf(metric, rounds, '20', false)).toMatchObject({
      ratio: 2.1,
      gate: 3,
      verdict: 'pass',
      ours: 21,
      peer: { name: 'raw', value: 10 },
    });
    expect(resultOf(metric, rounds, '24', false)).toMatchObject({ gate: 2, verdict: 'fail' });
    expect(boundOf(1.5, '24')).toBe(1.5);
  });

  test('keeps what its sides did over all rounds', () => {
    expect(resultOf(metric, rounds, '20', false).sides[0]).toEqual({
      name: 'ours',
      operations: 30,
      cpuMicros: 630,
      seconds: 3,
      p50: 0.001,
      p99: 0.002,
      rss: 100,
    });
  });

  test('says why it is client-bound or skipped', () => {
    const busy = new Map([
      ...rounds,
      ['raw', [sample(100, 0.95), sample(100, 0.5), sample(100, 0.5)]],
    ]);
    expect(resultOf(metric, busy, '20', false)).toMatchObject({
      verdict: 'client-bound',
      reason: 'the client used over 90 % of its core',
    });
    expect(without(metric, '20', 'skipped', 'node:sqlite is missing')).toMatchObject({
      verdict: 'skipped',
      reason: 'node:sqlite is missing',
      rounds: [],
    });
  });

  test('is printed in one line', () => {
    expect(lineOf(resultOf(metric, rounds, '20', false))).toMatch(
      /^ 1a +get +21\.0 µs +10\.0 µs raw +2\.10 +1\.10 +≤ 3\.0 +≤ 1\.5 +– +pass$/,
    );
    expect(lineOf(without(metric, '20', 'skipped', 'node:sqlite is missing'))).toMatch(
      /skipped: node:sqlite is missing$/,
    );
  });
});

test('what sides cost is said once a row: bytes, memory, start', () => {
  const server = (written: number): Sample => ({ ...sample(20_000), written });
  const samples = new Map([
    ['ours, asked', [server(5_000), server(7_000), server(6_000)]],
    ['peer, asked', [server(1_000), server(1_000), server(1_000)]],
  ]);
  const costs = {
    startMs: 250,
    restBytes: 90 << 20,
    usedBytes: 200 << 20,
    usedAnonymousBytes: 150 << 20,
    signInCount: 10_000,
  };
  const compared = { ...metric, ours: 'ours, asked', peer: 'peer, asked' };
  const about = new Map([['ours, asked', { warmUp: 3_000, costs }]]);
  const results = ['4a', '4c'].map((id) =>
    resultOf({ ...compared, id }, samples, '24', false, about),
  );
  expect(results[0]!.sides[0]).toMatchObject({ written: 600, warmUp: 3_000, costs });
  expect(results[0]!.peer!.name).toBe('peer');
  const [, ...lines] = sideLines(results);
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(
    /^ 4 +ours, asked +10.0 +2.0 +0.60 +250.0 +90.0 +200.0 +150.0 +10,000 +3,000$/,
  );
  expect(lines[1]).toMatch(/^ 4 +peer, asked +10.0 +2.0 +0.10 +– +– +– +– +– +–$/);
  expect(sideLines([without(metric, '24', 'skipped', 'not built')])).toEqual([]);
});

test('a process is counted with all its descendants, by any name', () => {
  const stat = (pid: number, parent: number, ticks: number): string =>
    `${pid} (a ) b) S ${parent} 1 1 0 -1 4194304 1 2 3 4 ${ticks} 1 2 3 20 0 1 0 99 1 1`;
  const all = [stat(7, 1, 10), stat(8, 7, 20), stat(9, 8, 30), stat(10, 1, 40)].map(parseStat);
  expect(treeOf(7, all).map(({ pid, ticks, majorFaults }) => [pid, ticks, majorFaults])).toEqual([
    [7, 16, 7],
    [8, 26, 7],
    [9, 36, 7],
  ]);
  expect(usageOfTree(process.pid).cpuMicros).toBeGreaterThan(0);
  const { rss, anonymous } = usageOfTree(process.pid);
  expect(anonymous).toBeGreaterThan(1 << 20);
  expect(rss).toBeGreaterThan(anonymous);
});

test('a commit is described by the keys that it found and those that it made', () => {
  const entry = { value: Buffer.alloc(5) };
  expect(
    footprintOf([
      { key: 'found', entry, before: {} },
      { key: 'made', entry },
      { key: 'gone', before: {} },
    ]),
  ).toEqual({
    replaced: [{ keyBytes: 5, valueBytes: 5 }],
    added: [{ keyBytes: 4, valueBytes: 5 }],
  });
});

test('a row is asked for by its number, by what its ids begin with, or by an id', () => {
  const wanted = (row: string): string[] =>
    ['1a', '2a', '2xa', '3x', '12a'].filter((id) =>
      isWanted({ rows: [row], quick: false, node: '', against: undefined }, id),
    );
  expect(wanted('2')).toEqual(['2a', '2xa']);
  expect(wanted('2x')).toEqual(['2xa']);
  expect(wanted('1')).toEqual(['1a']);
  expect(wanted('3x')).toEqual(['3x']);
});

test('a row cut into slices changes sides within each round', async () => {
  const turns: string[] = [];
  const side = (name: string): Side => ({
    name,
    stop: async () => undefined,
    sample: async (seconds) => {
      turns.push(name);
      return {
        operations: 2,
        seconds,
        cpuMicros: turns.length,
        p50: turns.length,
        p99: 9,
        rss: turns.length,
        memo: { hits: 1, misses: 0 },
      };
    },
  });
  const row = { metrics: [], open: async () => [], seconds: 3 };
  const [sides, plan] = [[side('a'), side('b')], { rounds: 2, quick: false }];
  const cut = await measure({ ...row, slice: 1 }, sides, plan);
  expect(turns.join('')).toBe('abbaabbaabba');
  expect(cut.get('a')).toEqual([
    {
      operations: 6,
      seconds: 3,
      cpuMicros: 1 + 4 + 5,
      p50: 4,
      p99: 9,
      rss: 5,
      memo: { hits: 3, misses: 0 },
    },
    {
      operations: 6,
      seconds: 3,
      cpuMicros: 8 + 9 + 12,
      p50: 9,
      p99: 9,
      rss: 12,
      memo: { hits: 3, misses: 0 },
    },
  ]);
  turns.length = 0;
  expect(
    (await measure(row, sides, plan))
      .get('b')!
      .map(({ seconds, cpuMicros }) => [seconds, cpuMicros]),
  ).toEqual([
    [3, 2],
    [3, 3],
  ]);
  expect(turns.join('')).toBe('abba');
});

test('the exit code: 1 a gate failed, 2 something could not be decided, 0 all held', () => {
  expect(exitCodeOf(['pass', 'pass, stretch', 'skipped', 'quick'])).toBe(0);
  expect(exitCodeOf(['pass', 'unsteady'])).toBe(2);
  expect(exitCodeOf(['client-bound'])).toBe(2);
  expect(exitCodeOf(['error', 'fail', 'unsteady'])).toBe(1);
  expect(exitCodeOf(['error'])).toBe(2);
});

test('middles, shares and spreads', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(percentile([1, 2, 3, 4], 0.5)).toBe(3);
  expect(percentile([1], 0.99)).toBe(1);
  expect(percentile([], 0.5)).toBe(0);
  expect(spreadOf([2, 1, 4])).toBe(4);
});

test('what stays for one sign-in a day is bytes times days, by kind', () => {
  const [now, day] = [1_000, 86_400_000];
  const entry = (key: string, bytes: number, days?: number) => ({
    key,
    value: Buffer.alloc(bytes - key.length),
    ...(days !== undefined && { expires: now + days * day }),
  });
  const before = retainedIn([entry('objects/sessions/a', 100, 14)], now);
  const after = retainedIn(
    [
      entry('objects/sessions/a', 100, 14),
      entry('objects/sessions/b', 120, 14),
      entry('objects/sessions/c', 80, 7),
      entry('oidc/Grant/one', 50, -1),
      entry('meta/one', 30),
      entry('objects/mockmessages/m', 1_000, 1),
    ],
    now,
  );
  expect([...perSignIn(before, after, 2)]).toEqual([
    ['objects/sessions', { keys: 1, bytes: 100, byteDays: 1_120, endless: 0 }],
    ['oidc/Grant', { keys: 0.5, bytes: 25, byteDays: 0, endless: 0 }],
    ['meta', { keys: 0.5, bytes: 15, byteDays: 0, endless: 15 }],
  ]);
});
