import { createHash } from 'node:crypto';
import { keysOf } from '../../../../registry/schema/typed-entries.js';
import { toStatusError } from '../../../../registry/status/storage-errors.js';
import { replicaRecords } from '../../../../registry/store/replicas/replica-record.js';
import type { KeyIDs, Keys } from '../../../../security/keyring.js';
import type { Storage } from '../../../../storage/storage.js';
import { ConfigError } from '../../options/config.js';

const key = 'meta/keys';

/** What the record of a replica says of keys. */
export interface KeyFacts {
  readonly keys: KeyIDs;
}

/**
 * Returns the SHA-256 of the pairwise key, which no rotation changes. Its 256 random bits cannot be
 * recovered from the digest.
 */
const fingerprint = ({ pairwise }: Keys): string =>
  createHash('sha256').update('vestibule keys\0').update(pairwise).digest('base64url');

/**
 * Throws a ConfigError if the keys are not those of this store. The pairwise key must have the
 * fingerprint of the first start; of every other type, each running replica must know at least one
 * key. A rotation that adds, moves and drops keys one step at a time preserves both.
 */
export async function requireStoreKeys(storage: Storage, keys: Keys): Promise<void> {
  await requireStorePairwiseKey(storage, fingerprint(keys));
  const own = keys.ids();
  for (const { keys: theirs } of await toStatusError(replicaRecords<KeyFacts>(storage))) {
    if (theirs === undefined) continue;
    const sorts = keysOf(own).filter((sort) => !own[sort].some((id) => theirs[sort]?.includes(id)));
    if (sorts.length > 0) {
      throw new ConfigError([
        '--keys-file: another replica of this store knows none of these keys ' +
          `(${sorts.join(', ')}); give every replica the same keys file, and change it only with "vestibule keys add", ` +
          '"use" and "drop"',
      ]);
    }
  }
}

async function requireStorePairwiseKey(storage: Storage, own: string): Promise<void> {
  for (;;) {
    const { entry } = await toStatusError(storage.get(key));
    const stored = entry?.value.toString();
    if (stored === own) return;
    if (stored !== undefined) {
      throw new ConfigError([
        '--keys-file: these are not the keys of this store (the pairwise key differs); use the keys file of ' +
          'the other replicas, or of the last start',
      ]);
    }
    const { committed } = await toStatusError(
      storage.commit([{ key, is: 'absent' }], [{ put: key, value: Buffer.from(own) }]),
    );
    if (committed) return;
  }
}
