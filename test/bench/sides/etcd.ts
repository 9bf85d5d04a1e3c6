import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { answers } from '../answers.js';
import type { Bench } from '../bench.js';
import { pinned } from '../layout.js';
import { Skip } from '../row.js';

/** An etcd of one or more members, in a folder of its own. */
export interface Etcd {
  /** The addresses of its members, separated by commas. */
  readonly endpoint: string;
  /** The process of its first member. */
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

/** Entries of the log that a member keeps in memory; three members with etcd's 100,000 need 24 GB. */
const logLength = 1_000;

/**
 * Starts etcd on its core, over `folder` or a new one, and waits until each member is healthy. Members
 * share the core.
 */
export async function startEtcd(
  bench: Bench,
  folder = bench.newFolder('etcd'),
  memberCount = 1,
): Promise<Etcd> {
  if (spawnSync(etcdBinary, ['--version']).status !== 0) throw new Skip('etcd is not installed');
  const peers = await peersOf(folder, memberCount);
  const clients = await addresses(memberCount);
  const members = clients.map((client, i) => startMember(bench, { folder, client, peers, i }));
  for (const client of clients) await untilHealthy(client);
  return {
    endpoint: clients.join(),
    pid: members[0]!.pid!,
    async stop() {
      await Promise.all(members.map(stopMember));
    },
  };
}

/** Returns the addresses at which the members of a folder reach each other; etcd keeps them. */
async function peersOf(folder: string, count: number): Promise<readonly string[]> {
  const file = join(folder, 'peers.json');
  if (!existsSync(file)) writeFileSync(file, JSON.stringify(await addresses(count)));
  return JSON.parse(readFileSync(file, 'utf8')) as string[];
}

const addresses = (count: number): Promise<string[]> =>
  Promise.all(Array.from({ length: count }, async () => `http://127.0.0.1:${await freePort()}`));

interface Member {
  readonly folder: string;
  readonly client: string;
  readonly peers: readonly string[];
  /** Its place among the peers. */
  readonly i: number;
}

function startMember(bench: Bench, { folder, client, peers, i }: Member): ChildProcess {
  const flags = [
    `--name=member-${i}`,
    `--data-dir=${join(folder, `member-${i}`)}`,
    `--quota-backend-bytes=${quota}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peers[i]}`,
    `--initial-advertise-peer-urls=${peers[i]}`,
    `--initial-cluster=${peers.map((peer, n) => `member-${n}=${peer}`).join()}`,
    ...(peers.length > 1 ? [`--snapshot-count=${logLength}`] : []),
    '--log-level=error',
    '--logger=zap',
  ];
  const [file, ...args] = pinned(bench.layout.etcd, [etcdBinary, ...flags]) as [
    string,
    ...string[],
  ];
  return spawn(file, args, { stdio: 'ignore' });
}

async function untilHealthy(client: string): Promise<void> {
  const port = Number(new URL(client).port);
  for (let i = 0; i < 400 && !(await answers(port, '/health')); i += 1) await pause(50);
}

const stopMember = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });

/** A port no one listens on now. */
export const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
