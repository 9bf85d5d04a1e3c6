import { errors, type KoaContext } from 'oidc-provider';
import type { ProviderServices } from '../context/context.js';
import { withProviderErrors } from '../context/errors.js';
import { recordKey, recordKeyOf } from '../context/records.js';
import { currentUnitOfWork, type UnitOfWork } from '../context/unit-of-work.js';

/** How long the answer to a refresh is repeated, in milliseconds (RFC 9700 §4.14.2). */
const repeatMs = 30_000;

const model = 'RefreshAnswer';

/** The memo key of the answer that a request gets again. */
const repeatedMemo = 'repeated answer to a refresh';

/** The parts of a refresh that its answer depends on. */
const requestOf = ({ client, params }: NonNullable<KoaContext['oidc']>): string =>
  JSON.stringify([client!.clientId, params?.scope, params?.resource]);

/**
 * Keeps the answer to a refresh that replaces its token, in the same commit: a Client that did not get
 * the answer sends the used token again.
 */
export function keepRefreshAnswer(
  { records }: Pick<ProviderServices, 'records'>,
  { oidc, status, body }: KoaContext,
  unitOfWork: UnitOfWork,
): void {
  const { RotatedRefreshToken: used, RefreshToken: next } = oidc?.entities ?? {};
  if (!used || !next || status !== 200) return;
  const key = recordKey(model, used.jti);
  const kept = { request: requestOf(oidc!), next: next.jti, body };
  unitOfWork.put(key, records.seal(key, model, kept), Date.now() + repeatMs);
}

/**
 * Returns the answer that the first use of a refresh token got (its hashed id), for the same request in the
 * next 30 s. Undefined once the new refresh token was used: then its holder has the answer, and another use
 * of the old one is a theft.
 */
export async function findRefreshAnswer(
  { records, storage }: Pick<ProviderServices, 'records' | 'storage'>,
  oidc: NonNullable<KoaContext['oidc']>,
  hashed: string,
): Promise<object | undefined> {
  const read = async (key: string, of: string) => {
    const { entry } = await withProviderErrors(storage.get(key));
    return entry && (entry.expires ?? Infinity) > Date.now()
      ? records.open(key, of, entry.value)
      : undefined;
  };
  const kept = await read(recordKeyOf(model, hashed), model);
  if (!kept || kept.request !== requestOf(oidc)) return undefined;
  const next = await read(recordKey('RefreshToken', String(kept.next)), 'RefreshToken');
  return next && !next.consumed ? (kept.body as object) : undefined;
}

/**
 * Ends the current request with the answer of before: throws an error that `repeatedAnswer` replaces.
 * oidc-provider would take the request for a theft.
 */
export function repeatAnswer(answer: object): never {
  currentUnitOfWork()!.memo.set(repeatedMemo, answer);
  throw new errors.InvalidGrant('answered again');
}

/** Returns the answer that the current request gets again. */
export const repeatedAnswer = (): object | undefined =>
  currentUnitOfWork()?.memo.get(repeatedMemo) as object | undefined;
