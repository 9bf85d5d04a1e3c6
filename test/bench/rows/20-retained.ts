import { type Retained, retainedPerSignIn } from '../measure/retained-content.js';
import { loadBuilt } from '../objects.js';
import type { Metric, Row, Sample } from '../row.js';

/** The lines of the row, and the kinds of record that each adds up; the first has all. */
const parts: readonly (readonly [string, string, (kind: string) => boolean])[] = [
  ['a', 'content that stays, one sign-in a day', () => true],
  ['b', 'of these, decisions', (kind) => kind === 'objects/policydecisions'],
  ['c', "of these, the library's grants", (kind) => /^oidc\/(Grant|copy)$/.test(kind)],
  ['d', 'of these, sessions', (kind) => /^(objects\/sessions|oidc\/[Ss]ession.*)$/.test(kind)],
];
const ours = 'vestibule';

/** What `vestibule serve` and the page about space compute with, against what was measured. */
const formula: Metric = {
  id: '20e',
  workload: 'the formula of the service, ÷ measured',
  unit: '',
  ours,
  of: ({ values }) => values!.formula!,
  is: '≤',
  gate: 1.1,
  stretch: 1.05,
};

const metricOf = ([letter, workload]: (typeof parts)[number]): Metric => ({
  id: `20${letter}`,
  workload,
  unit: 'kB',
  ours,
  of: ({ values }) => values![letter]!,
  is: '≤',
  ...(letter === 'a' && { gate: 55, stretch: 45 }),
});

/**
 * What stays in the store of one sign-in with remembered consent a day: the bytes of each record, times the
 * days that it is kept.
 */
export const retained: Row = {
  metrics: [...parts.map(metricOf), formula],
  async open(bench) {
    const count = bench.quick ? 50 : 300;
    const began = performance.now();
    const kinds = [...(await retainedPerSignIn(bench, count))];
    process.stderr.write(tableOf(kinds));
    const kB = (has: (kind: string) => boolean): number =>
      kinds.reduce((sum, [kind, { byteDays }]) => sum + (has(kind) ? byteDays : 0), 0) / 1000;
    const [{ bytesOfDailySignIn }, { defaultLimits }] = await Promise.all([
      loadBuilt(bench, 'cmd/vestibule/serve/warnings/space-need.js'),
      loadBuilt(bench, 'kinds/limits/limit-settings.js'),
    ]);
    const computed = bytesOfDailySignIn(defaultLimits) / 1000 / kB(() => true);
    const sample: Sample = {
      operations: count,
      seconds: (performance.now() - began) / 1000,
      cpuMicros: 0,
      p50: 0,
      p99: 0,
      rss: 0,
      values: {
        ...Object.fromEntries(parts.map(([letter, , has]) => [letter, kB(has)])),
        formula: Math.max(computed, 1 / computed),
      },
    };
    return [{ name: ours, sample: async () => sample, stop: async () => {} }];
  },
};

const tableOf = (kinds: readonly (readonly [string, Retained])[]): string =>
  kinds
    .filter(([, { bytes }]) => bytes > 0)
    .sort(([, a], [, b]) => b.byteDays - a.byteDays)
    .map(
      ([kind, { keys, bytes, byteDays, endless }]) =>
        `${kind.padEnd(26)} ${keys.toFixed(2)} keys, ${bytes.toFixed(0)} B, ` +
        `${(byteDays / 1000).toFixed(2)} kB for one a day, ${endless.toFixed(1)} B for ever\n`,
    )
    .join('');
