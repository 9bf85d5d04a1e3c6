import { join } from 'node:path';
import type { Bench } from '../bench.js';
import { Child } from '../child.js';
import { median } from '../measure/statistics.js';
import { fill } from '../objects.js';
import type { Row, Side } from '../row.js';
import { serveCommand } from '../sides/vestibule.js';

const starts = 5;
const shared = {
  unit: 'ms',
  peer: 'oidc-provider',
  of: ({ p50 }: { p50: number }) => p50 * 1000,
  is: '≤',
} as const;

/** Command to `ready` line, the middle of some starts; a store and its keys are there already. */
export function starting(bench: Bench, name: string, command: readonly string[]): Side {
  const once = async (): Promise<number> => {
    const began = performance.now();
    const child = await Child.start({
      core: bench.layout.server,
      cwd: bench.root,
      log: bench.logFile(name),
      ipc: false,
      ready: 'ready',
      command: [bench.node, ...command],
    });
    const took = performance.now() - began;
    await child.stop();
    return took / 1000;
  };
  return {
    name,
    async sample() {
      const times: number[] = [];
      for (let i = 0; i < starts; i += 1) times.push(await once());
      return {
        operations: starts,
        seconds: times.reduce((sum, time) => sum + time, 0),
        cpuMicros: 0,
        p50: median(times),
        p99: Math.max(...times),
        rss: 0,
      };
    },
    async stop() {},
  };
}

/**
 * Start to the `ready` line against bare oidc-provider that listens: on an empty store, and on a
 * hundred thousand objects.
 */
export const start: Row = {
  metrics: [
    { ...shared, id: '11a', workload: 'start, empty', ours: 'empty', gate: 2, stretch: 1.4 },
    { ...shared, id: '11b', workload: 'start, 100 k objects', ours: 'full', gate: 4, stretch: 2 },
  ],
  async open(bench) {
    const [empty, full] = [bench.newFolder('empty'), bench.newFolder('full')];
    const sides = [
      starting(bench, 'empty', serveCommand(bench, empty)),
      starting(bench, 'full', serveCommand(bench, full)),
      starting(bench, 'oidc-provider', [join(import.meta.dirname, '../sides/bare.js')]),
    ];
    await fill(bench, join(full, 'data'), bench.quick ? 10_000 : 100_000);
    for (const side of sides) await side.sample(0);
    return sides;
  },
};
