import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { afterEach, describe, expect, test } from '@jest/globals';
import { type EtcdOptions, openEtcd } from '../../storage/etcd/etcd.js';
import {
  type Committed,
  type Lost,
  type Storage,
  UnavailableError,
  UnknownOutcomeError,
} from '../../storage/storage.js';
import { expectFor } from '../support/expect-for.js';
import { makeCertificates } from './cases/certificates.js';
import { bytes, everything, increment, made, put, remove, text, Watched } from './drive.js';
import { type EtcdServer, startEtcd, startEtcdCluster } from './etcd-server.js';

const opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const { close } of opened.splice(0).reverse()) await close();
});

async function start(
  flags: readonly string[] = [],
  scheme: 'http' | 'https' = 'http',
): Promise<EtcdServer> {
  const server = await startEtcd(flags, scheme);
  opened.push({ close: () => server.stop() });
  return server;
}

async function open(
  options: Partial<EtcdOptions> & { servers: readonly string[] },
): Promise<Storage> {
  const storage = await openEtcd({ prefix: '/v/', ...options });
  opened.push(storage);
  return storage;
}

/** Does it until the store is reached. */
async function insisted<T>(work: () => Promise<T>): Promise<T> {
  for (let i = 0; ; i += 1) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof UnavailableError) || i === 10) throw error;
    }
  }
}

const available = (program: string): boolean => spawnSync(program, ['version']).status === 0;

describe('etcd is away', () => {
  test('reads and writes are refused in time, and go on without a new process', async () => {
    const server = await start();
    const storage = await open({ servers: [server.endpoint] });
    const revision = await put(storage, { a: '1' });
    await server.kill();
    const refused = [
      storage.get('a'),
      storage.list(everything),
      openEtcd({ servers: [server.endpoint], prefix: '/v/' }),
    ];
    for (const result of await Promise.allSettled<unknown>(refused)) {
      expect(result).toMatchObject({ reason: expect.any(UnavailableError) });
    }
    await expect(put(storage, { a: '2' })).rejects.toMatchObject({
      name: expect.stringMatching(/^(UnavailableError|UnknownOutcomeError)$/),
    });
    await server.restart();
    expect((await storage.get('a')).entry?.revision).toBe(revision);
    await put(storage, { a: '3' });
  });

  test('a commit cut short is settled by what is read back', async () => {
    const server = await start();
    const storage = await open({ servers: [server.endpoint] });
    await put(storage, { a: '1' });
    for (const pausedFor of [300, 1700, 4000]) {
      process.kill(server.pid, 'SIGSTOP');
      const commits = Array.from({ length: 30 }, (_, i) =>
        storage.commit([], [{ put: `${pausedFor}/${i}`, value: bytes('x') }]),
      );
      setTimeout(() => {
        process.kill(server.pid, 'SIGCONT');
      }, pausedFor);
      const results = await Promise.allSettled(commits);
      await increment(storage, 'back').catch(() => undefined);
      for (const [i, result] of results.entries()) {
        await checkOutcome(storage, `${pausedFor}/${i}`, result);
      }
    }
  });

  async function checkOutcome(
    storage: Storage,
    key: string,
    result: PromiseSettledResult<Committed | Lost>,
  ): Promise<void> {
    const { entry } = await settledGet(storage, key);
    if (result.status === 'fulfilled') {
      expect(entry?.revision).toBe(result.value.revision);
    } else if (result.reason instanceof UnavailableError) {
      expect(entry).toBeUndefined();
    } else {
      expect(result.reason).toBeInstanceOf(UnknownOutcomeError);
    }
  }

  async function settledGet(storage: Storage, key: string): ReturnType<Storage['get']> {
    for (;;) {
      try {
        return await storage.get(key);
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
      }
    }
  }

  test('a cluster that loses its leader is used on, and a watch misses nothing', async () => {
    const servers = await startEtcdCluster();
    opened.push({
      async close() {
        await Promise.all(servers.map((server) => server.stop()));
      },
    });
    const storage = await open({ servers: servers.map(({ endpoint }) => endpoint) });
    const watched = new Watched(storage, 'w/', (await storage.get('w/')).revision);
    const acknowledged = new Map<string, number>();
    for (const [round, server] of servers.entries()) {
      const writers = Array.from({ length: 10 }, async (_, i) => {
        for (let n = 0; n < 10; n++) {
          const key = `w/${round}/${i}/${n}`;
          const result = await storage
            .commit([{ key, is: 'absent' }], [{ put: key, value: bytes('x') }])
            .catch(() => undefined);
          if (result?.committed) acknowledged.set(key, result.revision);
        }
      });
      await server.kill();
      await Promise.all(writers);
      await server.restart();
    }
    let last: number | undefined;
    while (last === undefined) last = await put(storage, { 'w/last': 'x' }).catch(() => undefined);
    await watched.reached(last);
    const received = new Map(watched.changes.map(({ key, entry }) => [key, entry!.revision]));
    expect(watched.changes).toHaveLength(received.size);
    for (const [key, revision] of acknowledged) expectFor(key, received.get(key)).toEqual(revision);
    await watched.stop();
  });
});

