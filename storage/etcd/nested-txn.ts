import type { ICompare, IRequestOp, ITxnRequest, ITxnResponse } from 'etcd3';
import { keyOf } from '../limits.js';
import { isMet } from '../preconditions.js';
import type { Check, Committed, Entry, KeyCheck, Lost, Revision, Write } from '../storage.js';
import { encodeValue, type Keyspace } from './key-prefix.js';

/** One queued transaction. */
export interface QueuedTxn {
  readonly checks: readonly Check[];
  readonly writes: readonly Write[];
  /** Identifies the values that this commit writes. */
  readonly nonce: Buffer;
  /** The lease for each expiry. */
  readonly leases: ReadonlyMap<number, string> | undefined;
}

/** Returns one request for several transactions, each nested in it. */
export function nest(keyspace: Keyspace, txns: readonly QueuedTxn[]): ITxnRequest {
  if (txns.length === 1) return toTxnRequest(keyspace, txns[0]!);
  const success = txns.map((txn) => ({ request_txn: toTxnRequest(keyspace, txn) }));
  return { success, failure: txns.some(hasPut) ? quotaCheck(keyspace) : [] };
}

/** Returns the result of each transaction of a nested request. */
export function unnest(
  keyspace: Keyspace,
  txns: readonly QueuedTxn[],
  response: ITxnResponse,
): (Committed | Lost)[] {
  const revision = keyspace.fromEtcdRevision(response.header.revision);
  const batch = txns.length;
  if (batch === 1) return [toResult(keyspace, txns[0]!, response, { revision, batch })];
  return txns.map((txn, i) =>
    toResult(keyspace, txn, response.responses[i]!.response_txn, { revision, batch }),
  );
}

const hasPut = ({ writes }: QueuedTxn): boolean => writes.some((write) => 'put' in write);

/**
 * etcd does not apply its quota to nested puts. This put is in the branch that is never taken, and
 * only makes etcd check the quota.
 */
const quotaCheck = (keyspace: Keyspace): IRequestOp[] => [
  { request_put: { key: keyspace.toEtcdKey('meta/quota'), value: Buffer.alloc(0) } },
];

function toTxnRequest(
  keyspace: Keyspace,
  { checks, writes, nonce, leases }: QueuedTxn,
): ITxnRequest {
  return {
    compare: checks.map((check) => toCompare(keyspace, check)),
    success: writes.map((write) => toOperation(keyspace, write, nonce, leases)),
    failure: checks
      .filter(isKeyCheck)
      .map(({ key }) => ({ request_range: { key: keyspace.toEtcdKey(key) } })),
  };
}

const isKeyCheck = (check: Check): check is KeyCheck => check.end === undefined;

function toCompare(keyspace: Keyspace, { key, end, is }: Check): ICompare {
  const keyField = { key: keyspace.toEtcdKey(key) };
  if (end !== undefined) {
    const next = Math.max(keyspace.toEtcdRevision(is), 0) + 1;
    const range = { ...keyField, range_end: keyspace.toEtcdKey(end) };
    return { ...range, target: 'Mod', result: 'Less', mod_revision: next };
  }
  if (is === 'absent') {
    return { ...keyField, target: 'Create', result: 'Equal', create_revision: 0 };
  }
  if (is === 'present') {
    return { ...keyField, target: 'Create', result: 'Greater', create_revision: 0 };
  }
  const revision = keyspace.toEtcdRevision(is);
  return {
    ...keyField,
    target: 'Mod',
    result: 'Equal',
    mod_revision: revision > 0 ? revision : -1,
  };
}

function toOperation(
  keyspace: Keyspace,
  write: Write,
  nonce: Buffer,
  leases: QueuedTxn['leases'],
): IRequestOp {
  const key = keyspace.toEtcdKey(keyOf(write));
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

function toResult(
  keyspace: Keyspace,
  { checks }: QueuedTxn,
  response: ITxnResponse,
  { revision, batch }: { revision: Revision; batch: number },
): Committed | Lost {
  if (response.succeeded) return { committed: true, revision, batch };
  const winners = new Map<string, Entry | undefined>();
  checks.filter(isKeyCheck).forEach((check, i) => {
    const kv = response.responses[i]!.response_range.kvs[0];
    const entry = kv && keyspace.toEntry(kv);
    if (!isMet(check, entry)) winners.set(check.key, entry);
  });
  return { committed: false, revision, winners };
}
