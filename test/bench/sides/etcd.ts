import { spawn, spawnSync } from 'node:child_process';
import { createServer, type AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { answers } from '../answers.js';
import type { Bench } from '../bench.js';
import { pinned } from '../layout.js';
import { Skip } from '../row.js';

/** One etcd in a folder of its own. */
export interface Etcd {
  readonly endpoint: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * The etcd of the rows that need one: a supported one where hack/bench could build it, else that of
 * the path.
 */
export const etcdBinary = process.env.BENCH_ETCD ?? 'etcd';

/** The largest quota that etcd recommends. */
const quota = 8 * 2 ** 30;

/** Starts etcd on its core, over `folder` or a new one, and waits until it is healthy. */
export async function startEtcd(bench: Bench, folder = bench.newFolder('etcd')): Promise<Etcd> {
  if (spawnSync(etcdBinary, ['--version']).status !== 0) throw new Skip('etcd is not installed');
  const [client, peer] = [await freePort(), await freePort()].map(
    (port) => `http://127.0.0.1:${port}`,
  ) as [string, string];
  const flags = [
    `--data-dir=${folder}`,
    `--quota-backend-bytes=${quota}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--log-level=error',
    '--logger=zap',
  ];
  const [file, ...args] = pinned(bench.layout.etcd, [etcdBinary, ...flags]) as [
    string,
    ...string[],
  ];
  const child = spawn(file, args, { stdio: 'ignore' });
  const port = Number(new URL(client).port);
  for (let i = 0; i < 200 && !(await answers(port, '/health')); i += 1) await pause(50);
  return {
    endpoint: client,
    pid: child.pid!,
    stop: () =>
      new Promise((resolve) => {
        if (child.exitCode !== null || child.signalCode !== null) return resolve();
        child.once('exit', () => resolve());
        child.kill('SIGTERM');
      }),
  };
}

/** A port no one listens on now. */
export const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