/**
 * Gives etcd its room back: what was compacted is freed in the background, so the pages are given
 * back until a write passes.
 */
async function recovered(storage: Storage, endpoint: string): Promise<void> {
  for (const end = Date.now() + 60_000; ; ) {
    for (const words of [['defrag'], ['alarm', 'disarm']]) {
      execFileSync('etcdctl', [`--endpoints=${endpoint}`, ...words], {
        env: { ...process.env, ETCDCTL_API: '3' },
        stdio: 'ignore',
      });
    }
    try {
      return void (await put(storage, { new: '1' }));
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

describe('etcd is full', () => {
  const run = available('etcdctl') ? test : test.skip;
  run(
    `deletions pass, all else is refused, and it recovers${available('etcdctl') ? '' : ' (skipped: etcdctl not found)'}`,
    async () => {
      const server = await start(['--quota-backend-bytes=4194304']);
      const storage = await open({ servers: [server.endpoint] });
      let written = 0;
      const fill = async (): Promise<void> => {
        for (; ; written += 8) {
          await Promise.all(
            Array.from({ length: 8 }, (_, i) =>
              storage
                .commit([], [{ put: `k${written + i}`, value: Buffer.alloc(50_000) }])
                .then(made),
            ),
          );
        }
      };
      await expect(fill()).rejects.toMatchObject({ name: 'UnavailableError', full: true });
      const { entries } = await storage.list(everything);
      const mixed = await Promise.allSettled([
        storage.commit([{ key: 'k0', is: entries[0]!.revision }], [{ delete: 'k0' }]),
        storage.commit([], [{ put: 'new', value: bytes('x') }]),
        remove(storage, 'k1'),
        storage.commit([{ key: 'k2', is: 'present' }], [{ delete: 'k2' }, { delete: 'k3' }]),
      ]);
      expect(mixed.map(({ status }) => status)).toEqual([
        'fulfilled',
        'rejected',
        'fulfilled',
        'fulfilled',
      ]);
      expect(mixed[1]).toMatchObject({ reason: { name: 'UnavailableError', full: true } });
      expect((await storage.list(everything)).entries).toHaveLength(entries.length - 4);
      const left = entries
        .map(({ key }) => key)
        .filter((key) => !['k0', 'k1', 'k2', 'k3'].includes(key));
      while (left.length > 0) await remove(storage, ...left.splice(0, 90));
      await storage.compact((await storage.get('k0')).revision);
      await recovered(storage, server.endpoint);
    },
  );
});

describe('etcd is spoken to', () => {
  const run = available('openssl') ? test : test.skip;
  run(
    `over TLS with a client certificate${available('openssl') ? '' : ' (skipped: openssl not found)'}`,
    async () => {
      const certificates = makeCertificates();
      opened.push({
        async close() {
          certificates.remove();
        },
      });
      const { ca, cert, key } = certificates.files;
      const server = await start(
        [
          `--trusted-ca-file=${ca}`,
          `--cert-file=${cert}`,
          `--key-file=${key}`,
          '--client-cert-auth',
        ],
        'https',
      );
      const endpoint = server.endpoint.replace('127.0.0.1', 'localhost');
      const storage = await open({ servers: [endpoint], ...certificates.pem });
      const from = await put(storage, { a: '1' });
      const watched = new Watched(storage, '', from);
      await watched.reached(await put(storage, { a: '2' }));
      expect(await text(storage, 'a')).toBe('2');
      await watched.stop();
      await expect(
        openEtcd({ servers: [endpoint], prefix: '/v/', ca: certificates.pem.ca }),
      ).rejects.toBeInstanceOf(UnavailableError);
    },
  );

  run('with other certificates from one moment to the next, and no watch has a gap', async () => {
    const [before, after] = [makeCertificates(), makeCertificates()];
    opened.push({
      async close() {
        before.remove();
        after.remove();
      },
    });
    const { ca, cert, key } = before.files;
    const server = await start(
      [`--trusted-ca-file=${ca}`, `--cert-file=${cert}`, `--key-file=${key}`, '--client-cert-auth'],
      'https',
    );
    const storage = await openEtcd({
      servers: [server.endpoint.replace('127.0.0.1', 'localhost')],
      prefix: '/v/',
      ...before.pem,
    });
    opened.push(storage);
    const from = await put(storage, { a: '1' });
    const watched = new Watched(storage, '', from);
    await watched.reached(await put(storage, { a: '2' }));
    for (const file of ['ca', 'cert', 'key'] as const) {
      writeFileSync(before.files[file], after.pem[file]);
    }
    await server.restart();
    await expect(storage.get('a')).rejects.toBeInstanceOf(UnavailableError);
    storage.renew(after.pem);
    await watched.reached(await insisted(() => put(storage, { a: '3' })));
    storage.renew(after.pem);
    await watched.reached(await insisted(() => put(storage, { a: '4' })));
    expect(watched.changes.map(({ entry }) => entry!.value.toString())).toEqual(['2', '3', '4']);
    await watched.stop();
  });

  test('with a warning when it is not supported', async () => {
    const server = await start();
    const warnings: string[] = [];
    await open({
      servers: [server.endpoint],
      onWarning: (message) => {
        warnings.push(message);
      },
    });
    expect(warnings.length).toBe(/^3\.4\./.test(server.version) ? 1 : warnings.length);
  });

  test('with revisions above a base, as after a restore', async () => {
    const server = await start();
    await put(await open({ servers: [server.endpoint] }), { 'meta/base': '1000000000', a: '1' });
    const storage = await open({ servers: [server.endpoint] });
    const { entry, revision } = await storage.get('a');
    expect(entry!.revision).toBeGreaterThan(1_000_000_000);
    const next = made(
      await storage.commit([{ key: 'a', is: entry!.revision }], [{ put: 'a', value: bytes('2') }]),
    );
    const watched = await new Watched(storage, '', revision).reached(next);
    expect(watched.changes).toMatchObject([
      { entry: { revision: next }, before: { revision: entry!.revision } },
    ]);
    await watched.stop();
    expect((await storage.list(everything, { at: revision })).entries[0]?.value.toString()).toBe(
      '1',
    );
    await expect(storage.list(everything, { at: 5 })).rejects.toMatchObject({
      name: 'CompactedError',
    });
    await expect(new Watched(storage, '', 5).ended).rejects.toMatchObject({
      name: 'CompactedError',
    });
    expect(
      (await storage.commit([{ key: 'b', is: 1_000_000_000 }], [{ put: 'b', value: bytes('x') }]))
        .committed,
    ).toBe(false);
  });
});
