import type { Limits } from '../../registry/limits/limit-settings.js';
import {
  addUse,
  type Limit,
  limitKey,
  scaleLimit,
  withoutNewestUse,
} from '../../registry/limits/rate-limit.js';
import { tooManyRequests } from '../../registry/status/status.js';
import type { ProviderServices } from '../context/context.js';
import { currentUnitOfWork, requestState } from '../context/current-request.js';
import { retryAfterOf, toProviderError, withProviderErrors } from '../context/errors.js';
import { StateKey } from '../context/request-state.js';

/**
 * The wait in seconds when a limit is reached; the middleware sends it as Retry-After, which
 * oidc-provider cannot.
 */
export const retryAfter = new StateKey<number | undefined>();

/**
 * Counts one against a limit in the store; throws an oidc-provider error with status 429 above it.
 */
export async function spendAttempt(
  services: ProviderServices,
  limit: Limit,
  subject: string,
): Promise<void> {
  try {
    await updateCounter(services, limit, subject, (log) =>
      addUse(scaleLimit(limit, services.settings.limitFactor), log, Date.now()),
    );
  } catch (error) {
    requestState().set(retryAfter, retryAfterOf(error));
    throw error;
  }
}

/** Returns the limit on stored bytes by client network. */
export const storedBytesLimit = ({
  signInBytesPerNetwork,
  signInBytesInAll,
  signInWindow,
}: Limits): Limit => ({
  name: 'sign-in-bytes',
  setting: 'signInBytesPerNetwork',
  max: signInBytesPerNetwork,
  seconds: signInWindow / 1000,
  inAll: signInBytesInAll,
  inAllSetting: 'signInBytesInAll',
});

/**
 * Counts one, or so many, against a limit by client network and enclosing networks; throws an oidc-provider
 * error with status 429 above it.
 */
export async function spendNetworkAttempt(
  services: ProviderServices,
  limit: Limit,
  network: string,
  amount = 1,
): Promise<void> {
  try {
    await services.store.networkLimits.spend(limit, network, Date.now(), amount);
  } catch (error) {
    const refusal = toProviderError(error);
    requestState().set(retryAfter, retryAfterOf(refusal));
    throw refusal;
  }
}

/**
 * Counts the bytes that a value takes in the store, in addition to those of the request's parameters,
 * against the limit of its network.
 */
export async function spendStoredBytes(services: ProviderServices, value: object): Promise<void> {
  const network = currentUnitOfWork()?.origin.network;
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (network !== undefined) {
    await spendNetworkAttempt(services, storedBytesLimit(services.settings.limits), network, bytes);
  }
}

/** Takes back one count after a right attempt. */
export function returnAttempt(
  services: ProviderServices,
  limit: Limit,
  subject: string,
): Promise<void> {
  return updateCounter(services, limit, subject, (log) => ({
    value: withoutNewestUse(log ?? Buffer.from('[]')),
    expires: Date.now() + limit.seconds * 1000,
  }));
}

async function updateCounter(
  services: ProviderServices,
  limit: Limit,
  subject: string,
  next: (log: Buffer | undefined) => { value: Buffer; expires: number },
): Promise<void> {
  const key = limitKey(limit, subject);
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const { entry } = await withProviderErrors(services.store.storage.get(key));
    if (!entry) await withProviderErrors(services.store.networkLimits.countRecord(Date.now()));
    const { value, expires } = await withProviderErrors(Promise.resolve(entry?.value).then(next));
    const outcome = await withProviderErrors(
      services.store.commit([
        {
          checks: [{ key, is: entry ? entry.revision : 'absent' }],
          writes: [{ put: key, value, expires }],
        },
      ]),
    );
    if (outcome.committed) return;
  }
  throw toProviderError(tooManyRequests(1));
}
