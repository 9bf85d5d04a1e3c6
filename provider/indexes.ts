import type { AdapterPayload } from 'oidc-provider';
import { grantName } from '../kinds/grant.js';
import { digest } from '../registry/keys.js';
import { currentExchange } from './exchange.js';
import type { Foundation } from './foundation.js';
import { copiesPrefix, grantable, membersPrefix, uidKey, userCodeKey } from './records.js';

/** Where a copy being saved takes the decision it was made from. */
export const stampOf = (grantId: string): string => `stamp ${grantId}`;

type Index = readonly [key: string, value: Buffer];

/** The index keys that stand and fall with a library object. */
export function indexesOf(on: Foundation, model: string, id: string, payload: AdapterPayload): Index[] {
  const hashed = digest(id);
  const indexes: Index[] = [];
  if (model === 'Session') indexes.push([uidKey(payload.uid!), Buffer.from(hashed)]);
  if (payload.userCode) indexes.push([userCodeKey(on.keys, payload.userCode), Buffer.from(hashed)]);
  if (grantable.has(model) && payload.grantId) indexes.push([membersPrefix(digest(payload.grantId), model) + hashed, Buffer.alloc(0)]);
  if (model === 'Grant') indexes.push([copiesPrefix(grantName(payload.accountId!, payload.clientId!)) + hashed, stamp(id)]);
  return indexes;
}

function stamp(id: string): Buffer {
  return Buffer.from(JSON.stringify({ decision: currentExchange()?.memo.get(stampOf(id)) ?? 0 }));
}

/** The decision that a copy was made from, by its index entry. */
export const decisionOf = (stamped: Buffer): number => (JSON.parse(stamped.toString()) as { decision: number }).decision;
