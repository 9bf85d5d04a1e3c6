import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { openEmbedded } from '../../../storage/embedded/embedded.js';
import { openEtcd } from '../../../storage/etcd/etcd.js';
import { prefixRange, type Size, type Storage } from '../../../storage/storage.js';
import { until } from '../../provider/support/fixture.js';
import { startEtcd } from '../../storage/etcd-server.js';
import { clock } from '../../support/clock.js';
import { scaled } from '../../support/patience.js';
import { memberOf } from '../../support/people/member.js';
import { authorizationPath, type Begun, begin, mailTo } from '../../support/people/signin.js';
import {
  createClient,
  startTest,
  stopAll,
  type TestService,
  temporary,
} from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);
afterEach(() => {
  clock.release();
});

const minute = 60_000;
const keysOf = async ({ storage }: TestService, prefix: string): Promise<string[]> =>
  (await storage.list(prefixRange(prefix))).entries.map(({ key }) => key);

describe.each(stores)('a sign-in that no one has verified, over %s', (store) => {
  let service: TestService;
  let replica: TestService;
  beforeAll(async () => {
    service = await startTest({ store, flags: ['--limit-factor', '100'] });
    replica = await service.replica();
    await createClient(service, 'app');
  });

  test('ends when its browser leaves it alone for ten minutes', async () => {
    clock.own();
    const [left, used] = [await begin(service), await begin(service)];
    const elsewhere = Object.assign(replica.tab(), { cookies: used.tab.cookies });
    for (let i = 1; i <= 4; i += 1) {
      clock.advance(4 * minute);
      const { body } = await (i % 2 ? elsewhere : used.tab).get(used.I).is(200);
      expect(body.status.phase).toBe('LoginRequired');
      const now = Date.now();
      await until(
        async () =>
          now -
            touchedOf(
              (await service.storage.get(`objects/interactions/${used.name}`)).entry!.value,
            ) <
          minute,
      );
    }
    const refused = await left.tab.get(left.I).fails(410, 'Expired');
    expect(refused.message).toContain('idle for too long');
    await left.tab
      .post(`${left.I}/emailchallenge`, { spec: { email: 'left@example.test' } })
      .fails(410, 'Expired');
    await used.tab
      .post(`${used.I}/emailchallenge`, { spec: { email: 'used@example.test' } })
      .is(200);
    const { code } = await mailTo(service, 'used@example.test');
    await used.tab.post(`${used.I}/login`, { spec: { method: 'EmailCode', code } }).is(200);
    clock.advance(30 * minute);
    expect((await used.tab.get(used.I).is(200)).body.status.phase).toBe('Authenticated');
  });
});

/** When a sign-in was last asked about, as its record has it. */
const touchedOf = (value: Buffer): number =>
  Number(/"touched":(\d+)/.exec(value.toString())?.[1] ?? 0);

/** A store that says how much there is room for. */
const withQuota = (storage: Storage, quota: number): Storage =>
  new Proxy(storage, {
    get: (target, name) => {
      if (name === 'sizes') {
        return async () => new Map<string, Size>([['member', { bytes: 0, inUse: 0, quota }]]);
      }
      return memberOf(target, name);
    },
  });

