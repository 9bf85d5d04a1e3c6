import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Interaction, type InteractionObject } from '../../../kinds/interaction/interaction.js';
import { SignInMetrics } from '../../../kinds/interaction/sign-in-metrics.js';
import { defaultLimits } from '../../../kinds/limits/limit-settings.js';
import { clockTolerance, StoreAdapter } from '../../../provider/adapter/adapter.js';
import { isFirstUse } from '../../../provider/adapter/replay-detection.js';
import type { ProviderServices } from '../../../provider/context/context.js';
import { cookieNames } from '../../../provider/context/cookies.js';
import { inUnitOfWork } from '../../../provider/context/current-request.js';
import { Records, recordKey } from '../../../provider/context/records.js';
import { UnitOfWork } from '../../../provider/context/unit-of-work.js';
import { toTimestamp } from '../../../registry/schema/timestamp.js';
import { digest, Keys, nameOf } from '../../../security/keyring.js';
import { prefixRange, type Storage } from '../../../storage/storage.js';
import { authorizerOf } from '../../support/authorizer-of.js';
import { testKeys } from '../../support/keys.js';
import { counting, House } from './fixture.js';

const keys = new Keys(testKeys());
const seconds = (): number => Math.floor(Date.now() / 1000);
let count = 0;
const newID = (): string => `id-${process.pid}-${count++}-of-some-length`;

