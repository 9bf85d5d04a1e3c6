import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Bench } from '../bench.js';
import patches from '../loads/patch.js';
import { startVestibule } from '../sides/vestibule.js';

/** The size of a key and of its value. */
export interface Size {
  readonly keyBytes: number;
  readonly valueBytes: number;
}

/** What one commit writes: keys that it found there, and so compares, and keys that are new. */
export interface Footprint {
  readonly replaced: readonly Size[];
  readonly added: readonly Size[];
}

/** The old measure of a change: the passkey alone, neither its decision nor anything else. */
export const oneKey: Footprint = { replaced: [{ keyBytes: 26, valueBytes: 810 }], added: [] };

interface Change {
  readonly key: string;
  readonly entry?: { readonly value: Buffer };
  readonly before?: object;
}

const enough = 300;

/**
 * Reads what the service commits for one PATCH of a passkey from the store that it leaves behind, after
 * so many that the commit is one of many.
 */
export async function footprintOfPatch(bench: Bench): Promise<Footprint> {
  const folder = bench.newFolder('footprint');
  const server = await startVestibule(bench, folder);
  const load = await patches({ port: server.port, inFlight: 1 });
  for (let i = 0; i < enough; i += 1) await load.operation(0);
  await load.close();
  await server.stop();
  const { openEmbedded } = await import(
    pathToFileURL(join(bench.root, 'dist/storage/embedded/embedded.js')).href
  );
  const storage = await openEmbedded({ directory: join(folder, 'data/store') });
  const { revision } = await storage.get('meta/footprint');
  const stop = new AbortController();
  let last: readonly Change[] = [];
  for await (const batch of storage.watch('', revision - enough / 2, stop.signal)) {
    if (batch.changes.some(({ key }: Change) => key.startsWith('objects/passkeys/'))) {
      last = batch.changes;
    }
    if (batch.revision >= revision) break;
  }
  stop.abort();
  await storage.close();
  return footprintOf(last);
}

/** Sorts the changes of a commit. */
export function footprintOf(changes: readonly Change[]): Footprint {
  const sizes = (found: boolean): Size[] =>
    changes
      .filter(({ entry, before }) => entry && (before !== undefined) === found)
      .map(({ key, entry }) => ({ keyBytes: key.length, valueBytes: entry!.value.length }));
  return { replaced: sizes(true), added: sizes(false) };
}

/** The key of so many bytes that one of those in flight writes again and again. */
export const keyOf = (worker: number, index: number, keyBytes: number): string =>
  `/ceiling/${worker}/${index}/`.padEnd(keyBytes, 'k');

/** A key of so many bytes that is written once, by the change of that number. */
export const newKeyOf = (worker: number, index: number, keyBytes: number, change: number): string =>
  `${keyOf(worker, index, keyBytes - 12)}+${String(change).padStart(11, '0')}`;
