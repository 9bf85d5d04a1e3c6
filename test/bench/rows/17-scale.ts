import { execFileSync } from 'node:child_process';
import { rmSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Bench } from '../bench.js';
import { fillCrowd, moveToEtcd, type Size } from '../crowd.js';
import { filledOnce, pagesOfAccounts } from '../filled.js';
import { pinned } from '../layout.js';
import { people } from '../people.js';
import { cpuPerOperation, type Metric, middle, type Row, type Sample, type Side } from '../row.js';
import { loadedSide } from '../side.js';
import { etcdBinary, startEtcd } from '../sides/etcd.js';
import { serveCommand, startVestibule } from '../sides/vestibule.js';
import { starting } from './11-start.js';
import { readAll, reading } from './12-memory.js';

type StoreName = 'embedded' | 'etcd';
const stores: readonly (readonly [StoreName, number])[] = [
  ['embedded', 17],
  ['etcd', 18],
];
const [small, large] = ['1 k', '1 M'] as const;
const sizes: Readonly<Record<string, Size>> = {
  [small]: { accounts: 1_000, sessions: 100 },
  [large]: { accounts: 1_000_000, sessions: 100_000 },
};
const quickSize: Size = { accounts: 20_000, sessions: 2_000 };
const inFlight = 8;
/** Members of the etcd of row 18. */
const members = Number(process.env.BENCH_ETCD_MEMBERS ?? 1);
const operator = ['--operators', 'person-0@bench.test'];

/** A filled store: the flags to start the service on it, and what must be stopped afterwards. */
interface FilledStore {
  readonly folder: string;
  readonly flags: readonly string[];
  stop(): Promise<void>;
}

/** Returns a filled store, for etcd with an etcd that runs on it. */
async function filled(bench: Bench, store: StoreName, size: string): Promise<FilledStore> {
  const count = bench.quick && size === large ? quickSize : sizes[size]!;
  const folder = await filledOnce(bench, `crowd-${count.accounts}`, (made) =>
    fillCrowd(bench, join(made, 'data'), count),
  );
  const data = join(folder, 'data');
  if (store === 'embedded') return { folder, flags: ['--data-dir', data], stop: async () => {} };
  const keys = join(folder, 'etcd-keys.json');
  const etcdFolder = await filledOnce(
    bench,
    `crowd-${count.accounts}-${basename(etcdBinary)}`,
    async (made) => {
      execFileSync(bench.node, [join(bench.root, 'bin/vestibule'), 'keys', 'new', keys]);
      const etcd = await startEtcd(bench, made, members);
      moveToEtcd(bench, data, etcd.endpoint);
      await etcd.stop();
    },
  );
  const etcd = await startEtcd(bench, etcdFolder, members);
  const flags = ['--etcd-servers', etcd.endpoint, '--keys-file', keys, '--allow-mock-mail'];
  return { folder, flags, stop: () => etcd.stop() };
}

/** Returns the sides of a row, one for each size. */
async function sidesOf(
  bench: Bench,
  store: StoreName,
  sideOf: (name: string, on: FilledStore) => Side | Promise<Side>,
): Promise<Side[]> {
  const sides: Side[] = [];
  for (const name of [small, large]) {
    const on = await filled(bench, store, name);
    const side = await sideOf(name, on);
    const stop = async (): Promise<void> => {
      await side.stop();
      await on.stop();
    };
    sides.push({ ...side, stop });
  }
  return sides;
}

const start = (bench: Bench, { folder, flags }: FilledStore) =>
  startVestibule(bench, folder, [...flags, ...operator]);

/** Returns the side of a load that a browser of the operator makes. */
const loaded =
  (load: 'signin' | 'get' | 'watchstart') =>
  async (bench: Bench, name: string, on: FilledStore): Promise<Side> => {
    const served = await start(bench, on);
    const { port } = served;
    if (load === 'signin') {
      const args = { port, inFlight, accounts: bench.quick ? 50 : 500 };
      return loadedSide(bench, { name, server: served, load, args, warm: { operations: 1_500 } });
    }
    const [person] = await people(port, 1);
    const { browser } = person!;
    const { metadata } = await browser.fetch('/api/v1beta1/accounts?limit=1');
    const version = String(metadata.resourceVersion);
    const watch = `/api/v1beta1/accounts?watch=true&resourceVersion=${version}`;
    const requests =
      load === 'get'
        ? pagesOfAccounts({ served, operator: person! }, inFlight)
        : Array.from({ length: inFlight }, () => browser.bytes('GET', watch));
    const args = { port, requests, ...(load === 'get' && { expect: '"kind":"AccountList"' }) };
    return loadedSide(bench, { name, server: served, load, args, warm: { operations: 3_000 } });
  };

const sampleOf = (seconds: number, more: Partial<Sample> = {}): Sample => ({
  operations: 1,
  seconds,
  cpuMicros: 0,
  p50: seconds,
  p99: seconds,
  rss: 0,
  ...more,
});

/** How long a policy is tried again and again for one sample, in milliseconds. */
const trialTime = 2_000;

