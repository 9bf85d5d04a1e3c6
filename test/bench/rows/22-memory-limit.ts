import { cpSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from '../bench.js';
import { fillCrowd } from '../crowd.js';
import { filledOnce } from '../filled.js';
import { dropPages, limitMemory } from '../measure/memory-limit.js';
import { usageOfTree } from '../processes.js';
import { cpuPerOperation, type Row, type Side } from '../row.js';
import { loadedSide } from '../side.js';
import { startVestibule } from '../sides/vestibule.js';

const megabyte = 2 ** 20;
/** What the process may use, pages of files included, and its heap, as the chart sets them. */
const memory = { limit: 300 * megabyte, heap: 135 } as const;
/** What the image and the chart set. */
const malloc = ['MALLOC_ARENA_MAX=1', 'MALLOC_MMAP_THRESHOLD_=131072'];
/** A store of about four times as much. */
const size = { accounts: 1_000_000, sessions: 300_000 };
const quickSize = { accounts: 20_000, sessions: 2_000 };
const [limited, free] = ['within 300 MiB', 'without a limit'] as const;

async function signingIn(bench: Bench, name: string, isLimited: boolean): Promise<Side> {
  const count = bench.quick ? quickSize : size;
  const filled = await filledOnce(bench, `crowd-${count.accounts}-${count.sessions}`, (made) =>
    fillCrowd(bench, join(made, 'data'), count),
  );
  const folder = bench.newFolder('memory-limit');
  cpSync(filled, folder, { recursive: true });
  dropPages(folder);
  const limit = isLimited ? limitMemory('sign-in', memory.limit) : undefined;
  const options = `--max-semi-space-size=16 --max-old-space-size=${memory.heap}`;
  const settings = ['env', `NODE_OPTIONS=${options}`, ...malloc];
  const within = (command: readonly string[]): string[] =>
    limit ? limit.within([...settings, ...command]) : [...command];
  const served = await startVestibule(bench, folder, undefined, undefined, within);
  const args = { port: served.port, inFlight: 8, accounts: bench.quick ? 50 : 500 };
  const warm = { operations: 3_000 };
  const side = await loadedSide(bench, { name, server: served, load: 'signin', args, warm });
  return {
    ...side,
    async sample(seconds) {
      const before = usageOfTree(served.child.pid).majorFaults;
      const sample = await side.sample(seconds);
      const faults = usageOfTree(served.child.pid).majorFaults - before;
      return { ...sample, values: { faults } };
    },
    async stop() {
      await side.stop();
      limit?.remove();
    },
  };
}

/** What a memory limit adds to a sign-in, over a store that does not fit in it. */
export const withinMemory: Row = {
  metrics: [
    {
      id: '22a',
      workload: 'sign in within 300 MiB',
      unit: 'µs',
      ours: limited,
      peer: free,
      of: cpuPerOperation,
      is: '≤',
      gate: 1.3,
      stretch: 1.1,
    },
    {
      id: '22b',
      workload: 'major faults of a sign-in within 300 MiB',
      unit: '',
      ours: limited,
      of: ({ values, operations }) => values!['faults']! / operations,
      is: '≤',
      gate: 1,
      stretch: 0.1,
    },
  ],
  durable: true,
  seconds: 6,
  slice: 1,
  async open(bench) {
    return [await signingIn(bench, limited, true), await signingIn(bench, free, false)];
  },
};
