import { middle, throughput, type Row } from '../row.js';
import { loadedSide } from '../side.js';
import { startVestibule } from '../sides/vestibule.js';

/** The bytes of a passkey as it lies in the store. */
export const passkeyBytes = 810;

const warm = { operations: 40_000 };

function patch(inFlight: number, metrics: Row['metrics']): Row {
  return {
    durable: true,
    metrics,
    async open(bench) {
      const server = await startVestibule(bench, bench.newFolder('patch'));
      return [
        await loadedSide(bench, {
          name: 'vestibule',
          server,
          load: 'patch',
          args: { port: server.port, inFlight },
          warm,
        }),
        await loadedSide(bench, {
          name: 'lmdb',
          load: 'lmdb',
          args: { folder: bench.newFolder('lmdb'), inFlight, bytes: passkeyBytes },
          warm,
        }),
      ];
    },
  };
}

/**
 * PATCH with resourceVersion on the embedded store against lmdb's own flushed compare-and-set: many
 * at once.
 */
export const patchMany = patch(64, [
  {
    id: '2a',
    workload: 'patch passkey, 64',
    unit: '/s',
    ours: 'vestibule',
    peer: 'lmdb',
    of: throughput,
    is: '≥',
    gate: 0.1,
    stretch: 0.15,
  },
]);

/** The same, one after another: how long a lone one takes. */
export const patchAlone = patch(1, [
  {
    id: '2b',
    workload: 'patch passkey, alone, p50',
    unit: 'ms',
    ours: 'vestibule',
    peer: 'lmdb',
    of: middle,
    is: '≤',
    gate: 2.0,
    stretch: 1.5,
  },
]);
