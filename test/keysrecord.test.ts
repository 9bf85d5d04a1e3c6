import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { requireStoreKeys } from '../cmd/vestibule/serve/replicas/keys-record.js';
import { startReplicaRecord } from '../registry/store/replicas/replica-record.js';
import { Keys, type KeysFile, newKeys } from '../security/keyring.js';
import { openEmbedded } from '../storage/embedded/embedded.js';
import { openEtcd } from '../storage/etcd/etcd.js';
import type { Storage } from '../storage/storage.js';
import { type EtcdServer, startEtcd } from './storage/etcd-server.js';
import { scaled } from './support/patience.js';
import { memberOf } from './support/people/member.js';
import { startTest, stopAll, temporary } from './support/service.js';
import { stores } from './support/stores.js';

const [first, second] = [newKeys(), newKeys()];
const rotating = ['cookies', 'hmac', 'sealing', 'signing'] as const;

/** The keys of some files, one after the other, with the pairwise key of the first file ever. */
const keysOf = (...files: KeysFile[]): KeysFile => ({
  ...first,
  ...Object.fromEntries(
    rotating.map((sort) => [sort, files.flatMap((file) => file[sort] as unknown[])]),
  ),
});

/** A storage that a start which fails leaves open. */
const unclosed = (storage: Storage): Storage =>
  new Proxy(storage, {
    get: (target, name) =>
      name === 'close'
        ? async () => {
            /* another service has it */
          }
        : memberOf(target, name),
  });

afterAll(stopAll);

describe.each(stores)('the keys of a store on %s', (store) => {
  let etcd: EtcdServer | undefined;
  let storage: Storage;
  beforeAll(async () => {
    if (store === 'etcd') etcd = await startEtcd();
    storage = etcd
      ? await openEtcd({
          servers: [etcd.endpoint],
          prefix: '/keys/',
          requestTimeoutMs: scaled(2500),
        })
      : await openEmbedded({ directory: temporary() });
  });
  afterAll(async () => {
    await storage.close();
    await etcd?.stop();
  });

  test('are those of its first start: a replica with other keys does not start', async () => {
    const service = await startTest({ store });
    await expect(
      startTest({ storage: unclosed(service.storage), keys: new Keys(newKeys()) }),
    ).rejects.toMatchObject({
      name: 'ConfigError',
      problems: [expect.stringMatching(/^--keys-file: these are not the keys of this store/)],
    });
    await (await service.replica()).stop();
    const { entry } = await service.storage.get('meta/keys');
    expect(entry!.value.toString()).toMatch(/^[\w-]{43}$/);
    expect(entry!.value.equals(service.keys.pairwise)).toBe(false);
  });

  test('are rotated step by step while replicas serve', async () => {
    const file = new Keys(first);
    const facts = () => ({ keys: file.ids() });
    await requireStoreKeys(storage, file);
    const stop = await startReplicaRecord(storage, facts);
    const starts = (next: KeysFile): Promise<void> => requireStoreKeys(storage, new Keys(next));
    for (const good of [first, keysOf(first, second), keysOf(second, first)]) await starts(good);
    for (const sort of rotating) {
      await expect(starts({ ...first, [sort]: second[sort] })).rejects.toThrow(
        `another replica of this store knows none of these keys (${sort}); give every replica the same keys file`,
      );
    }
    await expect(starts(keysOf(second))).rejects.toThrow('(cookies, hmac, sealing, signing)');
    const { entries } = await storage.list({ start: 'meta/replicas/', end: 'meta/replicas0' });
    const written = entries.map(({ value }) => value.toString()).join();
    for (const secret of [...first.cookies, ...first.hmac, ...first.sealing, first.pairwise]) {
      expect(written).not.toContain(secret);
    }
    await stop();
    file.replace(keysOf(second, first));
    const stopLater = await startReplicaRecord(storage, facts);
    await starts(keysOf(second));
    await stopLater();
    await starts(keysOf(newKeys())); // no process serves: keys that were seen are replaced at once
  });
});
