import { decisions } from '../loads/policy.js';
import { cpuPerOperation, type Row, type Sample } from '../row.js';
import { loadedSide } from '../side.js';

const each = (by: string): number =>
  by.startsWith('engine') ? decisions.remembered : decisions.evaluated;
const perDecision =
  (by: string) =>
  (sample: Sample): number =>
    cpuPerOperation(sample) / each(by);

/**
 * Policy decisions of a mix against Cedar with the whole set prepared; what nothing remembers,
 * alone; and what many rules cost more than few.
 */
export const policy: Row = {
  slice: 0.2,
  metrics: [
    ...[10, 200].map((count) => ({
      id: `7${count === 10 ? 'a' : 'b'}`,
      workload: `decision, ${count} rules, mix`,
      unit: '/s' as const,
      ours: `engine ${count}`,
      peer: `cedar ${count}`,
      of: (sample: Sample) => 1e6 / perDecision(sample.values!.cedar ? 'cedar' : 'engine')(sample),
      is: '≥' as const,
      gate: 5,
      stretch: count === 10 ? 20 : 100,
    })),
    ...[10, 200].map((count) => ({
      id: `7${count === 10 ? 'c' : 'd'}`,
      workload: `decision, ${count} rules, misses`,
      unit: 'µs' as const,
      ours: `cedar timed ${count}`,
      peer: `timed ${count}`,
      of: perDecision('timed'),
      is: '≥' as const,
      gate: count === 10 ? 1.2 : 8,
      stretch: count === 10 ? 2 : 15,
    })),
    {
      id: '7e',
      workload: 'decision, growth 10 to 200',
      unit: 'µs',
      ours: 'engine 200',
      peer: 'engine 10',
      of: perDecision('engine'),
      is: '≤',
      gate: 1.5,
      stretch: 1.2,
    },
  ],
  async open(bench) {
    const side = async (name: string, by: 'engine' | 'cedar', count: number, always: boolean) => {
      const loaded = await loadedSide(bench, {
        name,
        load: 'policy',
        args: { root: bench.root, count, always, by },
        warm: { seconds: 2 },
      });
      return {
        ...loaded,
        sample: async (seconds: number) => ({
          ...(await loaded.sample(seconds)),
          values: { cedar: Number(by === 'cedar') },
        }),
      };
    };
    return Promise.all(
      [10, 200].flatMap((count) => [
        side(`engine ${count}`, 'engine', count, false),
        side(`cedar ${count}`, 'cedar', count, false),
        side(`timed ${count}`, 'engine', count, true),
        side(`cedar timed ${count}`, 'cedar', count, true),
      ]),
    );
  },
};
