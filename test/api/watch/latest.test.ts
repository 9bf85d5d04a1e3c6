import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { openEmbedded } from '../../../storage/embedded/embedded.js';
import { openEtcd } from '../../../storage/etcd/etcd.js';
import type { Batch, Storage } from '../../../storage/storage.js';
import { type EtcdServer, startEtcd } from '../../storage/etcd-server.js';
import { scaled } from '../../support/patience.js';
import { memberOf } from '../../support/people/member.js';
import { signIn } from '../../support/people/signin.js';
import { createClient, startTest, stopAll, temporary } from '../../support/service.js';
import { stores } from '../../support/stores.js';

let etcd: EtcdServer | undefined;
afterAll(async () => {
  await stopAll();
  await etcd?.stop();
});

/** A store whose watches say nothing while they are held: no one hears what others write. */
class Deaf {
  held = false;
  #freed: (() => void)[] = [];
  readonly storage: Storage;

  constructor(storage: Storage) {
    const watch = (...asked: Parameters<Storage['watch']>): AsyncIterable<Batch> =>
      this.#heard(storage.watch(...asked));
    this.storage = new Proxy(storage, {
      get: (target, name) => (name === 'watch' ? watch : memberOf(target, name)),
    });
  }

  free(): void {
    this.held = false;
    for (const go of this.#freed.splice(0)) go();
  }

  async *#heard(batches: AsyncIterable<Batch>): AsyncGenerator<Batch> {
    for await (const batch of batches) {
      if (this.held) {
        await new Promise<void>((resolve) => {
          this.#freed.push(resolve);
        });
      }
      yield batch;
    }
  }
}

describe.each(stores)('what is read without a version, on %s', (store) => {
  test('a list has what was answered before it, ahead of the watch cache', async () => {
    if (store === 'etcd') etcd ??= await startEtcd();
    const deaf = new Deaf(
      store === 'etcd'
        ? await openEtcd({
            servers: [etcd!.endpoint],
            prefix: '/latest/',
            requestTimeoutMs: scaled(2500),
          })
        : await openEmbedded({ directory: join(temporary(), 'store') }),
    );
    const service = await startTest({
      storage: deaf.storage,
      flags: ['--operators', 'op@example.test'],
    });
    await createClient(service, 'app');
    const { tab } = await signIn(service, 'op@example.test');
    deaf.held = true;
    try {
      const { body } = await tab
        .post('groups', { metadata: { name: 'new' }, spec: { displayName: 'New' } })
        .is(201);
      for (const path of ['groups', 'groups?limit=10']) {
        const { metadata, items } = (await tab.get(path).is(200)).body;
        expect([
          Number(metadata.resourceVersion) >= Number(body.metadata.resourceVersion),
          items.map((item: any) => item.metadata.name),
        ]).toEqual([true, ['new']]);
      }
      expect((await tab.get('groups/new').is(200)).body.metadata.resourceVersion).toBe(
        body.metadata.resourceVersion,
      );
    } finally {
      deaf.free();
    }
  });

  test('a change begins from what stands, though another replica changed it unheard', async () => {
    if (store === 'etcd') etcd ??= await startEtcd();
    const directory = join(temporary(), 'store');
    const near = store === 'etcd' ? undefined : await openEmbedded({ directory });
    const open = async (): Promise<Storage> =>
      near ??
      openEtcd({ servers: [etcd!.endpoint], prefix: '/unheard/', requestTimeoutMs: scaled(2500) });
    const deaf = new Deaf(await open());
    const flags = ['--operators', 'op@example.test', '--limit-factor', '100'];
    const service = await startTest({ storage: deaf.storage, flags });
    const other = await startTest({
      storage: near ? unclosed(near) : await open(),
      keys: service.keys,
      flags: [...flags, '--base-url', service.baseURL],
    });
    await createClient(service, 'app');
    const { tab } = await signIn(service, 'op@example.test');
    const elsewhere = Object.assign(other.tab(), { cookies: tab.cookies });
    const group = (at: typeof tab) => at.get('groups/team').is(200);
    await tab.post('groups', { metadata: { name: 'team' }, spec: { displayName: 'Team' } }).is(201);
    const { body: first } = await tab
      .patch('groups/team', { spec: { displayName: 'The team' } })
      .is(200);
    deaf.held = true;
    try {
      await elsewhere.patch('groups/team', { metadata: { labels: { by: 'another' } } }).is(200);
      const { body: both } = await tab
        .patch('groups/team', { spec: { displayName: 'A team' } })
        .is(200);
      expect([both.metadata.labels, both.spec.displayName]).toEqual([{ by: 'another' }, 'A team']);
      const { body: newest } = await elsewhere
        .patch('groups/team', { spec: { displayName: 'Their team' } })
        .is(200);
      await tab
        .patch('groups/team', {
          metadata: { resourceVersion: first.metadata.resourceVersion },
          spec: { displayName: 'Stale' },
        })
        .fails(409, 'Conflict');
      await tab
        .patch('groups/team', {
          metadata: { resourceVersion: newest.metadata.resourceVersion },
          spec: { displayName: 'Ours' },
        })
        .is(200);
      expect((await group(elsewhere)).body.spec.displayName).toBe('Ours');
      await elsewhere.patch('groups/team', { spec: { displayName: 'Theirs' } }).is(200);
      await tab.patch('groups/team', { spec: { displayName: 'Ours' } }).is(200);
      expect((await group(elsewhere)).body.spec.displayName).toBe('Ours');
      await elsewhere.delete('groups/team').is(200);
      await tab.patch('groups/team', { spec: { displayName: 'Gone' } }).fails(404, 'NotFound');
      await tab.get('groups/team').fails(404, 'NotFound');
    } finally {
      deaf.free();
    }
  });
});

/** The same storage for one more service: only the first closes it. */
const unclosed = (storage: Storage): Storage =>
  new Proxy(storage, {
    get: (target, name) => (name === 'close' ? async () => {} : memberOf(target, name)),
  });
