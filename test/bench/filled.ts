import { join } from 'node:path';
import type { Bench } from './bench.js';
import { fill } from './objects.js';
import { people, type Person } from './people.js';
import type { Served } from './sides/peer.js';
import { startVestibule } from './sides/vestibule.js';

/** The service over a store with many accounts, and an operator who may see all of them. */
export interface Filled { readonly served: Served; readonly operator: Person }

/** Fills an embedded store of its own and starts the service on it. */
export async function storeWith(bench: Bench, count: number): Promise<Filled> {
  const folder = bench.newFolder(`filled-${count}`);
  const data = join(folder, 'data');
  await fill(bench, data, count);
  const served = await startVestibule(bench, folder, ['--data-dir', data, '--operators', 'person-0@bench.test']);
  return { served, operator: (await people(served.port, 1))[0]! };
}

/** The first page of a hundred accounts, for each of those in flight. */
export const pagesOfAccounts = ({ operator }: Filled, inFlight: number): string[] =>
  Array.from({ length: inFlight }, () => operator.browser.bytes('GET', '/api/v1alpha1/accounts?limit=100'));
