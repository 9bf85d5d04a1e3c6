import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Keys } from '../../security/keyring.js';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import { openEtcd } from '../../storage/etcd/etcd.js';
import { type Storage, UnavailableError } from '../../storage/storage.js';
import { type EtcdServer, startEtcd } from '../storage/etcd-server.js';
import { clock } from '../support/clock.js';
import { testKeys } from '../support/keys.js';
import { until } from '../support/patience.js';
import { memberOf } from '../support/people/member.js';
import { redeem, signIn } from '../support/people/signin.js';
import {
  createClient,
  startTest,
  stopAll,
  type TestService,
  temporary,
} from '../support/service.js';
import { stores } from '../support/stores.js';

const flags = ['--limit-factor', '1000'];
const clients = ['app', 'second'];

let etcd: EtcdServer;
beforeAll(async () => {
  clock.own();
  etcd = await startEtcd();
});
afterAll(async () => {
  clock.release();
  await stopAll();
  await etcd.stop();
});

/**
 * A store that makes so many commits more and then none, as if the process had been killed before
 * the next.
 */
class Mortal {
  left = Infinity;
  made = 0;
  readonly storage: Storage;
  constructor(storage: Storage) {
    this.storage = new Proxy(storage, {
      get: (target, name) => {
        if (name === 'commit') {
          return (...made: Parameters<Storage['commit']>) => this.#commit(target, made);
        }
        return memberOf(target, name);
      },
    });
  }

  #commit(target: Storage, made: Parameters<Storage['commit']>): ReturnType<Storage['commit']> {
    if (this.left <= 0) return Promise.reject(new UnavailableError('the process is gone'));
    this.left -= 1;
    this.made += 1;
    return target.commit(...made);
  }
}

describe.each(stores)('a deletion that is interrupted, on %s', (store) => {
  const keys = new Keys(testKeys());
  const [directory, prefix] = [temporary(), `/d${Math.random().toString(36).slice(2)}/`];
  const open = (): Promise<Storage> =>
    store === 'etcd'
      ? openEtcd({ servers: [etcd.endpoint], prefix })
      : openEmbedded({ directory: join(directory, 'store') });
  let service: TestService;
  let mortal: Mortal;
  const start = async (): Promise<void> => {
    mortal = new Mortal(await open());
    service = await startTest({ directory, storage: mortal.storage, keys, flags });
  };
  beforeAll(async () => {
    await start();
    for (const client of clients) await createClient(service, client);
  });

  /** What names the account, or holds its name in what can be read. */
  const left = async (name: string): Promise<string[]> =>
    (await service.storage.list({ start: '!', end: '~' })).entries
      .filter(({ key, value }) => key.includes(name) || value.includes(name))
      .map(({ key }) => key);

  test('interrupted at any of its steps is completed after a start, and reported once', async () => {
    let steps = 0;
    for (let whole = false; !whole; steps += 1) {
      const address = `step${steps}@example.test`;
      const browsers = [];
      for (const client of clients) {
        browsers.push(
          await signIn(service, address, {
            client,
            scope: 'openid email offline_access',
            parameters: { prompt: 'consent' },
          }),
        );
      }
      await Promise.all(browsers.map((browser) => redeem(service, browser)));
      const { tab } = browsers[0]!;
      const { name } = (await tab.get('accounts/~').is(200)).body.metadata;
      await service.tab().delete('mockmessages').is(200);
      const before = mortal.made;
      mortal.left = 1 + steps;
      await tab.delete('accounts/~').is(200);
      await until(async () => mortal.left === 0 || (await left(name)).length === 0);
      whole = mortal.left > 0;
      expect(mortal.made - before).toBeLessThan(60);
      await service.stop();
      clock.advance(40_000);
      await start();
      await until(async () => (await left(name)).length === 0);
      await until(async () => (await service.tab().get('mockmessages')).body.items.length > 0);
      const { items } = (await service.tab().get('mockmessages').is(200)).body;
      expect(items.map((item: any) => item.status.subject)).toEqual([
        expect.stringMatching(/was deleted/),
      ]);
      const again = service.tab();
      again.cookies = tab.cookies;
      await again.get('accounts/~').fails(401, 'Unauthorized');
    }
    expect(steps).toBeGreaterThan(4);
  }, 240_000);
});
