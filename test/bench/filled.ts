import { join } from 'node:path';
import type { Bench } from './bench.js';
import { fill } from './objects.js';
import { type Person, people } from './people.js';
import type { Served } from './sides/peer.js';
import { startVestibule } from './sides/vestibule.js';

/** The service over a store with many accounts, and an operator who may see all of them. */
export interface Filled {
  readonly served: Served;
  readonly operator: Person;
}

/** What was filled in a run, by its name. */
const folders = new WeakMap<Bench, Map<string, Promise<string>>>();

/**
 * Fills a new folder once in a run, by its name, and returns it: to lay down a million accounts
 * takes minutes. The rows of a run use it one after another.
 */
export function filledOnce(
  bench: Bench,
  name: string,
  lay: (folder: string) => Promise<unknown>,
): Promise<string> {
  const known = folders.get(bench) ?? new Map<string, Promise<string>>();
  folders.set(bench, known);
  const layNew = async (): Promise<string> => {
    const made = bench.newFolder(name);
    await lay(made);
    return made;
  };
  const folder = known.get(name) ?? layNew();
  known.set(name, folder);
  return folder;
}

/** Starts the service on an embedded store with so many accounts. */
export async function storeWith(bench: Bench, count: number): Promise<Filled> {
  const folder = await filledOnce(bench, `filled-${count}`, (made) =>
    fill(bench, join(made, 'data'), count),
  );
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
    operator.browser.bytes('GET', '/api/v1beta1/accounts?limit=100'),
  );
