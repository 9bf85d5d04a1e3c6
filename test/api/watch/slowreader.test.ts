import { type IncomingMessage, request } from 'node:http';
import { afterAll, describe, expect, test } from '@jest/globals';
import { Group } from '../../../kinds/people/group/group.js';
import { until } from '../../support/patience.js';
import { tokenOf } from '../../support/people/device.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { repeated } from '../../support/repeats.js';
import { createClient, startTest, stopAll } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

/** A watch that is read only after `read()`; keeps the lines that it received, whole ones alone. */
class Reader {
  readonly received: string[] = [];
  last = '';
  readonly ended: Promise<void>;
  readonly answered: Promise<void>;
  #response: IncomingMessage | undefined;
  #rest = '';

  /** With the cookies of `tab`, or with a `token` as a program. */
  constructor(tab: Tab, from: string, token?: string) {
    const { hostname, port } = new URL(tab.base);
    const cookie = tab.cookies
      .filter(({ path }) => path === '/')
      .map(({ name, value }) => `${name}=${value}`)
      .join('; ');
    let [answered, ended] = [(): void => {}, (): void => {}];
    this.answered = new Promise((resolve) => {
      answered = resolve;
    });
    this.ended = new Promise((resolve) => {
      ended = resolve;
    });
    request(
      {
        host: hostname,
        port,
        agent: false,
        path: `/api/v1beta1/groups?watch=true&resourceVersion=${from}`,
        headers: {
          accept: 'application/json',
          ...(token
            ? { authorization: `Bearer ${token}` }
            : { 'sec-fetch-site': 'same-origin', cookie }),
        },
      },
      (response) => {
        this.#response = response.pause();
        answered();
      },
    )
      .on('error', () => {})
      .on('close', () => {
        ended();
      })
      .end();
  }

  read(): void {
    this.#response!.setEncoding('utf8')
      .on('data', (text: string) => {
        const lines = (this.#rest + text).split('\n');
        this.#rest = lines.pop()!;
        for (const line of lines) {
          if (!line.trim()) continue;
          const { type, object } = JSON.parse(line) as { type: string; object: any };
          this.last = object.metadata.resourceVersion;
          this.received.push(`${type} ${object.metadata.name}@${this.last}`);
        }
      })
      .resume();
  }

  /** Resolves once it holds. */
  async until(holds: (reader: this) => boolean): Promise<void> {
    while (!holds(this)) {
      await new Promise((resolve) => {
        setTimeout(resolve, 20).unref();
      });
    }
  }

  stop(): void {
    this.#response?.destroy();
  }
}

describe.each(stores)('watches that are far behind, on %s', (store) => {
  test('a reader that comes back gets all the changes that it missed', async () => {
    const service = await startTest({ store, flags: ['--operators', 'op@example.test'] });
    await createClient(service, 'app');
    const { tab } = await signIn(service, 'op@example.test');
    const from = (await tab.get('groups').is(200)).body.metadata.resourceVersion;
    const names = Array.from({ length: 1_300 }, (_, i) => `g${i}`);
    const create = (name: string) =>
      repeated(() =>
        service.store.change(service.store.systemCall(), (tx) =>
          tx.create(Group, {
            metadata: { name },
            status: {},
            spec: { displayName: name, members: [] },
          }),
        ),
      );
    for (let at = 0; at < names.length; at += 50) {
      await Promise.all(names.slice(at, at + 50).map(create));
    }
    await create('last');
    await service.store.watchCache.waitUntil(
      (await service.storage.get('meta/hub')).revision,
      60_000,
    );
    const received: string[] = [];
    for (let last = from, connections = 0; !received.at(-1)?.includes(' last@'); connections += 1) {
      expect(connections).toBeLessThan(4);
      const reader = new Reader(tab, last);
      await reader.answered;
      reader.read();
      await Promise.race([
        reader.ended,
        reader.until((one) => one.received.at(-1)?.includes(' last@') === true),
      ]);
      reader.stop();
      received.push(...reader.received);
      last = reader.last || last;
    }
    expect({
      missed: names.filter((name) => !received.some((one) => one.includes(` ${name}@`))).length,
      received: received.length,
    }).toEqual({ missed: 0, received: names.length + 1 });
  });

  test.each([
    ['a session', false],
    ['a token, which is checked before each event', true],
  ])('a reader by %s that stops is cut after a whole revision', async (_, byToken) => {
    const service = await startTest({ store, flags: ['--operators', 'op@example.test'] });
    await createClient(service, 'app');
    const { tab } = await signIn(service, 'op@example.test');
    const names = Array.from({ length: 40 }, (_, i) => `g${i}`);
    const change = (name: string, round: number) =>
      repeated(() =>
        service.store.change(service.store.systemCall(), (tx) =>
          round === 0
            ? tx.create(Group, {
                metadata: { name },
                status: {},
                spec: {
                  displayName: '0',
                  members: Array.from(
                    { length: 300 },
                    (_, i) => `member-${i}-of-${name}@example.test`,
                  ),
                },
              })
            : tx.update(Group, name, ({ spec }) => {
                spec.displayName = `${round}`;
              }),
        ),
      );
    const token = byToken ? await tokenOf(service, tab) : undefined;
    const from = (await tab.get('groups').is(200)).body.metadata.resourceVersion;
    const others = service.store.watchCache.watchers;
    const [slow, quick] = [new Reader(tab, from, token), new Reader(tab, from, token)];
    await Promise.all([slow.answered, quick.answered]);
    // Before, they follow the history as fast as they read, and are not cut.
    await until(() => service.store.watchCache.watchers === others + 2);
    quick.read();
    for (let round = 0; round < 36; round += 1) {
      await Promise.all(names.map((name) => change(name, round)));
    }
    const count = names.length * 36;
    await quick.until(({ received }) => received.length === count);
    await until(() => service.store.watchCache.watchers < others + 2);
    slow.read();
    await slow.ended;
    expect(slow.received.length).toBeLessThan(count);
    const again = new Reader(tab, slow.last, token);
    await again.answered;
    again.read();
    while (again.received.at(-1) !== quick.received.at(-1)) {
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
    const both = [...slow.received, ...again.received];
    expect({
      missed: quick.received.filter((one) => !both.includes(one)).length,
      received: both.length,
    }).toEqual({ missed: 0, received: count });
    expect(both).toEqual(quick.received);
    for (const reader of [quick, again]) reader.stop();
  });
});
