import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readRevocation } from '../cmd/vestibule/admin/revocations.js';
import { Account } from '../kinds/people/account/account.js';
import { Group } from '../kinds/people/group/group.js';
import { Passkey } from '../kinds/people/passkey/passkey.js';
import { EncodedObject, encode, objectKey, uniqueKey } from '../registry/encoded-object.js';
import type { AnyKind } from '../registry/kind.js';
import { hubOf } from '../registry/versions/kind-view.js';
import { allKeys } from '../storage/snapshot/layout.js';
import { verifySnapshot } from '../storage/snapshot/reader.js';
import type { Storage } from '../storage/storage.js';
import { type EtcdServer, startEtcd } from './storage/etcd-server.js';
import { embeddedSite, etcdSite, type Site, unwatched, using } from './storage/snapshots.js';
import { expectFor } from './support/expect-for.js';
import { stopAll, temporary } from './support/service.js';
import { stores } from './support/stores.js';

let etcd: EtcdServer;
let sites = 0;
beforeAll(async () => {
  etcd = await startEtcd();
});
afterAll(async () => {
  await stopAll();
  await etcd.stop();
});

/** An object as it stands in a store. */
function framed(
  kind: AnyKind,
  name: string,
  creationTimestamp: string,
  {
    generation = 1,
    status = {},
    internal = {},
    spec = {},
  }: { generation?: number; status?: object; internal?: object; spec?: object } = {},
): { put: string; value: Buffer } {
  const metadata = { name, uid: 'u', resourceVersion: '1', generation, creationTimestamp };
  return {
    put: objectKey(kind, name),
    value: encode(hubOf(kind), { metadata, spec, status, internal } as never),
  };
}

const since = '2026-03-01T10:00:00Z';
const [before, at, after] = ['2026-03-01T09:59:59Z', since, '2026-03-02T00:00:00Z'];

const passkey = (account: string, name: string, created: string) => [
  framed(Passkey, `${account}-${name}`, created, {
    status: { account },
    internal: { credentialID: `${account}${name}` },
  }),
  {
    put: uniqueKey(Passkey, 'credential', `${account}${name}`),
    value: Buffer.from(`${account}-${name}`),
  },
];
const account = (name: string, passkeys: number) =>
  framed(Account, name, before, {
    status: { passkeys },
    internal: { kept: name },
    spec: { displayName: 'Ada' },
  });
const operators = (created: string, generation = 1) =>
  framed(Group, 'operators', created, {
    generation,
    spec: { displayName: 'Operators', members: ['op@example.test'] },
  });

describe.each(stores)('a restore on %s', (kind) => {
  const site = (): Site => {
    sites += 1;
    return kind === 'embedded'
      ? embeddedSite(temporary())
      : etcdSite(etcd.endpoint, `/revocations${sites}/`);
  };

  async function restored(
    writes: readonly { put: string; value: Buffer }[],
    from = since,
  ): Promise<{
    to: Site;
    revocation: Awaited<ReturnType<typeof readRevocation>>;
    keys: string[];
    passkeysOf(name: string): Promise<number>;
  }> {
    const [source, to, file] = [site(), site(), join(temporary(), 'a')];
    await using(source.open(), (storage) => storage.commit([], writes));
    await source.save(file);
    const revocation = await readRevocation(await verifySnapshot(file), Date.parse(from));
    await to.restore(file, unwatched(), revocation.revise);
    const keys = await using(to.open(), async (storage: Storage) =>
      (await storage.list(allKeys)).entries
        .map(({ key }) => key)
        .filter((key) => !key.startsWith('meta/')),
    );
    const passkeysOf = (name: string): Promise<number> =>
      using(to.open(), async (storage) => {
        const { entry } = await storage.get(objectKey(Account, name));
        const object = new EncodedObject(Account, entry!).object as {
          status: { passkeys: number };
          internal: unknown;
          spec: unknown;
        };
        expect([object.internal, object.spec]).toEqual([{ kept: name }, { displayName: 'Ada' }]);
        return object.status.passkeys;
      });
    return { to, revocation, keys, passkeysOf };
  }

  test('has no passkey registered since the date, nor what names its credential', async () => {
    const all = [
      account('ada', 3),
      account('bob', 1),
      account('cy', 1),
      ...passkey('ada', '1', before),
      ...passkey('ada', '2', at),
      ...passkey('ada', '3', after),
      ...passkey('bob', '1', after),
      ...passkey('cy', '1', before),
    ];
    const { revocation, keys, passkeysOf } = await restored(all);
    expect(revocation).toMatchObject({
      passkeys: 3,
      accounts: 2,
      withoutPasskey: 1,
      operatorsGroup: 'Absent',
    });
    expect(keys.filter((key) => key.startsWith('objects/passkeys/'))).toEqual([
      'objects/passkeys/ada-1',
      'objects/passkeys/cy-1',
    ]);
    expect(keys.filter((key) => key.startsWith('unique/')).sort()).toEqual(
      [uniqueKey(Passkey, 'credential', 'ada1'), uniqueKey(Passkey, 'credential', 'cy1')].sort(),
    );
    for (const [name, count] of [
      ['ada', 1],
      ['bob', 0],
      ['cy', 1],
    ] as const) {
      expectFor(name, await passkeysOf(name)).toEqual(count);
    }
  });

  test('counts a passkey of the second that the date is in as registered since', async () => {
    expect(
      (await restored([account('ada', 1), ...passkey('ada', '1', at)], '2026-03-01T10:00:00.900Z'))
        .revocation.passkeys,
    ).toBe(1);
  });

  test.each([
    ['made before and never changed', before, 1, 'Kept'],
    ['made since', at, 1, 'LeftOut'],
    ['changed at a time that no one knows', before, 2, 'LeftOut'],
  ] as const)(
    'has Group operators only where it was not touched since: %s',
    async (_, created, generation, is) => {
      const { revocation, keys } = await restored([
        operators(created, generation),
        framed(Group, 'staff', after, { spec: { members: [] } }),
      ]);
      expect(revocation.operatorsGroup).toBe(is);
      expect(keys).toEqual(
        is === 'Kept'
          ? ['objects/groups/operators', 'objects/groups/staff']
          : ['objects/groups/staff'],
      );
    },
  );

  test('that is ended on its way leaves nothing that can be opened as a store', async () => {
    const [source, to, file, ending] = [
      site(),
      site(),
      join(temporary(), 'a'),
      new AbortController(),
    ];
    await using(source.open(), (storage) =>
      storage.commit([], [account('ada', 1), ...passkey('ada', '1', after)]),
    );
    await source.save(file);
    const { revise } = await readRevocation(await verifySnapshot(file), Date.parse(since));
    ending.abort();
    await expect(
      to.restore(file, { progress: () => undefined, signal: ending.signal }, revise),
    ).rejects.toThrow();
    if (kind === 'etcd') {
      await expect(to.open()).rejects.toThrow();
    } else {
      expect(await using(to.open(), (storage) => storage.count(allKeys))).toBe(0);
    }
  });
});
