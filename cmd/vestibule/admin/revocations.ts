import { Account } from '../../../kinds/people/account/account.js';
import { Group, operators } from '../../../kinds/people/group/group.js';
import { Passkey } from '../../../kinds/people/passkey/passkey.js';
import { EncodedObject, encode, objectKey, uniqueKey } from '../../../registry/encoded-object.js';
import type { AnyKind, ObjectOf } from '../../../registry/kind.js';
import { viewIn } from '../../../registry/versions/kind-view.js';
import type { SnapshotItem } from '../../../storage/snapshot/format.js';
import type { Revise } from '../../../storage/snapshot/layout.js';
import { readItems, type Snapshot } from '../../../storage/snapshot/reader.js';

/** What a restore leaves out of a snapshot: passkeys and operators added since a date. */
export interface Revocation {
  /** Passkeys that were registered since. */
  readonly passkeys: number;
  /** Accounts that had them. */
  readonly accounts: number;
  /** Accounts that have no passkey left; counted while they are restored. */
  readonly withoutPasskey: number;
  /** Whether Group `operators` is left out, as its members may have been added since. */
  readonly operatorsGroup: 'Absent' | 'Kept' | 'LeftOut';
  /** Returns the record to restore, or undefined to leave it out. */
  readonly revise: Revise;
}

/**
 * Reads which passkeys of a snapshot were registered since a time (ms since the epoch), and whether
 * Group `operators` was made or changed since. A Group does not record when a member was added, so
 * one that was ever changed is left out as a whole.
 */
export async function readRevocation(snapshot: Snapshot, since: number): Promise<Revocation> {
  const from = Math.floor(since / 1000) * 1000; // creationTimestamp has whole seconds
  const leftOut = new Set<string>();
  const lost = new Map<string, number>();
  let passkeys = 0;
  let operatorsGroup: Revocation['operatorsGroup'] = 'Absent';
  for await (const items of readItems(snapshot)) {
    for (const item of items) {
      if (item.key === objectKey(Group, operators)) operatorsGroup = groupOutcome(item, from);
      if (!item.key.startsWith(objectKey(Passkey, ''))) continue;
      const { metadata, status, internal } = decoded(Passkey, item);
      if (Date.parse(metadata.creationTimestamp) < from) continue;
      passkeys += 1;
      leftOut.add(item.key).add(uniqueKey(Passkey, 'credential', internal.credentialID));
      lost.set(
        objectKey(Account, status.account),
        (lost.get(objectKey(Account, status.account)) ?? 0) + 1,
      );
    }
  }
  if (operatorsGroup === 'LeftOut') leftOut.add(objectKey(Group, operators));
  let withoutPasskey = 0;
  return {
    passkeys,
    accounts: lost.size,
    operatorsGroup,
    get withoutPasskey() {
      return withoutPasskey;
    },
    revise: (item) => {
      if (leftOut.has(item.key)) return undefined;
      const count = lost.get(item.key);
      if (count === undefined) return item;
      const { storedVersion } = encoded(Account, item);
      const account = decoded(Account, item);
      account.status.passkeys = Math.max(0, account.status.passkeys - count);
      if (account.status.passkeys === 0) withoutPasskey += 1;
      return { ...item, value: encode(viewIn(Account, storedVersion)!, account) };
    },
  };
}

/** Whether a Group is left out, as it was made since `from` or changed at any time. */
function groupOutcome(item: SnapshotItem, from: number): 'Kept' | 'LeftOut' {
  const { metadata } = decoded(Group, item);
  return metadata.generation > 1 || Date.parse(metadata.creationTimestamp) >= from
    ? 'LeftOut'
    : 'Kept';
}

const encoded = (kind: AnyKind, { key, value }: SnapshotItem): EncodedObject =>
  new EncodedObject(kind, { key, value, revision: 0 });

const decoded = <K extends AnyKind>(kind: K, item: SnapshotItem): ObjectOf<K> =>
  encoded(kind, item).parse() as ObjectOf<K>;
