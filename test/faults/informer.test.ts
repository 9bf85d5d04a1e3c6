import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { openEtcd } from '../../storage/etcd/etcd.js';
import type { Storage } from '../../storage/storage.js';
import { type EtcdServer, freePorts, startEtcd } from '../storage/etcd-server.js';
import { kubeConfig, servingFiles, Watched } from '../support/cluster/informer.js';
import { Wire } from '../support/network/wire.js';
import { settles } from '../support/patience.js';
import { tokenOf } from '../support/people/device.js';
import { signIn } from '../support/people/signin.js';
import type { Answer, Tab } from '../support/people/tab.js';
import { seed } from '../support/random.js';
import { stopAll, temporary } from '../support/service.js';
import { stores } from '../support/stores.js';
import { Chance } from './chance.js';
import { Served } from './served.js';

jest.setTimeout(180_000);

const names = 30;
const faults = ['cut', 'cut', 'kill', 'forget'] as const;
/** What a write may be answered while processes die and writers race. */
const borne = new Set([200, 201, 404, 409, 503, 504]);

describe.each(stores)(
  `an informer while the service is killed, cut off and made to forget, on %s, seed ${seed}`,
  (store) => {
    const chance = new Chance(seed);
    let etcd: EtcdServer | undefined;
    let storage: Storage | undefined;
    let replicas: readonly Served[];
    let ports: readonly number[];
    let operator: Tab;
    let wire: Wire;
    let watched: Watched;
    let writes = 0;
    beforeAll(async () => {
      const directory = temporary();
      const { cert, flags: serving } = servingFiles(directory);
      ports = await freePorts(2);
      const flags = (i: number): string[] => [
        '--operators',
        'op@example.test',
        '--secure-port',
        String(ports[i]),
        ...serving,
      ];
      if (store === 'etcd') {
        etcd = await startEtcd();
        storage = await openEtcd({ servers: [etcd.endpoint], prefix: '/vestibule/' });
        replicas = await Served.replicas(2, directory, etcd.endpoint, '', flags);
      } else {
        replicas = [
          await Served.start(
            directory,
            {},
            { flags: [...flags(0), '--etcd-compaction-interval', '1'] },
          ),
        ];
      }
      operator = (await signIn(replicas[0]!, 'op@example.test')).tab;
      wire = await Wire.to(ports[0]!);
      watched = await new Watched(
        kubeConfig(`https://localhost:${wire.port}`, cert, await tokenOf(replicas[0]!, operator)),
        'groups',
      ).start();
    });
    afterAll(async () => {
      await watched?.stop();
      wire?.close();
      for (const replica of replicas ?? []) await replica.end();
      await storage?.close();
      await etcd?.stop();
      await stopAll();
    });

    /** The operator's browser, as it reaches a process. */
    const at = (served: Served): Tab =>
      Object.assign(served.tab(), { cookies: [...operator.cookies] });
    /** One request to whichever process is there; undefined where its answer was lost. */
    const tried = async (send: (tab: Tab) => PromiseLike<Answer>): Promise<Answer | undefined> => {
      const served = replicas[chance.between(0, replicas.length - 1)]!;
      try {
        return await send(at(served));
      } catch {
        await served.up();
        return undefined;
      }
    };
    const list = async (query = ''): Promise<{ code: number; body: any }> => {
      for (;;) {
        const answer = await tried((tab) => tab.get(`groups${query}`));
        if (answer && answer.code !== 503) return answer;
      }
    };

    /** Makes, changes and deletes by chance until `over` aborts. */
    async function write(over: AbortSignal): Promise<void> {
      while (!over.aborted) {
        const name = `g${chance.between(1, names)}`;
        const what = chance.next();
        const answer = await tried((tab) => {
          if (what < 0.4) {
            return tab.post('groups', { metadata: { name }, spec: { displayName: name } });
          }
          if (what < 0.8) {
            return tab.patch(`groups/${name}`, { spec: { displayName: `at ${writes}` } });
          }
          return tab.delete(`groups/${name}`);
        });
        if (answer && !borne.has(answer.code)) {
          throw new Error(`${answer.code}: ${answer.bytes.toString()}`);
        }
        if (answer && answer.code < 300) writes += 1;
      }
    }

    const further = (count: number): Promise<unknown> => {
      const until = writes + count;
      return settles(
        async () => writes,
        (seen) => seen >= until,
      );
    };

    /**
     * A fault during which the informer is cut off. It comes back to another process, or to one that
     * was killed in between.
     */
    async function fault(kind: (typeof faults)[number]): Promise<void> {
      wire.cut();
      await further(chance.between(5, 25));
      const to = replicas.length === 1 ? 0 : chance.between(0, 1);
      if (kind === 'forget') {
        const { metadata } = (await list('?limit=1')).body;
        await storage?.compact(Number(metadata.resourceVersion));
        await settles(
          () =>
            list(
              `?limit=1&resourceVersionMatch=Exact&resourceVersion=${Number(metadata.resourceVersion) - 1}`,
            ),
          ({ code }) => code === 410,
        );
      }
      const { lists } = watched;
      if (kind !== 'cut') replicas[to]!.kill();
      if (kind === 'kill' && chance.next() < 0.5) await replicas[to]!.up();
      wire.mend(ports[to]!);
      await replicas[to]!.up();
      if (kind === 'forget') {
        await settles(
          async () => watched.lists,
          (now) => now > lists,
        ); // an informer that finds this process down would go on at the other, which remembers
      }
      await further(chance.between(5, 25));
    }

    test('never receives an earlier state, and holds the current state in the end', async () => {
      const order = faults
        .map((kind) => ({ kind, by: chance.next() }))
        .sort((a, b) => a.by - b.by)
        .map(({ kind }) => kind);
      const over = new AbortController();
      const writers = Promise.all([1, 2, 3].map(() => write(over.signal)));
      await Promise.race([writers, further(20)]);
      for (const kind of order) await Promise.race([writers, fault(kind)]);
      over.abort();
      await writers;
      const { items } = (await list()).body;
      await settles(
        async () => watched.cache,
        (cache) =>
          JSON.stringify(cache.map(({ metadata }) => metadata!.resourceVersion)) ===
          JSON.stringify(items.map(({ metadata }: any) => metadata.resourceVersion)),
      );
      expect(watched.cache).toEqual(items);
      expect(watched.faults).toEqual([]);
      expect(watched.lists).toBeGreaterThan(1);
      expect(
        watched.errors.map(
          (error) =>
            (error as { statusCode?: number; code?: unknown }).statusCode ??
            (error as { code?: unknown }).code,
        ),
      ).not.toContain(401);
      process.stderr.write(
        `seed ${seed}, ${store}: ${order.join()}; ${writes} writes, ${watched.calls.length} callbacks, ${watched.lists} lists, ${watched.connects} connections\n`,
      );
      for (const served of replicas) {
        expect(served.complaints).not.toMatch(/"level":"(error|fatal)"/);
      }
    });

    test('goes on over a restart with the token it has, and misses nothing', async () => {
      const [served] = replicas as [Served];
      wire.mend(ports[0]!);
      await at(served)
        .post('groups', { metadata: { name: 'before' }, spec: { displayName: 'before' } })
        .is(201);
      served.kill();
      if (replicas[1]) {
        await at(replicas[1])
          .post('groups', { metadata: { name: 'in-between' }, spec: { displayName: 'in-between' } })
          .is(201);
      }
      await served.up();
      await at(served)
        .post('groups', { metadata: { name: 'after' }, spec: { displayName: 'after' } })
        .is(201);
      await at(served)
        .patch('groups/before', { spec: { displayName: 'changed' } })
        .is(200);
      const { items } = (await at(served).get('groups').is(200)).body;
      await settles(
        async () => watched.cache,
        (cache) => JSON.stringify(cache) === JSON.stringify(items),
      );
      expect([
        watched.of('before')[0],
        watched.of('before').at(-1),
        watched.of('after'),
        watched.faults,
      ]).toEqual(['add', expect.stringMatching(/add|update/), ['add'], []]);
    });
  },
);
