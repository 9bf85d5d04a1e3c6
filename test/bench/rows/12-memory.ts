import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { Bench } from '../bench.js';
import { Connection } from '../connection.js';
import { fill } from '../objects.js';
import { people } from '../people.js';
import type { Row, Sample, Side } from '../row.js';
import { type Served, startPeer } from '../sides/peer.js';
import { serveCommand, startVestibule } from '../sides/vestibule.js';

/**
 * Milliseconds: after its start, and until V8 has let go of what answering left behind, which it
 * does after ten seconds at rest.
 */
const settle = { start: 3_000, rest: 12_000 };
const sampleOf = (rss: number, values: Record<string, number> = {}): Sample => ({
  operations: 1,
  seconds: settle.rest / 1000,
  cpuMicros: 0,
  p50: 0,
  p99: 0,
  rss,
  values,
});

/**
 * Resident bytes of a fresh process: at rest after its start, after it was asked for everything it
 * has, and then without pages of files.
 */
export async function reading(
  start: () => Promise<Served>,
  ask: (port: number) => Promise<void>,
): Promise<{ cold: number; warm: number; anonymous: number }> {
  const server = await start();
  await pause(settle.start);
  const cold = (await server.child.usage()).rss;
  await ask(server.port);
  await pause(settle.rest);
  const { rss: warm, anonymous = warm } = await server.child.usage();
  await server.stop();
  return { cold, warm, anonymous };
}

/** Reads the whole of the accounts page by page, as an operator would. */
export async function readAll(port: number): Promise<void> {
  const [operator] = await people(port, 1);
  const connection = await Connection.open(port);
  for (let next = ''; ; ) {
    const { code, body } = await connection.exchange(
      operator!.browser.bytes('GET', `/api/v1beta1/accounts?limit=500${next}`),
    );
    const token = /"continue":"([^"]+)"/.exec(body.toString('latin1', 0, 2_000))?.[1];
    if (code !== 200) throw new Error(`the list answered ${code}`);
    if (token === undefined) break;
    next = `&continue=${encodeURIComponent(token)}`;
  }
  connection.close();
  operator!.connection.close();
}

function growing(
  bench: Bench,
  folders: readonly [string, string],
  raw: number,
  count: number,
): Side {
  const at = (folder: string) =>
    reading(
      () =>
        startVestibule(bench, folder, [...storeOf(folder), '--operators', 'person-0@bench.test']),
      readAll,
    );
  return {
    name: 'vestibule',
    async sample() {
      const [empty, full] = [await at(folders[0]), await at(folders[1])];
      return sampleOf(empty.cold, {
        beyond: (full.warm - empty.warm - raw) / count,
        beyondCold: (full.cold - empty.cold - raw) / count,
        warm: empty.warm,
      });
    },
    async stop() {},
  };
}

const storeOf = (folder: string): string[] => ['--data-dir', join(folder, 'data')];

/**
 * Resident memory: idle against bare oidc-provider, and what a hundred thousand objects add beyond
 * their bytes once all were read.
 */
export const memory: Row = {
  metrics: [
    {
      id: '12a',
      workload: 'memory, idle',
      unit: 'MB',
      ours: 'vestibule',
      peer: 'oidc-provider',
      of: ({ rss }) => rss / 2 ** 20,
      is: '≤',
      gate: 1.6,
      stretch: 1.25,
    },
    {
      id: '12b',
      workload: 'memory an object adds',
      unit: 'B',
      ours: 'vestibule',
      of: ({ values }) => values!.beyond!,
      is: '≤',
      gate: 600,
      stretch: 300,
    },
  ],
  async open(bench) {
    const folders = [bench.newFolder('empty'), bench.newFolder('full')] as const;
    const count = bench.quick ? 10_000 : 100_000;
    serveCommand(bench, folders[1]);
    const raw = await fill(bench, join(folders[1], 'data'), count);
    const bare: Side = {
      name: 'oidc-provider',
      async sample() {
        return sampleOf(
          (
            await reading(
              () => startPeer(bench, 'bare'),
              async () => {},
            )
          ).cold,
        );
      },
      async stop() {},
    };
    return [growing(bench, folders, raw, count), bare];
  },
};
