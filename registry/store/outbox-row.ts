import { randomUUID } from 'node:crypto';
import type { Keys } from '../../security/keyring.js';
import { minuteMs } from '../schema/units.js';

/**
 * The readable part of a row: times in milliseconds since the epoch, and the replica that wrote it.
 */
export interface RowHead {
  notBefore: number;
  until: number;
  attempt: number;
  claimed?: number;
  by?: string;
}

/** The id of this replica. */
const replica = randomUUID().slice(0, 8);

/** Returns the write of a new row for `worker`. */
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
    expires: options.until + minuteMs,
  };
}

/** Encodes the head and the sealed payload. */
export function encodeRow(head: RowHead, sealed: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), sealed]);
}

/** Decodes a row without opening its payload. */
export function decodeRow(value: Buffer): { head: RowHead; sealed: Buffer } {
  const end = value.indexOf(10);
  return {
    head: JSON.parse(value.toString('utf8', 0, end)) as RowHead,
    sealed: value.subarray(end + 1),
  };
}

/** Reports whether this replica wrote the row and therefore runs it first. */
export const isOwn = (head: RowHead): boolean => head.by === replica;