describe.each(stores)('the share of the store that unproven sign-ins have, over %s', (store) => {
  const stopEtcd: (() => Promise<unknown>)[] = [];
  const open = async (): Promise<Storage> => {
    if (store === 'embedded') return openEmbedded({ directory: temporary() });
    const etcd = await startEtcd();
    stopEtcd.push(() => etcd.stop());
    return openEtcd({
      servers: [etcd.endpoint],
      prefix: '/share/',
      requestTimeoutMs: scaled(2500),
    });
  };
  afterAll(async () => {
    await stopAll(); // services stop at once only while their store is there
    for (const stop of stopEtcd) await stop();
  });

  test.each([
    ['not verified', false],
    ['cancelled', true],
  ])('is never left for long by those that are %s', async (_are, isCancelled) => {
    const service = await startTest({
      storage: withQuota(await open(), 500_000),
      flags: ['--limit-factor', '100', '--limits-unproven-share', '10%'],
    });
    await createClient(service, 'app');
    const all: Begun[] = [];
    for (let i = 0; i < 60; i += 1) {
      const begun = await begin(service);
      all.push(begun);
      if (isCancelled) await begun.tab.delete(begun.I); // 404 where it has gone already
    }
    const alive = async (): Promise<Set<string>> =>
      new Set((await keysOf(service, 'objects/interactions/')).map((key) => key.split('/')[2]!));
    const bytes = async (): Promise<number> =>
      (await service.storage.list(prefixRange('objects/interactions/'))).entries.reduce(
        (sum, { value }) => sum + value.length,
        0,
      );
    await until(async () => (await alive()).size < 40 && (await bytes()) <= 50_000);
    const left = await alive();
    expect(left.size).toBeGreaterThan(10);
    expect(all.slice(-left.size).every(({ name }) => left.has(name))).toBe(true);
    expect(all.slice(0, -left.size).some(({ name }) => left.has(name))).toBe(false);
    await all[0]!.tab.get(all[0]!.I).fails(404, 'NotFound');
    await all.at(-1)!.tab.get(all.at(-1)!.I).is(200);
  });
});

describe('bytes', () => {
  const perNetwork = ['--limits-sign-in-bytes-per-network', '256Ki'];

  test.each([
    ['plain text', 'x'],
    ['characters that take more room in the store than in the request', '\u0001'],
  ])(
    'are counted beside requests: of %s, two addresses have no more room',
    async (_of, character) => {
      const { codes, kept } = await pushFrom(
        { count: 176, networkCount: 2, character },
        perNetwork,
      );
      expect(codes.filter((code) => code === 429).length).toBeGreaterThan(80);
      expect(codes.filter((code) => code === 201).length).toBeGreaterThan(10);
      expect(kept).toBeLessThan(2 * (256 << 10));
    },
  );

  test('are counted for all networks together', async () => {
    const { codes, kept } = await pushFrom({ count: 180, networkCount: 180, character: 'x' }, [
      '--limits-sign-in-bytes-in-all',
      '1Mi',
    ]);
    expect(codes.filter((code) => code === 201).length).toBeGreaterThan(80);
    expect(codes.slice(-10)).toEqual(Array.from({ length: 10 }, () => 429));
    expect(kept).toBeLessThan(1 << 20);
  });

  interface Pushed {
    readonly count: number;
    readonly networkCount: number;
    readonly character: string;
  }

  /** Sends large pushed requests from so many networks in turn. */
  async function pushFrom(
    { count, networkCount, character }: Pushed,
    flags: readonly string[],
  ): Promise<{ codes: number[]; kept: number }> {
    clock.own();
    clock.advance(10 * minute - (Date.now() % (10 * minute)) + 1_000); // all in one window
    const service = await startTest({ flags: ['--trusted-proxies', '127.0.0.1', ...flags] });
    await createClient(service, 'app');
    const fields = new URLSearchParams(
      authorizationPath('app', 'openid', 'v'.repeat(43)).split('?')[1],
    );
    fields.set('state', character.repeat(2_000));
    for (const name of ['login_hint', 'ui_locales', 'claims_locales']) {
      fields.set(name, character.repeat(1_000));
    }
    const body = fields.toString().replaceAll('%01', '\u0001');
    const codes: number[] = [];
    for (let i = 0; i < count; i += 1) {
      codes.push(
        (
          await service.tab().send('POST', '/oauth2/par', {
            plain: true,
            body,
            headers: {
              'content-type': 'application/x-www-form-urlencoded',
              'x-forwarded-for': `198.51.${i % networkCount}.1`,
            },
          })
        ).code,
      );
    }
    const { entries } = await service.storage.list(prefixRange('oidc/'));
    return { codes, kept: entries.reduce((sum, { value }) => sum + value.length, 0) };
  }
});
