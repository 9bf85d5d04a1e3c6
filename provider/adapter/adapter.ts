import { type Adapter, type AdapterPayload, errors, type SessionPayload } from 'oidc-provider';
import { digest } from '../../security/keyring.js';
import { ConflictError } from '../context/conflict.js';
import type { ProviderServices } from '../context/context.js';
import { currentUnitOfWork, inUnitOfWork } from '../context/current-request.js';
import {
  grantable,
  isGrant,
  isSession,
  isSignedIn,
  membersPrefix,
  recordKey,
  recordKeyOf,
  uidKey,
  userCodeKey,
} from '../context/records.js';
import { StateKey } from '../context/request-state.js';
import { sessionName } from '../context/session-name.js';
import { UnitOfWork } from '../context/unit-of-work.js';
import { clientObject, findClient } from './clients.js';
import { ifInForce, withTokensEnded } from './grant-in-force.js';
import { keepGrants, newGrantExpiry } from './grant-lifetime.js';
import { indexesOf } from './indexes.js';
import { endInteraction, findInteraction, saveInteraction } from './interaction-record.js';
import { deleteMembers, revokeReused } from './revocation.js';
import { codeClient } from './session-events.js';
import { projectSession } from './session-projection.js';
import { spendUserCode } from './user-code.js';
import { presentedValue } from './user-code-events.js';

/** The keys of the session records that the request deletes, by uid: the library rotates their ids. */
const rotated = new StateKey<Map<string, string>>();

/** Clock tolerance in seconds for expired objects (FAPI 2.0 requires it for assertions). */
export const clockTolerance = 10;

/** Models that a Client presents at the token endpoint. */
const grantModels: ReadonlySet<string> = new Set([
  'AuthorizationCode',
  'RefreshToken',
  'DeviceCode',
]);

/** The library's storage for one model over the store (docs/design/provider.md#storage-adapter). */
export class StoreAdapter implements Adapter {
  readonly #model: string;
  readonly #services: ProviderServices;

  constructor(model: string, services: ProviderServices) {
    this.#model = model;
    this.#services = services;
  }