/**
 * Returns a side that tries the policy in force against the recorded decisions; its time is that of a
 * thousand of them.
 */
async function replaying(bench: Bench, name: string, on: FilledStore): Promise<Side> {
  const served = await start(bench, on);
  const [person] = await people(served.port, 1);
  const { browser } = person!;
  const { items } = await browser.fetch('/api/v1beta1/policies');
  const body = JSON.stringify({ spec: { cedar: `${items[0].spec.cedar}\n// once more\n` } });
  const request = browser.bytes(
    'POST',
    '/api/v1beta1/policies?dryRun=All',
    { 'Content-Type': 'application/json' },
    body,
  );
  return {
    name,
    async sample() {
      const began = performance.now();
      let decisions = 0;
      while (performance.now() - began < trialTime) {
        const { code, body: answer } = await person!.connection.exchange(request);
        if (code !== 201) {
          throw new Error(`the trial answered ${code}: ${answer.toString('utf8', 0, 400)}`);
        }
        decisions += JSON.parse(answer.toString()).status.impact.replayed;
      }
      const seconds = (performance.now() - began) / 1000;
      return sampleOf((seconds / decisions) * 1_000);
    },
    stop: () => served.stop(),
  };
}

/** Returns a side that saves a snapshot; its time is that of one megabyte of the file. */
function saving(bench: Bench, name: string, { folder, flags }: FilledStore): Side {
  const file = join(bench.newFolder('save'), 'snapshot');
  const from = flags[0] === '--data-dir' ? flags : flags.slice(0, 2);
  const command = [
    bench.node,
    join(bench.root, 'bin/vestibule'),
    'snapshot',
    'save',
    file,
    ...from,
  ];
  const [program, ...args] = pinned(bench.layout.server, command) as [string, ...string[]];
  return {
    name,
    async sample() {
      const began = performance.now();
      execFileSync(program, args, { cwd: folder, stdio: 'ignore' });
      const megabytes = statSync(file).size / 2 ** 20;
      const seconds = (performance.now() - began) / 1000;
      rmSync(file);
      return sampleOf(seconds / megabytes);
    },
    async stop() {},
  };
}

/** Returns a side that reads the memory without pages of files after every account was listed. */
const remembering = (bench: Bench, name: string, on: FilledStore): Side => ({
  name,
  async sample() {
    const { anonymous } = await reading(() => start(bench, on), readAll);
    return sampleOf(0, { rss: anonymous });
  },
  async stop() {},
});

/** One thing that is measured on every store, and how much of it a million accounts may take. */
interface Measurement {
  readonly workload: string;
  readonly metric: Pick<Metric, 'unit' | 'of'> & Partial<Pick<Metric, 'gate' | 'stretch'>>;
  readonly window?: Pick<Row, 'seconds' | 'slice'>;
  sideOf(bench: Bench, name: string, on: FilledStore): Side | Promise<Side>;
}

const concernsOne = { gate: 1.5, stretch: 1.1 } as const;
const milliseconds = { unit: 'ms', of: middle } as const;

const measurements: Readonly<Record<string, Measurement>> = {
  a: {
    workload: 'sign in',
    metric: { unit: 'µs', of: cpuPerOperation, ...concernsOne },
    window: { seconds: 5 },
    sideOf: loaded('signin'),
  },
  b: {
    workload: 'list 100',
    metric: { unit: 'µs', of: cpuPerOperation, ...concernsOne },
    window: { slice: 0.5 },
    sideOf: loaded('get'),
  },
  c: {
    workload: 'watch start',
    metric: { unit: 'µs', of: cpuPerOperation, ...concernsOne },
    window: { slice: 0.5 },
    sideOf: loaded('watchstart'),
  },
  d: {
    workload: 'try a policy, 1 k decisions',
    metric: { ...milliseconds, ...concernsOne },
    sideOf: replaying,
  },
  e: {
    workload: 'start',
    metric: { ...milliseconds, gate: 3, stretch: 1.5 },
    sideOf: (bench, name, { folder, flags }) =>
      starting(bench, name, serveCommand(bench, folder, [...flags, ...operator])),
  },
  f: {
    workload: 'save a MB of snapshot',
    metric: { ...milliseconds, ...concernsOne },
    sideOf: saving,
  },
  g: {
    workload: 'memory',
    metric: { unit: 'MB', of: ({ rss }) => rss / 2 ** 20 },
    sideOf: remembering,
  },
};

/**
 * What a million accounts, of whom a hundred thousand are signed in, add to the work of a thousand
 * with a hundred: 17 on the embedded store, 18 on etcd.
 */
export const scale: readonly Row[] = stores.flatMap(([store, number]) =>
  Object.entries(measurements).map(
    ([letter, { workload, metric, window, sideOf }]): Row => ({
      ...window,
      metrics: [
        {
          ...metric,
          id: `${number}${letter}`,
          workload: `${workload}${store === 'etcd' ? ' on etcd' : ''}, growth`,
          ours: large,
          peer: small,
          is: '≤',
        },
      ],
      open: (bench) => sidesOf(bench, store, (name, on) => sideOf(bench, name, on)),
    }),
  ),
);
