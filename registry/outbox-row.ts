import { randomUUID } from 'node:crypto';
import type { Keys } from '../security/keyring.js';

/**
 * What of a row must be readable before it is claimed: times in milliseconds since the epoch, and
 * the replica that wrote it.
 */
export interface RowHead {
  notBefore: number;
  until: number;
  attempt: number;
  claimed?: number;
  by?: string;
}

/** This replica, among those that share a store. */
const replica = randomUUID().slice(0, 8);

/**
 * A row as it lies in the store: its head in clear, what is to be done sealed under the row's key.
 */
export interface OutboxRow {
  readonly head: RowHead;
  readonly payload: unknown;
}

/** The write that puts a new row for `worker`. */
export function outboxRow(
  keys: Keys,
  worker: string,
  payload: unknown,
  options: { id: string; notBefore: number; until: number },
): { put: string; value: Buffer; expires: number } {
  const key = `outbox/${worker}/${options.id}`;
  const head: RowHead = {
    notBefore: options.notBefore,
    until: options.until,
    attempt: 0,
    by: replica,
  };
  return {
    put: key,
    value: encodeRow(head, keys.seal(key, JSON.stringify(payload))),
    expires: options.until + 60_000,
  };
}

/** Head and sealed payload, framed. */
export function encodeRow(head: RowHead, sealed: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), sealed]);
}

/** Takes a row apart without opening it. */
export function decodeRow(value: Buffer): { head: RowHead; sealed: Buffer } {
  const end = value.indexOf(10);
  return {
    head: JSON.parse(value.toString('utf8', 0, end)) as RowHead,
    sealed: value.subarray(end + 1),
  };
}

/** Whether this replica wrote it, and is first to carry it out. */
export const isOwn = (head: RowHead): boolean => head.by === replica;
