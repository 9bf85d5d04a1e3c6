import type { AdapterPayload } from 'oidc-provider';
import { grantName } from '../../kinds/apps/grant.js';
import { digest } from '../../security/keyring.js';
import type { ProviderServices } from '../context/context.js';
import { copiesPrefix, grantable, membersPrefix, uidKey, userCodeKey } from '../context/records.js';
import { currentUnitOfWork } from '../context/unit-of-work.js';
import type { SignedIn } from './accounts.js';

/**
 * The value of a copy's index entry: the consent decision that the copy was made from, and the
 * sign-in that it was made for.
 */
export interface GrantAuthenticationContext {
  readonly decision: number;
  readonly signedIn?: SignedIn;
}

/** Returns the memo key of the authentication context of a Grant that is being saved. */
export const authenticationContextMemo = (grantId: string): string => `stamp ${grantId}`;

type Index = readonly [key: string, value: Buffer];

/** Returns the index entries that are written and deleted with a library object. */
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
  if (grantable.has(model) && model !== 'AuthorizationCode' && payload.grantId)
    indexes.push([membersPrefix(digest(payload.grantId), model) + hashed, Buffer.alloc(0)]);
  if (model === 'Grant')
    indexes.push([
      copiesPrefix(grantName(payload.accountId!, payload.clientId!)) + hashed,
      encodedContextOf(id),
    ]);
  return indexes;
}

function encodedContextOf(id: string): Buffer {
  return encodeContext(
    (currentUnitOfWork()?.memo.get(authenticationContextMemo(id)) as
      | GrantAuthenticationContext
      | undefined) ?? {
      decision: 0,
    },
  );
}

/** Encodes an authentication context for the store. */
export const encodeContext = (given: GrantAuthenticationContext): Buffer =>
  Buffer.from(JSON.stringify(given));

/** Returns the consent decision from a copy's index entry. */
export const decisionFromIndex = (kept: Buffer): number =>
  (JSON.parse(kept.toString()) as GrantAuthenticationContext).decision;

/** Returns the sign-in from a copy's index entry, as far as it is recorded. */
export const signInFromIndex = (kept: Buffer): SignedIn =>
  (JSON.parse(kept.toString()) as GrantAuthenticationContext).signedIn ?? {};
