import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { throughput, type Row } from '../row.js';
import { loadedSide } from '../side.js';
import { startEtcd } from '../sides/etcd.js';
import { startVestibule } from '../sides/vestibule.js';
import { passkeyBytes } from './2-patch.js';

const inFlight = 128;
const warm = { operations: 40_000 };

/**
 * PATCH with resourceVersion on etcd against etcd3 sending nothing but the compare-and-set to the
 * same etcd.
 */
export const patchOnEtcd: Row = {
  durable: true,
  metrics: [
    {
      id: '3',
      workload: 'patch on etcd, 128',
      unit: '/s',
      ours: 'vestibule',
      peer: 'etcd3',
      of: throughput,
      is: '≥',
      gate: 1.0,
      stretch: 2.0,
    },
  ],
  async open(bench) {
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
    const peer = await loadedSide(bench, {
      name: 'etcd3',
      load: 'etcd',
      args: { endpoint: etcd.endpoint, inFlight, bytes: passkeyBytes },
      warm,
    });
    return [
      ours,
      {
        ...peer,
        stop: async () => {
          await peer.stop();
          await etcd.stop();
        },
      },
    ];
  },
};
