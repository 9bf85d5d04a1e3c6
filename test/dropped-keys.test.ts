import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { readConfig } from '../cmd/vestibule/options/config.js';
import { droppedKeys } from '../cmd/vestibule/serve/keys/dropped-keys.js';
import { readKeys, rotate, writeNewKeys } from '../cmd/vestibule/serve/keys/keys-file.js';
import { type Service, startService } from '../cmd/vestibule/serve/service.js';
import { createLog } from '../observability/log.js';
import { Keys, type KeysFile, newKeys } from '../security/keyring.js';
import { openEmbedded } from '../storage/embedded/embedded.js';
import { openEtcd } from '../storage/etcd/etcd.js';
import type { Storage } from '../storage/storage.js';
import { until } from './provider/support/fixture.js';
import { type EtcdServer, startEtcd } from './storage/etcd-server.js';
import { memberOf } from './support/people/member.js';
import { mailTo } from './support/people/signin.js';
import { Tab } from './support/people/tab.js';
import { stopAll, temporary } from './support/service.js';
import { stores } from './support/stores.js';

const root = join(import.meta.dirname, '..');
const closers: (() => Promise<unknown>)[] = [];
let etcd: EtcdServer | undefined;
afterAll(async () => {
  for (const close of closers.reverse()) await close();
  await etcd?.stop();
  await stopAll();
});

/** The same storage for a second replica: only the first closes it. */
const shared = (storage: Storage): Storage =>
  new Proxy(storage, {
    get: (target, name) =>
      name === 'close'
        ? async () => {
            /* the first closes it */
          }
        : memberOf(target, name),
  });

/** A replica that follows a keys file of its own. */
async function replica(
  file: string,
  storage: Storage,
  base?: string,
): Promise<Service & { tab(): Tab }> {
  const flags = [
    '--port',
    '0',
    '--data-dir',
    temporary(),
    '--keys-file',
    file,
    '--mock-mail',
    ...(base ? ['--base-url', base] : []),
  ];
  const service = await startService(readConfig(flags, {}), createLog('silent'), root, { storage });
  closers.push(() => service.stop());
  return { ...service, tab: () => new Tab(service.url, service.baseURL) };
}

/** A browser that is signed in at the account page. */
async function signedIn(service: { tab(): Tab; baseURL: string }): Promise<Tab> {
  const tab = service.tab();
  const query = new URLSearchParams({
    client_id: 'vestibule-account',
    response_type: 'none',
    scope: 'openid',
    redirect_uri: `${service.baseURL}/account`,
  });
  const I = (await tab.navigate(`/oauth2/auth?${query}`).is(303)).headers.location!;
  await tab.post(`${I}/emailchallenge`, { spec: { email: 'ada@example.test' } }).is(200);
  const { code } = await mailTo(
    service,
    'ada@example.test',
    [],
    (status) => status.code !== undefined,
  );
  await service.tab().delete('mockmessages').is(200);
  const { body } = await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code } }).is(200);
  await tab.navigate(body.status.returnTo).is(303);
  return tab;
}

describe.each(stores)('a key that was dropped, on %s', (store) => {
  test('opens nothing any more, also on a replica that has the former file', async () => {
    if (store === 'etcd') etcd ??= await startEtcd();
    const open = (): Promise<Storage> =>
      etcd && store === 'etcd'
        ? openEtcd({ servers: [etcd.endpoint], prefix: '/dropped/' })
        : openEmbedded({ directory: join(temporary(), 'store') });
    const [file, stale] = [join(temporary(), 'keys.json'), join(temporary(), 'keys.json')];
    writeNewKeys(file);
    copyFileSync(file, stale);
    const storage = await open();
    const one = await replica(file, storage);
    const other = await replica(
      stale,
      store === 'etcd' ? await open() : shared(storage),
      one.baseURL,
    );
    const former = await signedIn(one);
    const reach = (service: Service, tab: Tab) => {
      const there = new Tab(service.url, service.baseURL);
      there.cookies = tab.cookies;
      return there.get('accounts/~');
    };
    await reach(other, former).is(200);
    const kids = async (service: Service): Promise<string[]> =>
      (
        await new Tab(service.url, service.baseURL).get('/oauth2/jwks', { plain: true }).is(200)
      ).body.keys.map(({ kid }: { kid: string }) => kid);
    const former2 = await kids(other);

    rotate(file, 'add');
    rotate(file, 'use');
    copyFileSync(file, stale);
    await until(
      async () => (await kids(one)).length === 4 && (await kids(other)).length === 4,
      'the new keys',
    );
    const later = await signedIn(one);
    await reach(other, later).is(200);
    await reach(other, former).is(200);

    rotate(file, 'drop');
    await until(
      async () => (await reach(one, former)).code === 401,
      'the drop where the file was changed',
    );
    await until(async () => (await reach(other, former)).code === 401, 'the drop where it was not');
    await until(async () => (await kids(other)).length === 2, 'the dropped key sets');
    expect((await kids(other)).filter((kid) => former2.includes(kid))).toEqual([]);
    expect(readKeys(stale).ids().cookies).toHaveLength(2);
    for (const service of [one, other]) await reach(service, later).is(200);
    expect(readFileSync(file, 'utf8')).not.toBe(readFileSync(stale, 'utf8'));
  });
});

describe('keys of which every one of a sort was dropped', () => {
  const file: KeysFile = newKeys();
  test('make what no one can open, and open and verify nothing', () => {
    const keys = new Keys(file);
    const [sealed, mac, signature] = [
      keys.seal('a', 'b'),
      keys.mac('p', 'd'),
      keys.signCookie('c=1'),
    ];
    expect([
      keys.open('a', sealed).toString(),
      keys.macMatches('p', 'd', mac),
      keys.cookieKeyIndex('c=1', signature),
      keys.opens(sealed),
    ]).toEqual(['b', true, 0, true]);
    expect(keys.drop(keys.ids())).toEqual(['cookies', 'hmac', 'sealing', 'signing']);
    expect([
      keys.macMatches('p', 'd', mac),
      keys.cookieKeyIndex('c=1', signature),
      keys.opens(sealed),
    ]).toEqual([false, -1, false]);
    expect(() => keys.open('a', sealed)).toThrow('no longer');
    const fresh = { ...newKeys(), pairwise: file.pairwise };
    keys.replace({ ...file, cookies: [...fresh.cookies, ...file.cookies] });
    expect([
      keys.cookieKeyIndex('c=1', signature),
      keys.cookieKeyIndex('c=1', keys.signCookie('c=1')),
    ]).toEqual([-1, 0]);
  });

  test('are distinguished from a file with other keys altogether', () => {
    const [before, other] = [
      new Keys(file).ids(),
      new Keys({ ...newKeys(), pairwise: file.pairwise }).ids(),
    ];
    expect(droppedKeys(before, other)).toEqual({});
    expect(droppedKeys({ ...before, hmac: [...before.hmac, 'old'] }, before)).toEqual({
      hmac: ['old'],
    });
  });
});
