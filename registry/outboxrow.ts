import type { Keys } from './keys.js';

/** What of a row must be readable before it is claimed. Times in milliseconds since the epoch. */
export interface RowHead { notBefore: number; until: number; attempt: number; claimed?: number }

/** A row as it lies in the store: its head in clear, what is to be done sealed under the row's key. */
export interface Row { readonly head: RowHead; readonly payload: unknown }

/** The write that puts a new row for `worker`. */
export function outboxRow(keys: Keys, worker: string, payload: unknown, options: { id: string; notBefore: number; until: number }): { put: string; value: Buffer; expires: number } {
  const key = `outbox/${worker}/${options.id}`;
  const head: RowHead = { notBefore: options.notBefore, until: options.until, attempt: 0 };
  return { put: key, value: encodeRow(head, keys.seal(key, JSON.stringify(payload))), expires: options.until + 60_000 };
}

/** Head and sealed payload, framed. */
export function encodeRow(head: RowHead, sealed: Buffer): Buffer { return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), sealed]) }

/** Takes a row apart without opening it. */
export function decodeRow(value: Buffer): { head: RowHead; sealed: Buffer } {
  const end = value.indexOf(10);
  return { head: JSON.parse(value.toString('utf8', 0, end)) as RowHead, sealed: value.subarray(end + 1) };
}
