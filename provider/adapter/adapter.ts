import { errors, type Adapter, type AdapterPayload } from 'oidc-provider';
import { digest } from '../../security/keyring.js';
import { findClient } from './clients.js';
import {
  currentUnitOfWork,
  UnitOfWork,
  inUnitOfWork,
  ConflictError,
} from '../context/unit-of-work.js';
import type { ProviderServices } from '../context/context.js';
import { indexesOf } from './indexes.js';
import { recordEnded } from './interaction-record.js';
import { loginMemo, projectSession } from './session-projection.js';
import { codeMemo } from './session-events.js';
import { sessionName } from '../context/session-name.js';
import { withProviderErrors } from '../context/errors.js';
import {
  grantable,
  membersPrefix,
  recordKey,
  recordKeyOf,
  uidKey,
  userCodeKey,
} from '../context/records.js';
import { deleteMembers, revokeReused } from './revocation.js';
import { presentedMemo } from './user-code-events.js';
import { spendUserCode } from './user-code.js';

/**
 * How long past its stored end the library still takes an object, in seconds (FAPI 2.0 asks for no
 * less of assertions).
 */
export const clockTolerance = 10;

/** Models of the codes and tokens that a Client presents at the token endpoint. */
const grants: ReadonlySet<string> = new Set(['AuthorizationCode', 'RefreshToken', 'DeviceCode']);

/** The library's storage for one model over the store (docs/design/provider.md#storage-adapter). */
export class StoreAdapter implements Adapter {
  readonly #model: string;
  readonly #on: ProviderServices;

  constructor(model: string, foundation: ProviderServices) {
    this.#model = model;
    this.#on = foundation;
  }

