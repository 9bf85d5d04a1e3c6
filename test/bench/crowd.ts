import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Bench } from './bench.js';
import { fill, loadBuilt } from './objects.js';
import { people } from './people.js';
import { startVestibule } from './sides/vestibule.js';

/** How many accounts a store has, and how many of them are signed in. */
export interface Size {
  readonly accounts: number;
  readonly sessions: number;
}

/** A record as the store has it. */
interface Stored {
  readonly key: string;
  readonly value: Buffer;
  readonly expires?: number;
}

const everything = { start: '!', end: '~~' };
const day = 86_400_000;
const writesOfCommit = 100;

/**
 * Lays down a store with so many accounts. Those who are signed in have the records that a real
 * sign-in leaves for longer than a day, copied under other names.
 */
export async function fillCrowd(bench: Bench, data: string, size: Size): Promise<void> {
  const records = await recordsOfOne(bench);
  await fill(bench, data, size.accounts - size.sessions);
  const storage = await openEmbedded(bench, data);
  let writes: object[] = [];
  const flush = async (): Promise<void> => {
    await storage.commit([], writes);
    writes = [];
  };
  for (let copy = 0; copy < size.sessions; copy += 1) {
    const own = copyOf(records, copy);
    if (writes.length + own.length > writesOfCommit) await flush();
    writes.push(...own);
    if (copy % 1_000 === 999) await storage.compact((await storage.get('meta/fill')).revision);
  }
  await flush();
  await storage.list(everything, { limit: 1 });
  await storage.close();
}

const openEmbedded = async (bench: Bench, data: string): Promise<any> =>
  (await loadBuilt(bench, 'storage/embedded/embedded.js')).openEmbedded({
    directory: join(data, 'store'),
  });

/** Returns the records about a person who signed in to a new service, and nothing about others. */
async function recordsOfOne(bench: Bench): Promise<readonly Stored[]> {
  const folder = bench.newFolder('specimen');
  const served = await startVestibule(bench, folder);
  const [, person] = await people(served.port, 2);
  await served.stop();
  const storage = await openEmbedded(bench, join(folder, 'data'));
  const { entries } = (await storage.list(everything)) as { entries: readonly Stored[] };
  await storage.close();
  const { name } = person!;
  return entries.filter(
    ({ key, value, expires = Infinity }) =>
      (key.includes(name) || value.includes(name)) && expires > Date.now() + day,
  );
}

/** Names and digests in keys: what the records of two people differ by. */
const identifier = /(?=[A-Za-z_]*\d)\w{16,}/g;
const address = 'person-1@';

/** Returns writes of the same records with other identifiers, each of the length of its original. */
function copyOf(records: readonly Stored[], copy: number): object[] {
  const originals = new Set(records.flatMap(({ key }) => key.match(identifier) ?? []));
  const others = new Map(
    [...originals].map((original) => [
      original,
      createHash('sha512').update(`${original} ${copy}`).digest('hex').slice(0, original.length),
    ]),
  );
  others.set(address, `c${String(copy).padStart(address.length - 2, '0')}@`);
  const pattern = new RegExp([...others.keys()].join('|'), 'g');
  const renamed = (text: string): string => text.replace(pattern, (one) => others.get(one)!);
  return records.map(({ key, value, expires }) => ({
    put: renamed(key),
    value: Buffer.from(renamed(value.toString('latin1')), 'latin1'),
    ...(expires !== undefined && { expires }),
  }));
}

/** Copies a store into an empty etcd, as an operator would. */
export function moveToEtcd(bench: Bench, data: string, endpoint: string): void {
  const snapshot = join(bench.newFolder('snapshot'), 'snapshot');
  const vestibule = (...args: string[]): void => {
    execFileSync(bench.node, [join(bench.root, 'bin/vestibule'), ...args], { stdio: 'ignore' });
  };
  vestibule('snapshot', 'save', snapshot, '--data-dir', data);
  vestibule('snapshot', 'restore', snapshot, '--etcd-servers', endpoint);
}
