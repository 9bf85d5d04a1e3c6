import { existsSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { answers } from './answers.js';
import type { Bench } from './bench.js';
import type { Journey } from './known-accounts.js';
import { mountOwnDisk, type OwnDisk } from './measure/own-disk.js';
import { median } from './measure/statistics.js';
import { usageOfTree } from './processes.js';
import { type Costs, type Sample, type Side, Skip } from './row.js';
import { loadedSides } from './side.js';
import { freePort } from './sides/etcd.js';
import type { Address, Served } from './sides/peer.js';

/** How sign-ins are made in every row that has them. */
export const signIns = { inFlight: 16, accounts: 1000, warm: { operations: 3_000 } } as const;

/** A server that people sign in to. */
export interface SignInServer {
  readonly name: string;
  /** The path of its OpenID configuration. */
  readonly configuration: string;
  /** Throws {@link Skip} where it cannot be had; makes ready what it needs in its folder. */
  prepare?(bench: Bench, folder: string, port: number): void | Promise<void>;
  /** Starts it over the folder that it had before. */
  start(bench: Bench, folder: string, address: Address): Promise<Served>;
  /** The load that signs people in, and the journeys that it has. */
  readonly load: string;
  readonly journeys: readonly Journey[];
  readonly accounts?: number;
  /** How many sign-ins it is given at the same time, where it cannot take as many as the others. */
  readonly inFlight?: number;
}

/** So many sign-ins are made before memory is read again, or as many as fit in so many seconds. */
const used = { signIns: 10_000, seconds: 120 } as const;
const restarts = 3;
const rest = 3_000;

/**
 * Starts a server over a store that it laid down before, reads what it costs at rest, and answers
 * one side for each of its journeys.
 */
export async function signInSides(
  bench: Bench,
  kind: SignInServer,
  journeys: readonly Journey[],
): Promise<Side[]> {
  if (!existsSync('/proc/self/io')) throw new Skip('/proc of Linux is missing');
  const [folder, port] = [bench.newFolder(kind.name.replace(/\W/g, '')), await freePort()];
  const disk = mountOwnDisk(folder);
  await kind.prepare?.(bench, folder, port);
  const address = { port, path: kind.configuration };
  const starts: number[] = [];
  let served = await kind.start(bench, folder, address);
  for (let i = 0; i < (bench.quick ? 1 : restarts); i += 1) {
    await served.stop();
    const began = performance.now();
    served = await kind.start(bench, folder, address);
    while (!(await answers(port, address.path))) await pause(5);
    starts.push(performance.now() - began);
  }
  const { pid } = served.child;
  await pause(rest);
  const known = { startMs: median(starts), restBytes: usageOfTree(pid).rss };
  return sidesOf({ bench, kind, journeys, served, disk }, known);
}

async function sidesOf(
  {
    bench,
    kind,
    journeys,
    served,
    disk,
  }: {
    bench: Bench;
    kind: SignInServer;
    journeys: readonly Journey[];
    served: Served;
    disk: OwnDisk | undefined;
  },
  known: Pick<Costs, 'startMs' | 'restBytes'>,
): Promise<Side[]> {
  const { pid } = served.child;
  const accounts = Math.min(kind.accounts ?? signIns.accounts, bench.quick ? 50 : Infinity);
  const { warm } = signIns;
  const inFlight = kind.inFlight ?? signIns.inFlight;
  const server = {
    ...served,
    usage: async () => ({
      ...(await served.usage?.()),
      ...usageOfTree(pid),
      ...(disk && { written: disk.written() }),
    }),
    stop: async () => {
      await served.stop();
      disk?.remove();
    },
  };
  const done = { signInCount: accounts };
  let costs: Promise<Costs> | undefined;
  const counted = (side: Side): Side => ({
    ...side,
    async sample(seconds: number): Promise<Sample> {
      const sample = await side.sample(seconds);
      done.signInCount += sample.operations;
      return sample;
    },
  });
  const args = { port: served.port, inFlight, accounts };
  const parts = journeys.map((journey) => ({ name: `${kind.name}, ${journey}`, kind: journey }));
  const load = { server, load: kind.load, args, warm };
  const sides = (await loadedSides(bench, load, parts)).map(counted);
  const readCosts = async (): Promise<Costs> => {
    const end = performance.now() + used.seconds * 1000;
    const enough = bench.quick ? 300 : used.signIns;
    for (let i = 0; done.signInCount < enough && performance.now() < end; i += 1) {
      await sides[i % sides.length]!.sample(2);
    }
    const { rss, anonymous } = usageOfTree(pid);
    return { ...known, usedBytes: rss, usedAnonymousBytes: anonymous, ...done };
  };
  return sides.map((side) => ({ ...side, costs: () => (costs ??= readCosts()) }));
}
