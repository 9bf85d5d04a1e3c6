import type { AdapterPayload } from 'oidc-provider';
import { grantName } from '../../kinds/grant.js';
import { digest } from '../../security/keyring.js';
import type { SignedIn } from './accounts.js';
import { currentUnitOfWork } from '../context/unit-of-work.js';
import type { ProviderServices } from '../context/context.js';
import { copiesPrefix, grantable, membersPrefix, uidKey, userCodeKey } from '../context/records.js';

/**
 * What an index entry says of a copy: the decision it was made from, and how the sign-in was done
 * that it was made for.
 */
export interface GrantAuthenticationContext {
  readonly decision: number;
  readonly signedIn?: SignedIn;
}

/** Where a copy being saved takes its stamp from. */
export const stampOf = (grantId: string): string => `stamp ${grantId}`;

type Index = readonly [key: string, value: Buffer];

/** The index keys that stand and fall with a library object. */
export function indexesOf(
  services: ProviderServices,
  model: string,
  id: string,
  payload: AdapterPayload,
): Index[] {
  const hashed = digest(id);
  const indexes: Index[] = [];
  if (model === 'Session') indexes.push([uidKey(payload.uid!), Buffer.from(hashed)]);
  if (payload.userCode)
    indexes.push([userCodeKey(services.keys, payload.userCode), Buffer.from(hashed)]);
  if (grantable.has(model) && payload.grantId)
    indexes.push([membersPrefix(digest(payload.grantId), model) + hashed, Buffer.alloc(0)]);
  if (model === 'Grant')
    indexes.push([
      copiesPrefix(grantName(payload.accountId!, payload.clientId!)) + hashed,
      stamp(id),
    ]);
  return indexes;
}

function stamp(id: string): Buffer {
  return stamped(
    (currentUnitOfWork()?.memo.get(stampOf(id)) as GrantAuthenticationContext | undefined) ?? {
      decision: 0,
    },
  );
}

/** A stamp as it is kept. */
export const stamped = (given: GrantAuthenticationContext): Buffer =>
  Buffer.from(JSON.stringify(given));

/** The decision that a copy was made from, by its index entry. */
export const decisionOf = (kept: Buffer): number =>
  (JSON.parse(kept.toString()) as GrantAuthenticationContext).decision;

/** How the sign-in was done that a copy was made for, as far as its index entry says. */
export const signInOf = (kept: Buffer): SignedIn =>
  (JSON.parse(kept.toString()) as GrantAuthenticationContext).signedIn ?? {};
