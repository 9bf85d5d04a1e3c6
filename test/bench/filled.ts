import { join } from 'node:path';
import type { Bench } from './bench.js';
import { fill } from './objects.js';
import { people, type Person } from './people.js';
import type { Served } from './sides/peer.js';
import { startVestibule } from './sides/vestibule.js';

/** The service over a store with many accounts, and an operator who may see all of them. */
export interface Filled {
  readonly served: Served;
  readonly operator: Person;
}

/**
 * What was filled in a run, by how many accounts there are: to lay down a million takes minutes.
 */
const folders = new WeakMap<Bench, Map<number, Promise<string>>>();

/**
 * A folder whose `data` has so many accounts; the same for all rows of a run, which use it one
 * after another.
 */
function filledFolder(bench: Bench, count: number): Promise<string> {
  const known = folders.get(bench) ?? new Map<number, Promise<string>>();
  folders.set(bench, known);
  const lay = async (): Promise<string> => {
    const folder = bench.newFolder(`filled-${count}`);
    await fill(bench, join(folder, 'data'), count);
    return folder;
  };
  const folder = known.get(count) ?? lay();
  known.set(count, folder);
  return folder;
}

/** Starts the service on an embedded store with so many accounts. */
export async function storeWith(bench: Bench, count: number): Promise<Filled> {
  const folder = await filledFolder(bench, count);
  const served = await startVestibule(bench, folder, [
    '--data-dir',
    join(folder, 'data'),
    '--operators',
    'person-0@bench.test',
  ]);
  return { served, operator: (await people(served.port, 1))[0]! };
}

/** The first page of a hundred accounts, for each of those in flight. */
export const pagesOfAccounts = ({ operator }: Filled, inFlight: number): string[] =>
  Array.from({ length: inFlight }, () =>
    operator.browser.bytes('GET', '/api/v1alpha1/accounts?limit=100'),
  );
