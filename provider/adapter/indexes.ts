import type { AdapterPayload } from 'oidc-provider';
import { grantName } from '../../kinds/apps/grant.js';
import { digest } from '../../security/keyring.js';
import type { ProviderServices } from '../context/context.js';
import { requestState } from '../context/current-request.js';
import {
  copiesPrefix,
  grantable,
  isGrant,
  isSession,
  membersPrefix,
  uidKey,
  userCodeKey,
} from '../context/records.js';
import { StateKey } from '../context/request-state.js';
import type { SignedIn } from './accounts.js';

/**
 * The value of a copy's index entry: the consent decision that the copy was made from, and the
 * sign-in that it was made for.
 */
export interface GrantAuthenticationContext {
  readonly decision: number;
  readonly signedIn?: SignedIn;
}

/** The authentication contexts of the Grants that the request saves, by id. */
export const savedContexts = new StateKey<Map<string, GrantAuthenticationContext>>();

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
  if (isSession(model, payload)) indexes.push([uidKey(payload.uid), Buffer.from(hashed)]);
  if (payload.userCode) {
    indexes.push([userCodeKey(services.secrets.keys, payload.userCode), Buffer.from(hashed)]);
  }
  if (grantable.has(model) && model !== 'AuthorizationCode' && payload.grantId) {
    indexes.push([membersPrefix(digest(payload.grantId), model) + hashed, Buffer.alloc(0)]);
  }
  if (isGrant(model, payload)) {
    indexes.push([
      copiesPrefix(grantName(payload.accountId, payload.clientId)) + hashed,
      encodedContextOf(id),
    ]);
  }
  return indexes;
}

const encodedContextOf = (id: string): Buffer =>
  encodeContext(requestState().mapOf(savedContexts).get(id) ?? { decision: 0 });

/** Encodes an authentication context for the store. */
export const encodeContext = (given: GrantAuthenticationContext): Buffer =>
  Buffer.from(JSON.stringify(given));

const decodeContext = (kept: Buffer): GrantAuthenticationContext => JSON.parse(kept.toString());

/** Returns the consent decision from a copy's index entry. */
export const decisionFromIndex = (kept: Buffer): number => decodeContext(kept).decision;

/** Returns the sign-in from a copy's index entry, as far as it is recorded. */
export const signInFromIndex = (kept: Buffer): SignedIn => decodeContext(kept).signedIn ?? {};
