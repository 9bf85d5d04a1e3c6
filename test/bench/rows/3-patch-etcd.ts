import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { type Footprint, footprintOfPatch, oneKey } from '../measure/footprint.js';
import { usageOfTree } from '../processes.js';
import { perCPUSecond, type Row, type Side, throughput } from '../row.js';
import { loadedSide } from '../side.js';
import { type Etcd, startEtcd } from '../sides/etcd.js';
import { startVestibule } from '../sides/vestibule.js';

const inFlight = 128;
const warm = { operations: 40_000 };

const shared = { unit: '/s', ours: 'vestibule', of: throughput, is: '≥' } as const;
const [equal, less] = ['etcd3, equal work', 'etcd3, one key'];
const gates = { peer: equal, gate: 1.0, stretch: 2.0 } as const;

/**
 * PATCH with resourceVersion on etcd against etcd3 and the same etcd: the same compares, keys and bytes,
 * one transaction a change, and, as before without a gate, the passkey alone.
 */
export const patchOnEtcd: Row = {
  durable: true,
  slice: 1, // V8 shrinks the heap of a process that rests for ten seconds
  metrics: [
    { ...shared, ...gates, id: '3a', workload: 'patch on etcd, 128' },
    {
      ...shared,
      ...gates,
      id: '3b',
      workload: 'patch on etcd, 128',
      unit: '/CPU s',
      of: perCPUSecond,
    },
    { ...shared, id: '3x', workload: 'patch on etcd, 128, peer one key', peer: less },
  ],
  async open(bench) {
    const footprint = await footprintOfPatch(bench);
    const etcd = await startEtcd(bench);
    const folder = bench.newFolder('patch-etcd');
    const keys = join(folder, 'keys.json');
    execFileSync(bench.node, [join(bench.root, 'bin/vestibule'), 'keys', 'new', keys]);
    const server = await startVestibule(bench, folder, [
      '--etcd-servers',
      etcd.endpoint,
      '--keys-file',
      keys,
      '--allow-mock-mail',
    ]);
    const ours = await loadedSide(bench, {
      name: 'vestibule',
      server,
      load: 'patch',
      args: { port: server.port, inFlight },
      warm,
      sleeps: bench.layout.etcd === bench.layout.client,
    });
    const etcd3 = (name: string, written: Footprint) =>
      loadedSide(bench, {
        name,
        load: 'etcd',
        args: { endpoint: etcd.endpoint, inFlight, footprint: written },
        warm,
      });
    const sides = [ours, await etcd3(equal, footprint), await etcd3(less, oneKey)];
    return sides.map((side) => withEtcd(side, etcd));
  },
};

/** Counts the time of etcd in a window, where no other side asks it anything, and stops it at last. */
const withEtcd = (side: Side, etcd: Etcd): Side => ({
  ...side,
  async sample(seconds) {
    const before = usageOfTree(etcd.pid).cpuMicros;
    const sample = await side.sample(seconds);
    const used = usageOfTree(etcd.pid).cpuMicros - before;
    return { ...sample, cpuMicros: sample.cpuMicros + used };
  },
  async stop() {
    await side.stop();
    await etcd.stop();
  },
});
