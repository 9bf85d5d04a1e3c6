import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Group } from '../../../kinds/people/group/group.js';
import { Stream } from '../../support/network/stream.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

/** What a stream received, as type and name. */
const received = ({ events }: Stream): string[] =>
  events.map(({ type, object }) =>
    `${type} ${object.metadata.name ?? Object.keys(object.metadata.annotations ?? {}).join()}`.trim(),
  );
const versions = ({ events }: Stream): number[] =>
  events.map(({ object }) => Number(object.metadata.resourceVersion));

describe.each(stores)('watches, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let made = 0;
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--limit-factor', '10000', '--operators', 'op@example.test'],
    });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
  });
  afterAll(stopAll);

  /** A label of its own for each case. */
  const own = (): string => `of${(made += 1)}`;
  const create = async (name: string, of: string, more: object = {}): Promise<any> =>
    (
      await operator
        .post('groups', {
          metadata: { name, labels: { of }, ...more },
          spec: { displayName: name },
        })
        .is(201)
    ).body;
  const patch = async (name: string, body: object): Promise<any> =>
    (await operator.patch(`groups/${name}`, body).is(200)).body;
  const latest = async (): Promise<number> =>
    Number((await operator.get('groups?limit=1').is(200)).body.metadata.resourceVersion);
  /** Objects made in commits of forty. */
  const many = async (count: number, prefix: string, of: string): Promise<void> => {
    for (let from = 0; from < count; from += 40) {
      await service.store.change(service.store.systemCall(), async (tx) => {
        for (let i = from; i < Math.min(from + 40, count); i += 1) {
          await tx.create(Group, {
            metadata: { name: `${prefix}${String(i).padStart(5, '0')}`, labels: { of } },
            spec: { displayName: prefix, members: [] },
            status: {},
          });
        }
      });
    }
  };

  describe('a start', () => {
    const existing = ['ADDED a', 'ADDED b'];
    const mark = 'BOOKMARK k8s.io/initial-events-end';
    const list = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan';
    test.each<[query: string, first: readonly string[]]>([
      ['', existing],
      ['resourceVersion=', existing],
      ['resourceVersion=0', existing],
      ['allowWatchBookmarks=true', existing],
      ['resourceVersion=n', ['ADDED b']],
      ['resourceVersion=n&allowWatchBookmarks=true', ['ADDED b']],
      [list, existing],
      [`${list}&allowWatchBookmarks=true`, [...existing, mark]],
      [`${list}&allowWatchBookmarks=true&resourceVersion=`, [...existing, mark]],
      [`${list}&allowWatchBookmarks=1&resourceVersion=0`, [...existing, mark]],
      [`${list}&allowWatchBookmarks=true&resourceVersion=n`, [...existing, mark]],
      [`${list}&resourceVersion=n`, existing],
      ['sendInitialEvents=false&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true', []],
      ['sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=n', ['ADDED b']],
    ])('with %p sends %j before later events', async (query, first) => {
      const of = own();
      const {
        metadata: { resourceVersion },
      } = await create(`a-${of}`, of);
      await create(`b-${of}`, of);
      const before = await latest();
      const stream = await new Stream(
        operator,
        `groups?watch=true&labelSelector=of%3D${of}&${query.replace('=n', `=${resourceVersion}`)}`,
      ).until(({ code, events }) => code === 200 && events.length >= first.length);
      for (let i = 0; stream.events.length === first.length; i += 1) {
        if (i === 0) {
          await create(`c-${of}`, of);
        } else {
          await patch(`c-${of}`, { spec: { displayName: `again ${i}` } });
        }
        await stream.until(({ events }) => events.length > first.length, 250).catch(() => {});
      }
      expect([
        stream.code,
        received(stream)
          .slice(0, first.length + 1)
          .map((line) => line.replace(`-${of}`, '')),
      ]).toEqual([200, [...first, expect.stringMatching(/^(ADDED|MODIFIED) c$/)]]);
      const at = stream.events.findIndex(({ type }) => type === 'BOOKMARK');
      if (at >= 0) {
        expect([
          stream.events[at]!.object,
          versions(stream)[at]! >= before,
          versions(stream)[at]! < versions(stream)[at + 1]!,
        ]).toEqual([
          {
            kind: 'Group',
            apiVersion: 'id.vestibule.org/v1beta1',
            metadata: {
              resourceVersion: expect.any(String),
              annotations: { 'k8s.io/initial-events-end': 'true' },
            },
          },
          true,
          true,
        ]);
      }
      for (const { object } of stream.events) {
        expect([object.kind, object.apiVersion]).toEqual(['Group', 'id.vestibule.org/v1beta1']);
      }
      stream.close();
    });

    test.each([
      ['watch=true&sendInitialEvents=true', 'resourceVersionMatch'],
      ['watch=true&sendInitialEvents=false', 'resourceVersionMatch'],
      [
        'watch=true&sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=1',
        'resourceVersionMatch',
      ],
      ['watch=true&resourceVersionMatch=NotOlderThan', 'resourceVersionMatch'],
      ['watch=true&resourceVersionMatch=NotOlderThan&resourceVersion=1', 'resourceVersionMatch'],
      ['watch=true&resourceVersion=x', 'resourceVersion'],
      [
        'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=1',
        'sendInitialEvents',
      ],
    ])('with %p is 422', async (query, field) => {
      await operator.get(`groups?${query}`).fails(422, 'Invalid', field);
    });

    test('with a token to go on from is 400', async () => {
      await operator.get('groups?watch=true&continue=x').fails(400, 'BadRequest');
    });

    test('from a version that was never reached gets ERROR 410 and is closed', async () => {
      const now = await latest();
      const streams = [
        '',
        '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
      ].map(
        (more) =>
          new Stream(operator, `groups?watch=true&resourceVersion=${now + 1_000_000}${more}`),
      );
      for (const stream of streams) {
        await stream.until(({ ended }) => ended);
        expect([
          stream.code,
          stream.clean,
          stream.events.map(({ type, object }) => [type, object.kind, object.code, object.reason]),
        ]).toEqual([200, true, [['ERROR', 'Status', 410, 'Expired']]]);
      }
    });
  });

  test('each of three selectors sees its own, a new label as ADDED', async () => {
    const of = own();
    const from = await latest();
    const [a, b, both] = ['a', 'b', 'a,b'].map(
      (names) =>
        new Stream(
          operator,
          `groups?watch=true&resourceVersion=${from}&labelSelector=${encodeURIComponent(
            `of in (${names
              .split(',')
              .map((one) => `${of}${one}`)
              .join()})`,
          )}`,
        ),
    ) as [Stream, Stream, Stream];
    await create(`a-${of}`, `${of}a`);
    await create(`b-${of}`, `${of}b`);
    await patch(`a-${of}`, { spec: { displayName: 'changed' } });
    const moved = await patch(`a-${of}`, { metadata: { labels: { of: `${of}b` } } });
    await patch(`a-${of}`, { metadata: { labels: { of: null } } });
    await patch(`a-${of}`, { spec: { displayName: 'unseen' } });
    await patch(`a-${of}`, { metadata: { labels: { of: `${of}a` } } });
    for (const name of ['a', 'b']) await operator.delete(`groups/${name}-${of}`).is(200);
    const names = (stream: Stream): string[] =>
      received(stream).map((line) => line.replace(`-${of}`, ''));
    await both.until(({ events }) => events.length >= 8);
    await Promise.all([
      a.until(({ events }) => events.length >= 5),
      b.until(({ events }) => events.length >= 4),
    ]);
    expect(names(a)).toEqual(['ADDED a', 'MODIFIED a', 'DELETED a', 'ADDED a', 'DELETED a']);
    expect(names(b)).toEqual(['ADDED b', 'ADDED a', 'DELETED a', 'DELETED b']);
    expect(names(both)).toEqual([
      'ADDED a',
      'ADDED b',
      'MODIFIED a',
      'MODIFIED a',
      'DELETED a',
      'ADDED a',
      'DELETED a',
      'DELETED b',
    ]);
    expect(a.events[2]!.object.metadata.resourceVersion).toBe(moved.metadata.resourceVersion);
    for (const stream of [a, b, both]) {
      expect(versions(stream)).toEqual([...new Set(versions(stream))].sort((x, y) => x - y));
      stream.close();
    }
  });

  test('of one object sends its events alone', async () => {
    const of = own();
    const name = `one-${of}`;
    const streams = [
      `groups/${name}?watch=true`,
      `groups?watch=1&fieldSelector=metadata.name%3D${name}`,
    ].map((path) => new Stream(operator, path));
    await Promise.all(streams.map((stream) => stream.until(({ code }) => code === 200)));
    await create(`${name}b`, of);
    const first = await create(name, of);
    await patch(`${name}b`, { spec: { displayName: 'changed' } });
    const changed = await patch(name, { spec: { displayName: 'changed' } });
    const before = await latest();
    await operator.delete(`groups/${name}`).is(200);
    const after = await latest();
    await create(name, of);
    for (const stream of streams) {
      await stream.until(({ events }) => events.length >= 4);
      expect(received(stream)).toEqual([
        `ADDED ${name}`,
        `MODIFIED ${name}`,
        `DELETED ${name}`,
        `ADDED ${name}`,
      ]);
      expect(stream.events.slice(0, 2).map(({ object }) => object)).toEqual([first, changed]);
      const { metadata, ...rest } = stream.events[2]!.object;
      expect([
        rest.spec,
        metadata.uid,
        Number(metadata.resourceVersion) > before,
        Number(metadata.resourceVersion) <= after,
      ]).toEqual([changed.spec, changed.metadata.uid, true, true]);
      stream.close();
    }
    const from = await new Stream(operator, `groups/${name}?watch=true&resourceVersion=0`).until(
      ({ events }) => events.length === 1,
    );
    expect(received(from)).toEqual([`ADDED ${name}`]);
    from.close();
  });

  test('ends cleanly at its deadline, and goes on from its last bookmark', async () => {
    const query = `claimsproviders?watch=true&resourceVersion=${await latest()}&timeoutSeconds=2`;
    let [marked, plain, metadata]: [Stream?, Stream?, any?] = [];
    do {
      [marked, plain] = [
        new Stream(operator, `${query}&allowWatchBookmarks=true`),
        new Stream(operator, query),
      ];
      await Promise.all([marked, plain].map((one) => one.until(({ code }) => code === 200)));
      ({ metadata } = await create(`other-${own()}`, 'x'));
    } while (marked.ended);
    await Promise.all([marked, plain].map((one) => one.until(({ ended }) => ended)));
    expect([marked.clean, plain.clean, plain.events]).toEqual([true, true, []]);
    expect(marked.events).toEqual([
      {
        type: 'BOOKMARK',
        object: {
          kind: 'ClaimsProvider',
          apiVersion: 'id.vestibule.org/v1beta1',
          metadata: { resourceVersion: expect.any(String) },
        },
      },
    ]);
    const [version] = versions(marked);
    expect(version).toBeGreaterThanOrEqual(Number(metadata.resourceVersion));
    await service.storage.compact(version!);
    const next = await new Stream(
      operator,
      `claimsproviders?watch=true&resourceVersion=${version}&timeoutSeconds=1`,
    ).until(({ ended }) => ended);
    expect([next.clean, next.events]).toEqual([true, []]);
  });

  test('of a deadline beyond what timers bear does not end at once', async () => {
    const stream = await new Stream(
      operator,
      `groups?watch=true&resourceVersion=${await latest()}&timeoutSeconds=2147483647`,
    ).until(({ code }) => code === 200);
    const of = own();
    await create(`late-${of}`, of);
    await stream.until(({ events }) => events.length === 1);
    expect(stream.ended).toBe(false);
    stream.close();
  });

  test('get bookmarks where they ask for them, and end within an hour', async () => {
    const [asked, ends]: number[][] = [[], []];
    const [real, once] = [globalThis.setInterval, globalThis.setTimeout];
    const from = await latest();
    globalThis.setInterval = ((work: () => void, milliseconds: number) => {
      asked!.push(milliseconds);
      return real(work, milliseconds >= 20_000 ? 50 : milliseconds);
    }) as typeof setInterval;
    globalThis.setTimeout = ((work: () => void, milliseconds: number) => {
      ends!.push(milliseconds);
      return once(work, milliseconds);
    }) as typeof setTimeout;
    const streams = ['&allowWatchBookmarks=true', ''].map(
      (more) => new Stream(operator, `claimsproviders?watch=true&resourceVersion=${from}${more}`),
    ) as [Stream, Stream];
    try {
      await Promise.all(streams.map((stream) => stream.until(({ code }) => code === 200)));
      await streams[0].until(({ events }) => events.length > 3);
    } finally {
      globalThis.setInterval = real;
      globalThis.setTimeout = once;
    }
    const { metadata } = await create(`minute-${own()}`, 'x');
    await streams[0].until((one) => versions(one).at(-1)! >= Number(metadata.resourceVersion));
    expect(new Set(streams[0].events.map(({ type }) => type))).toEqual(new Set(['BOOKMARK']));
    expect([streams[0].blank, streams[1].length]).toEqual([0, 0]);
    expect(versions(streams[0])).toEqual([...versions(streams[0])].sort((a, b) => a - b));
    expect(
      asked!.filter((one) => one > 10_000).map((one) => one >= 22_500 && one <= 27_500),
    ).toEqual([true, true]);
    expect(ends!.filter((end) => end >= 1_800_000 && end < 3_600_000)).toHaveLength(2);
    for (const stream of streams) stream.close();
  });

  describe('a reader that is behind', () => {
    test('by thousands of changes gets each of them once, from memory and from the store', async () => {
      const of = own();
      const from = await latest();
      const late = await service.replica();
      const elsewhere = Object.assign(late.tab(), { cookies: operator.cookies });
      await many(1_600, `behind-${of}-`, of);
      const names = Array.from(
        { length: 1_600 },
        (_, i) => `ADDED behind-${of}-${String(i).padStart(5, '0')}`,
      );
      const replica = await service.replica();
      for (const tab of [
        operator,
        elsewhere,
        Object.assign(replica.tab(), { cookies: operator.cookies }),
      ]) {
        const stream = await new Stream(
          tab,
          `groups?watch=true&resourceVersion=${from}&labelSelector=of%3D${of}`,
        ).until(({ events, ended }) => events.length >= names.length || ended, 30_000);
        expect([stream.ended, received(stream)]).toEqual([false, names]);
        stream.close();
      }
    });

    test('and reads nothing is cut; what it had is all there is, once', async () => {
      const of = own();
      await create(`slow-${of}`, of);
      const from = await latest();
      const watch = (version: string | number): Stream =>
        new Stream(
          operator,
          `groups?watch=true&resourceVersion=${version}&labelSelector=of%3D${of}`,
        );
      const slow = await watch(from).until(({ code }) => code === 200);
      const quick = watch(from);
      slow.stall();
      const large = 'x'.repeat(100_000);
      const sent: string[] = [];
      for (let i = 0; i < 160; i += 1) {
        sent.push(
          (await patch(`slow-${of}`, { metadata: { annotations: { large, i: String(i) } } }))
            .metadata.resourceVersion,
        );
      }
      await quick.until(({ events }) => events.length === sent.length, 30_000);
      slow.goOn();
      await slow.until(({ ended }) => ended, 20_000);
      expect([slow.clean, slow.events.length > 0, slow.events.length < sent.length]).toEqual([
        true,
        true,
        true,
      ]);
      const rest = await watch(versions(slow).at(-1)!).until(
        ({ events }) => slow.events.length + events.length >= sent.length,
        30_000,
      );
      expect([...versions(slow), ...versions(rest)].map(String)).toEqual(sent);
      expect(versions(quick).map(String)).toEqual(sent);
      for (const stream of [quick, rest]) {
        expect(stream.ended).toBe(false);
        stream.close();
      }
    });

    test('and takes nothing of what there was at the start is cut in a minute', async () => {
      const of = own();
      for (let from = 0; from < 160; from += 8) {
        await service.store.change(service.store.systemCall(), async (tx) => {
          for (let i = from; i < from + 8; i += 1) {
            await tx.create(Group, {
              metadata: {
                name: `large-${of}-${i}`,
                labels: { of },
                annotations: { large: 'x'.repeat(100_000) },
              },
              spec: { displayName: 'large', members: [] },
              status: {},
            });
          }
        });
      }
      const real = globalThis.setTimeout;
      let [stalled, cut] = [false, (): void => {}];
      const impatient = new Promise<void>((resolve) => {
        cut = resolve;
      });
      globalThis.setTimeout = ((work: () => void, milliseconds: number) => {
        if (milliseconds !== 60_000) return real(work, milliseconds);
        const timer = real(() => {
          if (!stalled) return void timer.refresh();
          work();
          cut();
        }, 300);
        return timer;
      }) as typeof setTimeout;
      try {
        const stream = await new Stream(
          operator,
          `groups?watch=true&labelSelector=of%3D${of}`,
        ).until(({ code }) => code === 200);
        stream.stall();
        stalled = true;
        await impatient;
        stream.goOn();
        await stream.until(({ ended }) => ended);
        expect([stream.clean, stream.events.length < 160]).toEqual([false, true]);
      } finally {
        globalThis.setTimeout = real;
      }
      const whole = await new Stream(operator, `groups?watch=true&labelSelector=of%3D${of}`).until(
        ({ events }) => events.length === 160,
        30_000,
      );
      whole.close();
    });
  });
});
