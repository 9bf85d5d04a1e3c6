import { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { expect, test } from '@jest/globals';
import type { Authorization } from '../apiserver/chain/authorization.js';
import { wholeIn } from '../apiserver/codec/representation.js';
import { WaitingEvents } from '../apiserver/handlers/watch/waiting-events.js';
import { Watcher } from '../apiserver/handlers/watch/watch.js';
import { WatchAuthority } from '../apiserver/handlers/watch/watch-authority.js';
import type { WatchOptions } from '../apiserver/handlers/watch/watch-options.js';
import { WatchStream } from '../apiserver/handlers/watch/watch-stream.js';
import type {
  ApiResponse,
  AuthorizedResourceRequest,
  ResourceRequest,
} from '../apiserver/http/message.js';
import type { Encoder } from '../apiserver/http/response.js';
import { defaultLimits } from '../kinds/limits/limit-settings.js';
import { Group } from '../kinds/people/group/group.js';
import type { AuthorityChanges } from '../registry/authority-changes.js';
import { encode } from '../registry/encoded-object.js';
import type { Caller, KindObject } from '../registry/kind.js';
import type { Store } from '../registry/store/store.js';
import { hubOf } from '../registry/versions/kind-view.js';
import { WatchCacheEvent } from '../registry/watchcache/event.js';
import type { Change } from '../storage/storage.js';

/** A response on a connection. */
const response = () => Object.assign(new PassThrough(), { req: { socket: new Socket() } });

function eventAt(revision: number, name: string): WatchCacheEvent {
  const object = { metadata: { name }, spec: { displayName: name, members: [] }, status: {} };
  const value = encode(hubOf(Group), object as unknown as KindObject);
  const key = `objects/groups/${name}`;
  return new WatchCacheEvent(Group, { key, entry: { key, value, revision } } as Change, revision);
}

/** A watch by a token, whose checks the test answers. */
async function openWatch() {
  const caller: Caller = { type: 'ClusterUser', user: 'a', groups: [] };
  const checks: ((permitted: boolean) => void)[] = [];
  const check = (): Promise<Caller | undefined> =>
    new Promise((resolve) => {
      checks.push((permitted) => resolve(permitted ? caller : undefined));
    });
  const authority = new WatchAuthority(check, caller, {
    subscribe: () => {},
    settle: () => undefined,
  });
  let send: (event: WatchCacheEvent) => void = () => {};
  const store = {
    watchCache: {
      subscribe(_resource: string, _from: number, subscriber: { event: typeof send }) {
        send = (event) => subscriber.event(event);
        return { position: () => 0, leave: () => {} };
      },
    },
    storage: { get: async () => ({ revision: 1 }) },
  } as unknown as Store;
  const authorization = { loadFor: () => undefined, canSee: () => true };
  const requestInfo = { kind: Group, view: hubOf(Group), representation: wholeIn(hubOf(Group)) };
  const res = response();
  let text = '';
  res.on('data', (part) => {
    text += String(part);
  });
  const stream = new WatchStream(
    store,
    authorization as unknown as Authorization,
    { caller, requestInfo } as unknown as AuthorizedResourceRequest,
    { selector: {}, initial: 'none', bookmarks: false, timeoutMs: 60_000 } as WatchOptions,
    res as unknown as ApiResponse,
    authority,
  );
  const ended = stream.run();
  /** Answers the check that is pending, after it began. */
  const answer = async (permitted: boolean): Promise<void> => {
    for (let turn = 0; checks.length === 0 && turn < 100; turn += 1) {
      await new Promise(setImmediate);
    }
    checks.shift()?.(permitted);
    await new Promise(setImmediate);
  };
  await answer(true);
  return {
    answer,
    stream,
    ended,
    send: (event: WatchCacheEvent) => send(event),
    sent: () =>
      text
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line).object.metadata.name as string),
  };
}

test('one check counts for all events that were received before it', async () => {
  const watch = await openWatch();
  watch.send(eventAt(2, 'a'));
  watch.send(eventAt(2, 'b'));
  watch.send(eventAt(3, 'c'));
  await watch.answer(true);
  expect(watch.sent()).toEqual(['a', 'b', 'c']);
  watch.send(eventAt(4, 'd'));
  await watch.answer(false);
  await watch.ended;
  expect(watch.sent()).toEqual(['a', 'b', 'c']);
});

test('a watch that finishes sends the events that wait, and takes no more', async () => {
  const watch = await openWatch();
  watch.send(eventAt(2, 'a'));
  await new Promise(setImmediate);
  watch.send(eventAt(3, 'b'));
  watch.send(eventAt(3, 'c'));
  watch.stream.finish();
  watch.send(eventAt(4, 'd'));
  await watch.answer(true);
  await watch.answer(true);
  await watch.ended;
  expect(watch.sent()).toEqual(['a', 'b', 'c']);
});

test('what waits for a watch is bounded in number and bytes, never within a revision', () => {
  const few = new WaitingEvents();
  for (let i = 0; i < 10_000; i += 1) few.push(eventAt(i, 'a'), undefined);
  expect(few.push(eventAt(9_999, 'b'), undefined)).toBe(true);
  expect(few.push(eventAt(10_000, 'b'), undefined)).toBe(false);
  expect(few.takeAll().length).toBe(10_001);
  expect([few.isEmpty, few.push(eventAt(10_000, 'b'), undefined)]).toEqual([true, true]);
  const large = new WaitingEvents();
  const event = { revision: 1, size: 33 << 20 } as WatchCacheEvent;
  expect([1, 2].map(() => large.push(event, undefined))).toEqual([true, true]);
  expect(large.push(eventAt(1, 'b'), undefined)).toBe(true);
  expect(large.push(eventAt(2, 'b'), undefined)).toBe(false);
});

test('a watch is checked when it starts if something changed since its request came', async () => {
  let notice: Parameters<AuthorityChanges['subscribe']>[0] = () => {};
  const caller: Caller = {
    type: 'ClusterUser',
    user: 'a',
    groups: [],
    expires: Date.now() + 3_600_000,
  };
  const store = {
    settings: { limits: defaultLimits },
    networkLimits: {},
    watchCache: { subscribe: () => ({ position: () => 0, leave: () => {} }) },
    storage: { list: async () => ({ revision: 1, entries: [], more: 0 }) },
  } as unknown as Store;
  let checks = 0;
  const watcher = new Watcher(
    store,
    { loadFor: () => undefined } as unknown as Authorization,
    { begin: () => {} } as unknown as Encoder,
    async () => {
      checks += 1;
      throw new Error('the session ended');
    },
    {
      subscribe(listener) {
        notice = listener;
      },
      settle: () => undefined,
    },
  );
  const open = (receivedAt: number): Promise<void> => {
    const requestInfo = {
      type: 'resource',
      kind: Group,
      view: hubOf(Group),
      representation: wholeIn(hubOf(Group)),
      query: new Map([['watch', '1']]),
    };
    const authorized = { caller, requestInfo };
    const req = { receivedAt, method: 'GET', headers: {}, authorized, network: '' };
    return watcher.watch(req as unknown as ResourceRequest, response() as unknown as ApiResponse);
  };
  void open(performance.now());
  await new Promise(setImmediate);
  expect(checks).toBe(0);
  const receivedAt = performance.now();
  notice(() => true);
  void open(receivedAt);
  await new Promise(setImmediate);
  expect(checks).toBeGreaterThan(0);
  await watcher.stop();
});