  /**
   * Stores an object with its indexes; a code or token only while its Grant exists (else
   * InvalidGrant).
   */
  async upsert(id: string, payload: AdapterPayload, expiresIn?: number): Promise<void> {
    if (expiresIn === undefined) throw new Error(`a ${this.#model} without an end is refused`);
    const expires = Date.now() + (Math.max(1, Math.floor(expiresIn)) + clockTolerance + 5) * 1000;
    const key = recordKey(this.#model, id);
    await this.#within(async (exchange) => {
      if (this.#model === 'Session' && (await this.#unchanged(exchange, key, payload))) return;
      if (this.#model === 'AuthorizationCode') exchange.memo.set(codeMemo, payload.clientId);
      if (this.#model === 'ReplayDetection') return this.#once(key, payload, expires);
      if (grantable.has(this.#model) && payload.grantId)
        this.#needsGrant(exchange, payload.grantId);
      exchange.put(key, this.#on.records.seal(key, this.#model, payload), expires);
      for (const [index, value] of indexesOf(this.#on, this.#model, id, payload))
        exchange.put(index, value, expires);
      if (this.#model === 'Session') this.#project(exchange, id, payload);
    });
  }

  /** The latest, as a fresh object. */
  find(id: string): Promise<AdapterPayload | undefined> {
    return this.#within(async (exchange) => {
      if (this.#model === 'Client') return findClient(this.#on, id);
      const payload = await this.#read(exchange, recordKey(this.#model, id));
      if (grants.has(this.#model)) exchange.memo.set(presentedMemo, payload);
      if (this.#model !== 'Interaction' || !payload) return payload;
      const method = (payload.result?.login as { method?: string } | undefined)?.method;
      if (method !== undefined) exchange.memo.set(loginMemo, method);
      return Date.now() >= payload.iat! * 1000 + this.#on.settings.limits.interactionLifetime
        ? undefined
        : payload;
    });
  }

  findByUid(uid: string): Promise<AdapterPayload | undefined> {
    return this.#within((exchange) => this.#through(exchange, uidKey(uid)));
  }

  /** Counts a wrong code by session and network, and throws 429 when there were too many. */
  findByUserCode(userCode: string): Promise<AdapterPayload | undefined> {
    return this.#within(async (exchange) => {
      const found = await spendUserCode(this.#on, exchange.origin, () =>
        this.#through(exchange, userCodeKey(this.#on.keys, userCode)),
      );
      exchange.memo.set(presentedMemo, found);
      return found;
    });
  }

  /**
   * Uses an object up; who loses, or finds it gone, brings the whole grant down (RFC 9700 4.14).
   */
  consume(id: string): Promise<void> {
    const key = recordKey(this.#model, id);
    return this.#within(async (exchange) => {
      const payload = await this.#read(exchange, key);
      const grantId = payload?.grantId;
      if (!payload || payload.consumed)
        return revokeReused(this.#on, { key, model: this.#model, ...(grantId && { grantId }) });
      const expires = (payload.exp! + clockTolerance + 5) * 1000;
      const used = { ...payload, consumed: Math.floor(Date.now() / 1000) };
      exchange.uses.push({ key, model: this.#model, ...(grantId && { grantId }) });
      exchange.put(key, this.#on.records.seal(key, this.#model, used), expires);
    });
  }

  /**
   * Removes an object and its indexes; of a Session, what is saved next under the same uid depends
   * on it having stood; an Interaction is resumed once.
   */
  destroy(id: string): Promise<void> {
    const key = recordKey(this.#model, id);
    return this.#within(async (exchange) => {
      const payload = await this.#read(exchange, key);
      exchange.delete(key);
      if (!payload) return;
      for (const [index] of indexesOf(this.#on, this.#model, id, payload)) exchange.delete(index);
      if (this.#model === 'Session') exchange.memo.set(`rotated ${payload.uid}`, key);
      if (this.#model !== 'Interaction') return;
      exchange.unmoved(key);
      recordEnded(this.#on, exchange, id, payload);
    });
  }

  /** Removes every object of this model under a Grant, in pages. */
  revokeByGrantId(grantId: string): Promise<void> {
    return deleteMembers(this.#on, membersPrefix(digest(grantId), this.#model));
  }

  /** Inside a request its exchange, else one of its own, committed at once. */
  async #within<T>(work: (exchange: UnitOfWork) => Promise<T>): Promise<T> {
    const shared = currentUnitOfWork();
    if (shared) return work(shared);
    const own = new UnitOfWork(this.#on.store);
    return inUnitOfWork(own, async () => {
      const result = await work(own);
      const uses = [...own.uses];
      try {
        await own.commit();
      } catch (error) {
        const reused =
          error instanceof ConflictError && uses.find((use) => error.keys.has(use.key));
        if (reused) await revokeReused(this.#on, reused);
        throw error instanceof ConflictError ? new errors.InvalidGrant(error.message) : error;
      }
      return result;
    });
  }

  async #read(exchange: UnitOfWork, key: string): Promise<AdapterPayload | undefined> {
    const value = await exchange.get(key);
    return value && this.#on.records.open(key, this.#model, value);
  }

  async #through(exchange: UnitOfWork, index: string): Promise<AdapterPayload | undefined> {
    const hashed = await exchange.get(index);
    return hashed && this.#read(exchange, recordKeyOf(this.#model, hashed.toString()));
  }

  /** A commit of its own: the first to bring an id wins. */
  async #once(key: string, payload: AdapterPayload, expires: number): Promise<void> {
    const { entry } = await withProviderErrors(this.#on.storage.get(key));
    const live = entry && (entry.expires ?? Infinity) > Date.now();
    const part = {
      checks: [{ key, is: entry ? entry.revision : ('absent' as const) }],
      writes: [{ put: key, value: this.#on.records.seal(key, this.#model, payload), expires }],
    };
    if (!live && (await withProviderErrors(this.#on.store.commit([part]))).committed) return;
    this.#on.metrics?.singleUseRefused.inc({ kind: 'ReplayDetection' });
    throw new errors.InvalidRequest('this proof was used before');
  }

  #needsGrant(exchange: UnitOfWork, grantId: string): void {
    const key = recordKey('Grant', grantId);
    if (!exchange.puts(key)) exchange.check({ key, is: 'present' });
  }

  /** Whether saving would change nothing but the end, and that by less than five minutes. */
  async #unchanged(exchange: UnitOfWork, key: string, payload: AdapterPayload): Promise<boolean> {
    const stored = await this.#read(exchange, key);
    if (!stored) return false;
    const { exp: before = 0, ...old } = stored;
    const { exp: after = 0, ...next } = JSON.parse(JSON.stringify(payload)) as AdapterPayload;
    return Math.abs(after - before) < 300 && JSON.stringify(old) === JSON.stringify(next);
  }

  #project(exchange: UnitOfWork, id: string, payload: AdapterPayload): void {
    const rotated = exchange.memo.get(`rotated ${payload.uid}`);
    if (rotated) exchange.unmoved(rotated as string);
    if (!payload.accountId) return;
    const name = sessionName(payload.accountId, payload.uid!);
    exchange.defer(`session ${name}`, () =>
      projectSession(this.#on, exchange, name, recordKey('Session', id), payload),
    );
  }
}
