import { join } from 'node:path';
import type { Bench } from '../bench.js';
import signIns from '../loads/signin.js';
import { loadBuilt } from '../objects.js';
import { startVestibule } from '../sides/vestibule.js';

const dayMs = 86_400_000;
const inFlight = 8;

interface Entry {
  readonly key: string;
  readonly value: Buffer;
  readonly expires?: number;
}

/** What the sign-ins left of one kind of record. */
export interface Retained {
  keys: number;
  bytes: number;
  /** Each byte times the days until it expires: what stays for one sign-in a day. */
  byteDays: number;
  /** Bytes that have no end. */
  endless: number;
}

/** Returns the kind of record of a key: its resource, the library's model, or the first part. */
const kindOf = (key: string): string => {
  const [first, second] = key.split('/');
  return first === 'objects' || first === 'oidc' ? `${first}/${second}` : first!;
};

/** Adds up entries by kind. Mails of the mock mailbox are left out: a service that sends has none. */
export function retainedIn(entries: Iterable<Entry>, now: number): Map<string, Retained> {
  const kinds = new Map<string, Retained>();
  for (const { key, value, expires } of entries) {
    const kind = kindOf(key);
    if (kind === 'objects/mockmessages') continue;
    const sum = kinds.get(kind) ?? { keys: 0, bytes: 0, byteDays: 0, endless: 0 };
    const bytes = key.length + value.length;
    sum.keys += 1;
    sum.bytes += bytes;
    if (expires === undefined) {
      sum.endless += bytes;
    } else {
      sum.byteDays += (bytes * Math.max(0, expires - now)) / dayMs;
    }
    kinds.set(kind, sum);
  }
  return kinds;
}

/** Returns what one sign-in added to each kind: the difference of two stores, for each of so many. */
export function perSignIn(
  before: ReadonlyMap<string, Retained>,
  after: ReadonlyMap<string, Retained>,
  count: number,
): Map<string, Retained> {
  const none = { keys: 0, bytes: 0, byteDays: 0, endless: 0 };
  return new Map(
    [...after].map(([kind, sum]) => {
      const less = before.get(kind) ?? none;
      const each = (of: keyof Retained): number => (sum[of] - less[of]) / count;
      const [keys, bytes] = [each('keys'), each('bytes')];
      return [kind, { keys, bytes, byteDays: each('byteDays'), endless: each('endless') }];
    }),
  );
}

/** Signs `accounts` people in, each once for the first time and then so many times more. */
async function storeAfter(bench: Bench, accounts: number, more: number) {
  const folder = bench.newFolder('retained');
  const server = await startVestibule(bench, folder);
  const load = await signIns({ port: server.port, inFlight, accounts });
  const worker = async (): Promise<void> => {
    while (more-- > 0) await load.operation(0, 'remembered');
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  await load.close();
  await server.stop();
  const { openEmbedded } = await loadBuilt(bench, 'storage/embedded/embedded.js');
  const storage = await openEmbedded({ directory: join(folder, 'data/store') });
  const entries: Entry[] = (await storage.list({ start: '', end: '~' })).entries;
  await storage.close();
  return retainedIn(entries, Date.now());
}

/**
 * Returns what stays of one sign-in with remembered consent, by kind: the difference between a store in
 * which everyone signed in once and one in which everyone signed in twice.
 */
export async function retainedPerSignIn(
  bench: Bench,
  count: number,
): Promise<Map<string, Retained>> {
  const [before, after] = [
    await storeAfter(bench, count, 0),
    await storeAfter(bench, count, count),
  ];
  return perSignIn(before, after, count);
}
