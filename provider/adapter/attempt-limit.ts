import {
  withoutNewestUse,
  limitKey,
  scaleLimit,
  addUse,
  type Limit,
} from '../../registry/rate-limit.js';
import { tooManyRequests, type StatusError } from '../../registry/status.js';
import { currentUnitOfWork } from '../context/unit-of-work.js';
import type { ProviderServices } from '../context/context.js';
import { withProviderErrors, toProviderError } from '../context/errors.js';

/**
 * Where an unit of work that ran into a limit leaves for how many seconds to wait: the library renders
 * the error and knows no such header.
 */
export const waitMemo = 'wait';

/** Takes one from a limit that is counted in the store; throws 429 in the library's words. */
export async function spendTry(
  services: ProviderServices,
  limit: Limit,
  subject: string,
): Promise<void> {
  try {
    await change(services, limit, subject, (log) =>
      addUse(scaleLimit(limit, services.settings.limitFactor), log, Date.now()),
    );
  } catch (error) {
    currentUnitOfWork()?.memo.set(waitMemo, (error as { retryAfter?: number }).retryAfter);
    throw error;
  }
}

/**
 * Takes one from a limit by client network and those around it; throws 429 in the library's words.
 */
export async function spendNetworkTry(
  services: ProviderServices,
  limit: Limit,
  network: string,
): Promise<void> {
  try {
    await services.store.networkLimits.spend(limit, network, Date.now());
  } catch (error) {
    currentUnitOfWork()?.memo.set(waitMemo, (error as StatusError).details?.retryAfterSeconds);
    throw toProviderError(error);
  }
}

/** Gives the last one back: it turned out to be a right one. */
export function returnTry(
  services: ProviderServices,
  limit: Limit,
  subject: string,
): Promise<void> {
  return change(services, limit, subject, (log) => ({
    value: withoutNewestUse(log ?? Buffer.from('[]')),
    expires: Date.now() + limit.seconds * 1000,
  }));
}

async function change(
  services: ProviderServices,
  limit: Limit,
  subject: string,
  next: (log: Buffer | undefined) => { value: Buffer; expires: number },
): Promise<void> {
  const key = limitKey(limit, subject);
  for (let attempt = 0; attempt < 10; attempt += 1) {
    const { entry } = await withProviderErrors(services.storage.get(key));
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
