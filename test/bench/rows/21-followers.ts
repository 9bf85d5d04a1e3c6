import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Bench } from '../bench.js';
import { usageOfTree } from '../processes.js';
import type { Metric, Row, Side } from '../row.js';
import { loadedSide } from '../side.js';
import { startEtcd } from '../sides/etcd.js';
import type { Served } from '../sides/peer.js';
import { startVestibule } from '../sides/vestibule.js';
import { signIns } from '../sign-in-server.js';

const counts = [2, 4] as const;

const nameOf = (count: number): string => `${count} replicas`;

const metric = (count: number, letter: string): Metric => ({
  id: `21${letter}`,
  workload: `follow a sign-in, ${nameOf(count)}`,
  unit: '',
  ours: nameOf(count),
  of: ({ values, cpuMicros }) => values!['followerMicros']! / cpuMicros,
  is: '≤',
  gate: 0.08,
  stretch: 0.05,
});

/**
 * Starts replicas on one etcd, of which the first signs people in. A sample has the processor time of
 * the others, each.
 */
async function replicas(bench: Bench, count: number): Promise<Side> {
  const etcd = await startEtcd(bench);
  const folder = bench.newFolder(`replicas-${count}`);
  const keys = join(folder, 'keys.json');
  execFileSync(bench.node, [join(bench.root, 'bin/vestibule'), 'keys', 'new', keys]);
  const store = ['--etcd-servers', etcd.endpoint, '--keys-file', keys, '--allow-mock-mail'];
  const serving = await startVestibule(bench, folder, store);
  const followers: Served[] = [];
  for (let i = 1; i < count; i += 1) followers.push(await startVestibule(bench, folder, store));
  const followerMicros = (): number =>
    followers.reduce((sum, { child }) => sum + usageOfTree(child.pid).cpuMicros, 0);
  const { accounts, inFlight, warm } = signIns;
  const args = { port: serving.port, inFlight, accounts: bench.quick ? 50 : accounts };
  const side = await loadedSide(bench, {
    name: nameOf(count),
    server: serving,
    load: 'signin',
    args,
    warm,
    sleeps: bench.layout.etcd === bench.layout.client,
  });
  return {
    ...side,
    async sample(seconds) {
      const before = followerMicros();
      const sample = await side.sample(seconds);
      const used = (followerMicros() - before) / followers.length;
      return { ...sample, values: { followerMicros: used } };
    },
    async stop() {
      await side.stop();
      for (const follower of followers) await follower.stop();
      await etcd.stop();
    },
  };
}

/** What a replica that serves no one spends on the sign-ins of another one, of the time of that one. */
export const following: Row = {
  metrics: [metric(2, 'a'), metric(4, 'b')],
  seconds: 8,
  open: (bench) => Promise.all(counts.map((count) => replicas(bench, count))),
};
