import { errors, type KoaContext, type OIDCContext } from 'oidc-provider';
import type { ProviderServices } from '../context/context.js';
import { requestState } from '../context/current-request.js';
import { withProviderErrors } from '../context/errors.js';
import { recordKey, recordKeyOf } from '../context/records.js';
import { StateKey } from '../context/request-state.js';
import { jsonOf } from '../context/response.js';
import type { UnitOfWork } from '../context/unit-of-work.js';

/** How long the answer to a refresh is repeated, in milliseconds (RFC 9700 §4.14.2). */
const repeatMs = 30_000;

const model = 'RefreshAnswer';

/** The answer that a request gets again. */
const repeated = new StateKey<object>();

/** The parts of a refresh that its answer depends on. */
const requestOf = ({ client, params }: OIDCContext): string =>
  JSON.stringify([client?.clientId, params?.scope, params?.resource]);

/**
 * Keeps the answer to a refresh that replaces its token, in the same commit: a Client that did not get
 * the answer sends the used token again.
 */
export function keepRefreshAnswer(
  { secrets: { records } }: Pick<ProviderServices, 'secrets'>,
  { oidc, status, body }: KoaContext,
  unitOfWork: UnitOfWork,
): void {
  if (!oidc || status !== 200) return;
  const { RotatedRefreshToken: used, RefreshToken: next } = oidc.entities;
  if (!used || !next) return;
  const key = recordKey(model, used.jti);
  const kept = { request: requestOf(oidc), next: next.jti, body };
  unitOfWork.write(key, records.seal(key, model, kept), Date.now() + repeatMs);
}

/**
 * Returns the answer that the first use of a refresh token got (its hashed id), for the same request in the
 * next 30 s. Undefined once the new refresh token was used: then its holder has the answer, and another use
 * of the old one is a theft.
 */
export async function findRefreshAnswer(
  { secrets: { records }, store }: Pick<ProviderServices, 'secrets' | 'store'>,
  oidc: OIDCContext,
  hashed: string,
): Promise<object | undefined> {
  const read = async (key: string, purpose: string) => {
    const { entry } = await withProviderErrors(store.storage.get(key));
    return entry && (entry.expires ?? Infinity) > Date.now()
      ? records.open(key, purpose, entry.value)
      : undefined;
  };
  const kept = await read(recordKeyOf(model, hashed), model);
  if (!kept || kept.request !== requestOf(oidc)) return undefined;
  const next = await read(recordKey('RefreshToken', String(kept.next)), 'RefreshToken');
  return next && !next.consumed ? jsonOf(kept.body) : undefined;
}

/**
 * Ends the current request with the answer of before: throws an error that `repeatedAnswer` replaces.
 * oidc-provider would take the request for a theft.
 */
export function repeatAnswer(answer: object): never {
  requestState().set(repeated, answer);
  throw new errors.InvalidGrant('answered again');
}

/** Returns the answer that the current request gets again. */
export const repeatedAnswer = (): object | undefined => requestState().get(repeated);