/** What the library may expect of its adapter, over one driver. */
export function adapterCases(
  driver: string,
  open: () => Promise<{ storage: Storage; close(): Promise<void> }>,
): void {
  describe(`the adapter over ${driver}`, () => {
    let storage: ReturnType<typeof counting>;
    let house: House;
    let close: () => Promise<void>;
    const foundation = (epoch = 0): ProviderServices => ({
      store: house.store,
      settings: {
        baseURL: house.baseURL,
        component: 'vestibule',
        limitFactor: 1,
        limits: defaultLimits,
      } as ProviderServices['settings'],
      secrets: { keys, epoch, records: new Records(keys, epoch) },
      runtime: { log: undefined as never, count: () => {}, runInBackground: () => {} },
      policy: {
        authorizer: authorizerOf(() => ({ allowed: true, reasons: [] })),
        groups: { cachedGroupsOf: () => [], groupsOf: async () => [] },
        operatorPasskeys: {
          currentFacts: async () => ({
            operatorsHavePasskeys: false,
            operatorsHaveFullPasskeys: false,
          }),
        },
      },
      claims: {
        scopeIndex: { provider: () => undefined, scopes: [], settled: undefined },
        scopes: () => [],
        fetch: undefined as never,
        reviews: { requestClaims: async () => new Map() },
      },
      pages: {
        cookies: cookieNames(house.baseURL),
        appearance: { current: { spec: {}, mail: {}, stylesheet: undefined, assets: new Map() } },
        sharedAssets: { stylesheet: '', icon: '' },
      },
      signIns: {
        metrics: new SignInMetrics(),
        clientReports: undefined as never,
        signInCheck: { follow: () => {} },
        noteActivity: () => {},
      },
    });
    const adapter = (model: string, epoch = 0): StoreAdapter =>
      new StoreAdapter(model, foundation(epoch));
    /** A saved Grant to issue under. */
    const grant = async (): Promise<string> => {
      const id = newID();
      await adapter('Grant').upsert(
        id,
        { jti: id, kind: 'Grant', accountId: 'ada', clientId: 'shop', exp: seconds() + 100 },
        100,
      );
      return id;
    };
    beforeAll(async () => {
      const opened = await open();
      storage = counting(opened.storage);
      close = opened.close;
      house = await House.open({ storage });
    });
    afterAll(async () => {
      await house.close();
      await close();
    });

    test('gives back a fresh copy of what it was given, unknown fields included', async () => {
      const id = newID();
      const payload = { jti: id, exp: seconds() + 60, odd: { deep: [1, 'ü'] } };
      await adapter('AccessToken').upsert(id, payload, 60);
      const [one, two] = [
        await adapter('AccessToken').find(id),
        await adapter('AccessToken').find(id),
      ];
      expect(one).toEqual(payload);
      expect(one).not.toBe(two);
      expect(await adapter('RefreshToken').find(id)).toBeUndefined();
    });

    test('keeps no id and no payload in plain', async () => {
      const [id, uid] = [newID(), newID()];
      await adapter('Session').upsert(
        id,
        { jti: id, uid, exp: seconds() + 60, secretThing: 'plain-as-day' },
        60,
      );
      const { entries } = await storage.list(prefixRange('oidc/'));
      expect(entries.length).toBeGreaterThan(0);
      for (const { key, value } of entries) {
        for (const secret of [id, uid, 'plain-as-day']) {
          expect(key + value.toString('latin1')).not.toContain(secret);
        }
      }
    });

    test('refuses an object without an end, and takes ends in the past as one second', async () => {
      await expect(adapter('AccessToken').upsert(newID(), {})).rejects.toThrow(
        'must have an expiry',
      );
      for (const life of [0, -5, 0.4]) {
        const id = newID();
        await adapter('AccessToken').upsert(id, { jti: id, exp: seconds() }, life);
        const { entry } = await storage.get(recordKey('AccessToken', id));
        expect(entry!.expires! - Date.now()).toBeGreaterThan((clockTolerance + 5) * 1000);
        expect(entry!.expires! - Date.now()).toBeLessThanOrEqual((clockTolerance + 6) * 1000);
      }
    });

    test('finds sessions by uid and device codes by what is typed', async () => {
      const [id, uid, code] = [newID(), newID(), newID()];
      await adapter('Session').upsert(id, { jti: id, uid, exp: seconds() + 60 }, 60);
      await adapter('DeviceCode').upsert(
        code,
        { jti: code, userCode: 'BCDFGHJK', exp: seconds() + 60 },
        60,
      );
      expect(await adapter('Session').findByUid(uid)).toMatchObject({ jti: id });
      expect(await adapter('DeviceCode').findByUserCode('BCDFGHJK')).toMatchObject({ jti: code });
      expect(await adapter('DeviceCode').findByUserCode('BCDFGHJL')).toBeUndefined();
      await adapter('Session').destroy(id);
      await adapter('DeviceCode').destroy(code);
      expect(await adapter('Session').findByUid(uid)).toBeUndefined();
      expect(await adapter('DeviceCode').findByUserCode('BCDFGHJK')).toBeUndefined();
      const keysLeft = (await storage.list(prefixRange('oidc/'))).entries.map(({ key }) => key);
      for (const secret of [id, uid, code]) expect(keysLeft.join()).not.toContain(digest(secret));
    });

    /** Creates an Interaction and saves the library's in it. */
    const begin = async (ends: number): Promise<string> => {
      const uid = newID();
      const draft = {
        metadata: { name: nameOf(uid) } as InteractionObject['metadata'],
        spec: { client: 'shop', scopes: ['openid'], prompt: 'Login' as const },
        status: {
          phase: 'LoginRequired' as const,
          client: { name: 'shop', displayName: 'Shop', firstParty: false },
          expirationTimestamp: toTimestamp(ends),
        },
        internal: { epoch: 0, cid: 'cid', returnTo: '', created: Date.now(), ends, replaced: [] },
      };
      await house.store.commit([await house.store.stage(Interaction, nameOf(uid), () => draft)]);
      await adapter('Interaction').upsert(uid, { jti: uid, exp: seconds() + 60 }, 60);
      return uid;
    };

    test('keeps the library’s interaction in ours, until either ends', async () => {
      const uid = await begin(Date.now() + 60_000);
      expect(await adapter('Interaction').find(uid)).toMatchObject({ jti: uid });
      expect(await adapter('Interaction', 1).find(uid)).toBeUndefined();
      await adapter('Interaction').destroy(uid);
      expect(await adapter('Interaction').find(uid)).toBeUndefined();
      const { status, internal } = (await house.store.reader(Interaction).get(nameOf(uid)))!;
      expect(status.phase).toBe('Aborted');
      expect(Object.keys(internal)).not.toEqual(expect.arrayContaining(['providerInteraction']));
      expect(internal.returnTo).toBeUndefined();
      expect(await adapter('Interaction').find(await begin(Date.now() - 1))).toBeUndefined();
    });

    test('does not find what an older epoch issued', async () => {
      const id = newID();
      await adapter('AccessToken').upsert(id, { jti: id, exp: seconds() + 60 }, 60);
      expect(await adapter('AccessToken', 1).find(id)).toBeUndefined();
    });

    test('takes one first use of an id and refuses all others', async () => {
      const id = newID();
      const uses = await Promise.all(
        Array.from({ length: 20 }, () => isFirstUse(foundation(), 'client', id, seconds() + 60)),
      );
      expect(uses.filter((isFirst) => isFirst)).toHaveLength(1);
    });

    test('keeps ids apart of Clients whose names begin alike', async () => {
      const id = newID();
      expect(await isFirstUse(foundation(), 'app', `s-${id}`, seconds() + 60)).toBe(true);
      expect(await isFirstUse(foundation(), 'apps', `-${id}`, seconds() + 60)).toBe(true);
    });

    test.each(['AuthorizationCode', 'RefreshToken', 'DeviceCode'])(
      'fifty uses of one %s: one gets through, and its grant is gone',
      async (model) => {
        const [grantId, id, sibling] = [await grant(), newID(), newID()];
        await adapter(model).upsert(id, { jti: id, grantId, exp: seconds() + 60 }, 60);
        await adapter('AccessToken').upsert(
          sibling,
          { jti: sibling, grantId, exp: seconds() + 60 },
          60,
        );
        const tries = await Promise.allSettled(
          Array.from({ length: 50 }, () => adapter(model).consume(id)),
        );
        expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
        for (const attempt of tries) {
          if (attempt.status === 'rejected') {
            expect(attempt.reason).toMatchObject({ error: 'invalid_grant', statusCode: 400 });
          }
        }
        expect(await adapter('Grant').find(grantId)).toBeUndefined();
        expect(await adapter('AccessToken').find(sibling)).toBeUndefined();
      },
    );

    test('fifty uses of a pushed request: one gets through, and nothing is revoked', async () => {
      const id = newID();
      await adapter('PushedAuthorizationRequest').upsert(id, { jti: id, exp: seconds() + 60 }, 60);
      const tries = await Promise.allSettled(
        Array.from({ length: 50 }, () => adapter('PushedAuthorizationRequest').consume(id)),
      );
      expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const attempt of tries) {
        if (attempt.status === 'rejected') {
          expect(attempt.reason).toMatchObject({ error: 'invalid_request_uri' });
        }
      }
    });

    test('a missing object is used up already', async () => {
      await expect(adapter('RefreshToken').consume(newID())).rejects.toMatchObject({
        error: 'invalid_grant',
      });
    });

    test('nothing is born under a dead grant', async () => {
      const grantId = await grant();
      const id = newID();
      await adapter('Grant').destroy(grantId);
      await expect(
        adapter('AccessToken').upsert(id, { jti: id, grantId, exp: seconds() + 60 }, 60),
      ).rejects.toMatchObject({ error: 'invalid_grant' });
      expect(await adapter('AccessToken').find(id)).toBeUndefined();
    });

    test('revokes by grant in pages, one model at a time', async () => {
      const grantId = await grant();
      const ids = Array.from({ length: 130 }, newID);
      for (const id of ids) {
        await adapter('AccessToken').upsert(id, { jti: id, grantId, exp: seconds() + 60 }, 60);
      }
      const refresh = newID();
      await adapter('RefreshToken').upsert(
        refresh,
        { jti: refresh, grantId, exp: seconds() + 60 },
        60,
      );
      await adapter('AccessToken').revokeByGrantId(grantId);
      expect(
        (await Promise.all(ids.map((id) => adapter('AccessToken').find(id)))).filter(Boolean),
      ).toEqual([]);
      expect(await adapter('RefreshToken').find(refresh)).toBeDefined();
    });

    test('gathers what one request writes into one commit, which its reads see', async () => {
      const [session, uid, code, grantId] = [newID(), newID(), newID(), newID()];
      const exchange = new UnitOfWork(house.store);
      const before = storage.commits;
      await inUnitOfWork(exchange, async () => {
        await adapter('Session').upsert(session, { jti: session, uid, exp: seconds() + 60 }, 60);
        await adapter('Grant').upsert(
          grantId,
          { jti: grantId, accountId: 'ada', clientId: 'shop', exp: seconds() + 60 },
          60,
        );
        await adapter('AuthorizationCode').upsert(
          code,
          { jti: code, grantId, exp: seconds() + 60 },
          60,
        );
        expect(await adapter('Session').findByUid(uid)).toMatchObject({ jti: session });
        expect(await adapter('AuthorizationCode').find(code)).toMatchObject({ jti: code });
        expect(storage.commits).toBe(before);
        await exchange.commit();
      });
      expect(storage.commits).toBe(before + 1);
      expect(await adapter('AuthorizationCode').find(code)).toMatchObject({ jti: code });
    });

    test('a session that ended is not brought back by who read it before', async () => {
      const [id, uid, next] = [newID(), newID(), newID()];
      const payload = { jti: id, uid, exp: seconds() + 1_000 };
      await adapter('Session').upsert(id, payload, 1_000);
      for (const rotate of [false, true]) {
        const exchange = new UnitOfWork(house.store);
        await inUnitOfWork(exchange, async () => {
          const found = (await adapter('Session').find(id))!;
          if (rotate) await adapter('Session').destroy(id);
          await adapter('Session').upsert(
            rotate ? next : id,
            { ...found, jti: rotate ? next : id, state: { secret: 's' } },
            1_000,
          );
        });
        await adapter('Session').destroy(id);
        await expect(exchange.commit()).rejects.toMatchObject({ name: 'ConflictError' });
        expect(await adapter('Session').findByUid(uid)).toBeUndefined();
        await adapter('Session').upsert(id, payload, 1_000);
      }
    });

    test('skips saving a session of which only the end moved by less than five minutes', async () => {
      const [id, uid] = [newID(), newID()];
      const exp = seconds() + 10_000;
      await adapter('Session').upsert(id, { iat: 1, exp, jti: id, uid }, 10_000);
      const before = storage.commits;
      await adapter('Session').upsert(id, { iat: 1, exp: exp + 299, jti: id, uid }, 10_299);
      expect(storage.commits).toBe(before);
      await adapter('Session').upsert(id, { iat: 1, exp: exp + 301, jti: id, uid }, 10_301);
      expect(storage.commits).toBe(before + 1);
    });
  });
}
