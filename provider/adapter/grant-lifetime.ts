import type { AdapterPayload } from 'oidc-provider';
import { grantName } from '../../kinds/apps/grant.js';
import type { StagedWrites } from '../../registry/kind.js';
import type { Entry } from '../../storage/storage.js';
import type { ProviderServices } from '../context/context.js';
import { withProviderErrors } from '../context/errors.js';
import { copiesPrefix, grantable, hashIn, recordKey } from '../context/records.js';
import { StateKey } from '../context/request-state.js';
import type { UnitOfWork } from '../context/unit-of-work.js';

const dayMs = 86_400_000;

/**
 * Returns when a new library Grant expires (ms since the epoch): a day after the session that it is
 * saved for, if that is not used again.
 */
export const newGrantExpiry = ({ settings }: Pick<ProviderServices, 'settings'>): number =>
  Date.now() + settings.limits.sessionIdleLifetime + dayMs;

/**
 * Lets the library Grants that a session or a token needs live at least as long as it, until
 * `expires` (docs/design/provider.md#grants).
 */
export async function keepGrants(
  services: ProviderServices,
  unitOfWork: UnitOfWork,
  { model, payload, expires }: { model: string; payload: AdapterPayload; expires: number },
): Promise<void> {
  const ids = grantable.has(model)
    ? [payload.grantId]
    : Object.values(model === 'Session' ? (payload.authorizations ?? {}) : {}).map(
        ({ grantId }) => grantId,
      );
  await Promise.all(ids.map((id) => id && keepGrant(services, unitOfWork, id, expires)));
}

/** Until when the request keeps Grants, by key, in milliseconds since the epoch. */
const keptUntil = new StateKey<Map<string, number>>();

async function keepGrant(
  services: ProviderServices,
  unitOfWork: UnitOfWork,
  id: string,
  expires: number,
): Promise<void> {
  const key = recordKey('Grant', id);
  const grant = await unitOfWork.read(key);
  if (!grant) return;
  const kept = unitOfWork.state.mapOf(keptUntil);
  const until = Math.max(expires, kept.get(key) ?? 0);
  if ((grant.expires ?? 0) >= until) return;
  kept.set(key, until);
  unitOfWork.defer(`until ${key}`, async (tx) =>
    tx.add(await extend(services, unitOfWork, key, until)),
  );
}

/**
 * Writes a Grant and its index again with a later expiry, a day more than is needed, so that what is
 * used all day is written once a day. A Grant that was revoked stays so: its key must be present.
 */
async function extend(
  services: ProviderServices,
  unitOfWork: UnitOfWork,
  key: string,
  until: number,
): Promise<StagedWrites> {
  const isEnding = (await unitOfWork.read(key)) === undefined;
  const grant = isEnding ? undefined : await liveEntry(services, key);
  const payload = grant && services.secrets.records.open(key, 'Grant', grant.value);
  if (!payload || (grant.expires ?? 0) >= until) return { checks: [], writes: [] };
  const hashed = hashIn(key);
  const copyKey = copiesPrefix(grantName(payload.accountId, payload.clientId)) + hashed;
  const checks: StagedWrites['checks'] = [{ key, is: 'present' }];
  const put = { put: key, value: grant.value };
  if (unitOfWork.writes(copyKey)) {
    const expires = Math.min(until + dayMs, (await unitOfWork.read(copyKey))?.expires ?? Infinity);
    return { checks, writes: [{ ...put, expires }] };
  }
  const copy = await liveEntry(services, copyKey);
  const expires = until + dayMs;
  return {
    checks: [...checks, { key: copyKey, is: copy?.revision ?? 'absent' }],
    writes: copy
      ? [
          { ...put, expires },
          { put: copyKey, value: copy.value, expires },
        ]
      : [],
  };
}

async function liveEntry(services: ProviderServices, key: string): Promise<Entry | undefined> {
  const { entry } = await withProviderErrors(services.store.storage.get(key));
  return entry && (entry.expires ?? Infinity) > Date.now() ? entry : undefined;
}
