import { footprintOfPatch, oneKey } from '../measure/footprint.js';
import { type Metric, middle, perCPUSecond, type Row, throughput } from '../row.js';
import { loadedSide } from '../side.js';
import { startVestibule } from '../sides/vestibule.js';

const warm = { operations: 40_000 };
const shared = { unit: '/s', ours: 'vestibule', of: throughput, is: '≥' } as const;
const [equal, less] = ['lmdb, equal work', 'lmdb, one key'];

function patch(inFlight: number, metrics: readonly Metric[]): Row {
  return {
    durable: true,
    metrics,
    slice: 1, // V8 shrinks the heap of a process that rests for ten seconds
    async open(bench) {
      const footprint = await footprintOfPatch(bench);
      const server = await startVestibule(bench, bench.newFolder('patch'));
      const args = { port: server.port, inFlight };
      const ours = { name: 'vestibule', server, load: 'patch', args, warm };
      const lmdb = (name: string, written: typeof footprint) =>
        loadedSide(bench, {
          name,
          load: 'lmdb',
          args: { folder: bench.newFolder('lmdb'), inFlight, footprint: written },
          warm,
        });
      return [
        await loadedSide(bench, ours),
        await lmdb(equal, footprint),
        await lmdb(less, oneKey),
      ];
    },
  };
}

/**
 * PATCH with resourceVersion on the embedded store, many at once, against lmdb alone: the same compares,
 * keys and bytes in one flushed transaction, and, as before without a gate, the passkey alone.
 */
export const patchMany = patch(64, [
  { ...shared, id: '2a', workload: 'patch passkey, 64', peer: equal, gate: 0.15, stretch: 0.25 },
  {
    ...shared,
    id: '2c',
    workload: 'patch passkey, 64',
    unit: '/CPU s',
    of: perCPUSecond,
    peer: equal,
    gate: 0.15,
    stretch: 0.25,
  },
  { ...shared, id: '2xa', workload: 'patch, 64, peer one key', peer: less },
]);

const alone = { ...shared, unit: 'ms', of: middle, is: '≤' } as const;

/** The same, one after another: how long a lone one takes. */
export const patchAlone = patch(1, [
  {
    ...alone,
    id: '2b',
    workload: 'patch passkey, alone, p50',
    peer: equal,
    gate: 2.0,
    stretch: 1.5,
  },
  { ...alone, id: '2xb', workload: 'patch, alone, p50, peer one key', peer: less },
]);
