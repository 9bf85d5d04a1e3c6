import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Bench } from './bench.js';

/** Imports a module of the built service, by its path in `dist`. */
export const loadBuilt = (bench: Bench, file: string): Promise<any> =>
  import(pathToFileURL(join(bench.root, 'dist', file)).href);

/**
 * Fills an embedded store with so many accounts, as the service itself would lay them down in the
 * course of time, its history compacted; answers the bytes of what is stored, keys included.
 */
export async function fill(bench: Bench, data: string, count: number): Promise<number> {
  const load = (file: string): Promise<any> => loadBuilt(bench, file);
  const [{ openEmbedded }, { encode, objectKey, uniqueKey }, { hubOf }, { Account }] =
    await Promise.all([
      load('storage/embedded/embedded.js'),
      load('registry/encoded-object.js'),
      load('registry/versions/kind-view.js'),
      load('kinds/people/account/account.js'),
    ]);
  const stored = hubOf(Account);
  const storage = await openEmbedded({ directory: join(data, 'store') });
  let bytes = 0;
  for (let from = 0; from < count; from += 1000) {
    await Promise.all(
      Array.from({ length: 20 }, (_, part) => {
        const writes = Array.from({ length: 50 }, (_, i) => account(from + part * 50 + i)).flatMap(
          (object) => {
            const { name } = object.metadata;
            return [
              { put: objectKey(Account, name) as string, value: encode(stored, object) as Buffer },
              {
                put: uniqueKey(Account, 'email', object.status.email.address) as string,
                value: Buffer.from(name),
              },
            ];
          },
        );
        for (const { put, value } of writes) bytes += put.length + value.length;
        return storage.commit([], writes);
      }),
    );
    await storage.compact((await storage.get('meta/fill')).revision);
  }
  // The tables follow the log, as they would in a minute.
  await storage.list({ start: '!', end: '~~' }, { limit: 1 });
  await storage.close();
  return bytes;
}

function account(number: number) {
  const name = createHash('sha256').update(String(number)).digest('hex').slice(0, 20);
  const time = '2025-01-01T00:00:00Z';
  return {
    metadata: {
      name,
      uid: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
      generation: 1,
      creationTimestamp: time,
    },
    spec: { displayName: `Person number ${number}` },
    status: {
      email: { address: `many-${number}@bench.test`, verifiedTimestamp: time },
      setup: { complete: true, missing: [] },
      passkeys: 0,
      lastSignInTimestamp: time,
    },
    internal: { userHandle: 'x'.repeat(86) },
  };
}
