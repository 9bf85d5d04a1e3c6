import type { ICompare, IRequestOp, ITxnRequest, ITxnResponse } from 'etcd3';
import { keyOf } from '../limits.js';
import { isMet } from '../preconditions.js';
import type { Check, Committed, Entry, Lost, Revision, Write } from '../storage.js';
import { encodeValue, type Keyspace } from './key-prefix.js';

/** What one caller wants done in one transaction. */
export interface QueuedTxn {
  readonly checks: readonly Check[];
  readonly writes: readonly Write[];
  /** Marks the values this commit writes, so that they can be told from another's. */
  readonly nonce: Buffer;
  /** The lease for each expiry. */
  readonly leases: ReadonlyMap<number, string> | undefined;
}

/** The request for several intents at once, each a transaction nested in one. */
export function nest(keyspace: Keyspace, intents: readonly QueuedTxn[]): ITxnRequest {
  if (intents.length === 1) return single(keyspace, intents[0]!);
  const success = intents.map((intent) => ({ request_txn: single(keyspace, intent) }));
  return { success, failure: intents.some(puts) ? toll(keyspace) : [] };
}

/** What each intent of a nested request came to. */
export function unnest(
  keyspace: Keyspace,
  intents: readonly QueuedTxn[],
  answer: ITxnResponse,
): (Committed | Lost)[] {
  const revision = keyspace.outward(answer.header.revision);
  const batch = intents.length;
  if (batch === 1) return [resultOf(keyspace, intents[0]!, answer, { revision, batch })];
  return intents.map((intent, i) =>
    resultOf(keyspace, intent, answer.responses[i]!.response_txn, { revision, batch }),
  );
}

const puts = ({ writes }: QueuedTxn): boolean => writes.some((write) => 'put' in write);

/** Nested puts are free of etcd's quota; this one, in the branch never taken, is what it counts. */
const toll = (keyspace: Keyspace): IRequestOp[] => [
  { request_put: { key: keyspace.key('meta/quota'), value: Buffer.alloc(0) } },
];

function single(keyspace: Keyspace, { checks, writes, nonce, leases }: QueuedTxn): ITxnRequest {
  return {
    compare: checks.map((check) => compareOf(keyspace, check)),
    success: writes.map((write) => operationOf(keyspace, write, nonce, leases)),
    failure: checks.map(({ key }) => ({ request_range: { key: keyspace.key(key) } })),
  };
}

function compareOf(keyspace: Keyspace, { key, is }: Check): ICompare {
  const named = { key: keyspace.key(key) };
  if (is === 'absent') return { ...named, target: 'Create', result: 'Equal', create_revision: 0 };
  if (is === 'present')
    return { ...named, target: 'Create', result: 'Greater', create_revision: 0 };
  const revision = keyspace.inward(is);
  return { ...named, target: 'Mod', result: 'Equal', mod_revision: revision > 0 ? revision : -1 };
}

function operationOf(
  keyspace: Keyspace,
  write: Write,
  nonce: Buffer,
  leases: QueuedTxn['leases'],
): IRequestOp {
  const key = keyspace.key(keyOf(write));
  if (!('put' in write)) return { request_delete_range: { key } };
  const lease = write.expires === undefined ? undefined : leases?.get(write.expires);
  return {
    request_put: {
      key,
      value: encodeValue(write.value, write.expires, nonce),
      ...(lease !== undefined && { lease }),
    },
  };
}

function resultOf(
  keyspace: Keyspace,
  { checks }: QueuedTxn,
  answer: ITxnResponse,
  { revision, batch }: { revision: Revision; batch: number },
): Committed | Lost {
  if (answer.succeeded) return { committed: true, revision, batch };
  const winners = new Map<string, Entry | undefined>();
  checks.forEach((check, i) => {
    const kv = answer.responses[i]!.response_range.kvs[0];
    const entry = kv && keyspace.entry(kv);
    if (!isMet(check, entry)) winners.set(check.key, entry);
  });
  return { committed: false, revision, winners };
}
