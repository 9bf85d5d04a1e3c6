import { together } from '../loads/assertion.js';
import { cpuPerOperation, type Row } from '../row.js';
import { loadedSide } from '../side.js';

/**
 * What verifying the assertion of a passkey costs at a login, beside one signature verified with a
 * key that is ready.
 */
export const assertion: Row = {
  metrics: [
    {
      id: '6',
      workload: 'verify a passkey’s assertion',
      unit: 'µs',
      ours: 'service',
      peer: 'floor',
      of: (sample) => cpuPerOperation(sample) / together,
      is: '≤',
      gate: 10,
      stretch: 1.6,
    },
  ],
  open: (bench) =>
    Promise.all(
      (['service', 'floor'] as const).map((by) =>
        loadedSide(bench, {
          name: by,
          load: 'assertion',
          args: { root: bench.root, by },
          warm: { seconds: 2 },
        }),
      ),
    ),
};