  /**
   * Stores an object with its indexes; `expiresIn` in seconds. Stores a code or token only while
   * its Grant exists, else throws InvalidGrant. A Grant lives as long as what needs it.
   */
  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    if (expiresIn === undefined) throw new Error(`a ${this.#model} must have an expiry`);
    const expires =
      this.#model === 'Grant'
        ? newGrantExpiry(this.#services)
        : Date.now() + (Math.max(1, Math.floor(expiresIn)) + clockTolerance + 5) * 1000;
    const key = recordKey(this.#model, id);
    await this.#inUnitOfWork(async (unitOfWork) => {
      if (this.#model === 'Session' && (await this.#isUnchanged(unitOfWork, key, payload))) return;
      if (this.#model === 'AuthorizationCode') {
        unitOfWork.state.set(codeClient, payload.clientId);
        const client = payload.clientId && (await clientObject(this.#services, payload.clientId));
        if (client) this.#services.signIns.signInCheck.follow(unitOfWork, id, client, payload);
      }
      if (this.#model === 'Interaction') {
        return saveInteraction(this.#services, unitOfWork, id, payload);
      }
      if (grantable.has(this.#model) && payload.grantId) {
        this.#requireGrant(unitOfWork, payload.grantId);
      }
      await keepGrants(this.#services, unitOfWork, { model: this.#model, payload, expires });
      const kept = isGrant(this.#model, payload)
        ? await withTokensEnded(this.#services, payload)
        : payload;
      unitOfWork.write(key, this.#services.secrets.records.seal(key, this.#model, kept), expires);
      for (const [index, value] of indexesOf(this.#services, this.#model, id, payload)) {
        unitOfWork.write(index, value, expires);
      }
      if (isSession(this.#model, payload)) this.#project(unitOfWork, id, payload);
    });
  }

  /** Returns the latest payload, as a new object. */
  find(id: string): Promise<AdapterPayload | undefined> {
    return this.#inUnitOfWork(async (unitOfWork) => {
      if (this.#model === 'Client') return findClient(this.#services, id);
      if (this.#model === 'Interaction') return findInteraction(this.#services, unitOfWork, id);
      const payload = await this.#read(unitOfWork, recordKey(this.#model, id));
      if (grantModels.has(this.#model)) unitOfWork.state.set(presentedValue, payload);
      if (this.#model === 'Grant') return ifInForce(this.#services, payload);
      return this.#model === 'AuthorizationCode' && !(await hasGrant(unitOfWork, payload))
        ? undefined
        : payload;
    });
  }

  findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.#inUnitOfWork((unitOfWork) => this.#readByIndex(unitOfWork, uidKey(uid)));
  }

  /**
   * Returns the payload of a user code. Counts wrong codes by session and network; throws 429 above
   * the limit.
   */
  findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    return this.#inUnitOfWork(async (unitOfWork) => {
      const found = await spendUserCode(this.#services, unitOfWork.origin, () =>
        this.#readByIndex(unitOfWork, userCodeKey(this.#services.secrets.keys, userCode)),
      );
      unitOfWork.state.set(presentedValue, found);
      return found;
    });
  }

  /** Consumes a single-use object; a second use revokes the grant (RFC 9700 §4.14). */
  consume(id: string): Promise<void> {
    const key = recordKey(this.#model, id);
    return this.#inUnitOfWork(async (unitOfWork) => {
      const payload = await this.#read(unitOfWork, key);
      const grantId = payload?.grantId;
      if (!payload || payload.consumed) {
        return revokeReused(this.#services, {
          key,
          model: this.#model,
          ...(grantId && { grantId }),
        });
      }
      const expires = ((payload.exp ?? 0) + clockTolerance + 5) * 1000;
      const consumed = { ...payload, consumed: Math.floor(Date.now() / 1000) };
      unitOfWork.uses.push({ key, model: this.#model, ...(grantId && { grantId }) });
      unitOfWork.write(
        key,
        this.#services.secrets.records.seal(key, this.#model, consumed),
        expires,
      );
    });
  }

  /**
   * Deletes an object and its indexes. The next save of a Session with the same uid checks that
   * this one existed.
   */
  destroy(id: string): Promise<void> {
    const key = recordKey(this.#model, id);
    return this.#inUnitOfWork(async (unitOfWork) => {
      if (this.#model === 'Interaction') return endInteraction(this.#services, unitOfWork, id);
      const payload = await this.#read(unitOfWork, key);
      unitOfWork.remove(key);
      if (!payload) return;
      for (const [index] of indexesOf(this.#services, this.#model, id, payload)) {
        unitOfWork.remove(index);
      }
      if (isSession(this.#model, payload)) unitOfWork.state.mapOf(rotated).set(payload.uid, key);
    });
  }

  /** Removes every object of this model under a Grant, in pages. */
  revokeByGrantId(grantId: string): Promise<void> {
    return deleteMembers(this.#services, membersPrefix(digest(grantId), this.#model));
  }

  /** Runs in the request's unit of work, else in one of its own, which is committed at once. */
  async #inUnitOfWork<T>(work: (unitOfWork: UnitOfWork) => Promise<T>): Promise<T> {
    const shared = currentUnitOfWork();
    if (shared) return work(shared);
    const own = new UnitOfWork(this.#services.store);
    return inUnitOfWork(own, async () => {
      const result = await work(own);
      try {
        await own.commit();
      } catch (error) {
        const reused =
          error instanceof ConflictError && own.uses.find((use) => error.keys.has(use.key));
        if (reused) await revokeReused(this.#services, reused);
        throw error instanceof ConflictError ? new errors.InvalidGrant(error.message) : error;
      }
      return result;
    });
  }

  async #read(unitOfWork: UnitOfWork, key: string): Promise<AdapterPayload | undefined> {
    const found = await unitOfWork.read(key);
    return found && this.#services.secrets.records.open(key, this.#model, found.value);
  }

  async #readByIndex(unitOfWork: UnitOfWork, index: string): Promise<AdapterPayload | undefined> {
    const hashed = await unitOfWork.read(index);
    return hashed && this.#read(unitOfWork, recordKeyOf(this.#model, hashed.value.toString()));
  }

  #requireGrant(unitOfWork: UnitOfWork, grantId: string): void {
    const key = recordKey('Grant', grantId);
    if (!unitOfWork.writes(key)) unitOfWork.check({ key, is: 'present' });
  }

  /** Returns true if saving would only move the expiry, by less than five minutes. */
  async #isUnchanged(
    unitOfWork: UnitOfWork,
    key: string,
    payload: AdapterPayload,
  ): Promise<boolean> {
    const stored = await this.#read(unitOfWork, key);
    if (!stored) return false;
    const { exp: before = 0, ...old } = stored;
    const { exp: after = 0, ...next } = JSON.parse(JSON.stringify(payload)) as AdapterPayload;
    return Math.abs(after - before) < 300 && JSON.stringify(old) === JSON.stringify(next);
  }

  #project(unitOfWork: UnitOfWork, id: string, payload: SessionPayload): void {
    const former = unitOfWork.state.mapOf(rotated).get(payload.uid);
    if (former !== undefined) unitOfWork.checkUnchanged(former);
    if (!isSignedIn(payload)) return;
    const name = sessionName(payload.accountId, payload.uid);
    unitOfWork.defer(`session ${name}`, (tx) =>
      projectSession(this.#services, { tx, unitOfWork }, recordKey('Session', id), payload),
    );
  }
}

async function hasGrant(
  unitOfWork: UnitOfWork,
  payload: AdapterPayload | undefined,
): Promise<boolean> {
  return (
    payload?.grantId !== undefined &&
    (await unitOfWork.read(recordKey('Grant', payload.grantId))) !== undefined
  );
}
