import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { openEtcd } from '../../storage/etcd/etcd.js';
import { prefixRange, type Storage } from '../../storage/storage.js';
import { type EtcdServer, startEtcd } from '../storage/etcd-server.js';
import { authorizationPath, begin, signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import { stopAll, temporary } from '../support/service.js';
import { Served } from './served.js';

jest.setTimeout(300_000);

/** `FAULTS=all`, by hand: as long and as many as is promised (CONTRIBUTING.md). */
const whole = process.env['FAULTS'] === 'all';
const mebibyte = 1 << 20;
const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
const report = (what: string): void => {
  process.stderr.write(`${what}\n`);
};

let etcd: EtcdServer;
let storage: Storage;
let served: Served;
let operator: Tab;
beforeAll(async () => {
  etcd = await startEtcd();
  storage = await openEtcd({ servers: [etcd.endpoint], prefix: '/vestibule/' });
  [served] = (await Served.replicas(1, temporary(), etcd.endpoint, '', () => [
    '--operators',
    'op@example.test',
    '--limit-factor',
    '1',
  ])) as [Served];
  operator = (await signIn(served, 'op@example.test')).tab;
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});
afterAll(async () => {
  await served?.end();
  await storage?.close();
  await etcd?.stop();
  await stopAll();
});

/** What the process has in memory, in bytes. */
const resident = (): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${served.pid}/status`, 'utf8'))![1]) * 1024;
const sockets: Socket[] = [];

/** Connections that have been made, each of which says so much at first. */
async function connections(count: number, first: (number: number) => string): Promise<Socket[]> {
  const made: Socket[] = [];
  for (let i = 0; i < count; i += 100) {
    made.push(
      ...(await Promise.all(
        Array.from(
          { length: Math.min(100, count - i) },
          (_, j) =>
            new Promise<Socket>((resolve, reject) => {
              const socket = connect(Number(new URL(served.url).port), '127.0.0.1', () => {
                const text = first(i + j);
                if (text) socket.write(text);
                resolve(socket);
              });
              socket.on('error', reject).resume();
            }),
        ),
      )),
    );
  }
  for (const one of made) one.removeAllListeners('error').on('error', () => {});
  sockets.push(...made);
  return made;
}

/** Sends good requests in turn, a read, a change and a check, over one connection; throws unless each is answered well. */
class GoodRequests {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 });
  #rounds = 0;

  async round(): Promise<void> {
    this.#rounds += 1;
    const labels = `{"metadata":{"labels":{"n":"${this.#rounds}"}}}`;
    for (const [method, path, body] of [
      ['GET', '/api/v1beta1/clients/app'],
      ['PATCH', '/api/v1beta1/clients/app', labels],
      ['GET', '/livez'],
    ] as const) {
      const code = await this.#ask(method, path, body);
      if (code !== 200) throw new Error(`${method} ${path} was answered ${code}`);
    }
  }

  #ask(method: string, path: string, body?: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const { port } = new URL(served.url);
      const headers = {
        accept: 'application/json',
        cookie: cookieOf(operator),
        'sec-fetch-site': 'same-origin',
        ...(body && {
          'content-type': 'application/merge-patch+json',
          'content-length': body.length,
        }),
      };
      request({ host: '127.0.0.1', port, agent: this.#agent, method, path, headers }, (res) => {
        res.resume().on('end', () => {
          resolve(res.statusCode!);
        });
      })
        .on('error', reject)
        .end(body);
    });
  }

  end(): void {
    this.#agent.destroy();
  }
}

const cookieOf = (tab: Tab): string =>
  tab.cookies
    .filter(({ path }) => path === '/')
    .map(({ name, value }) => `${name}=${value}`)
    .join('; ');

describe('connections that only cost', () => {
  const head = (path: string, type: string): string =>
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: ${type}\r\nContent-Length: 2000\r\n`;
  const kinds: Record<
    string,
    {
      readonly count: number;
      first(number: number): string;
      readonly more: string;
      readonly each: number;
      readonly isCut: boolean;
    }
  > = {
    'headers of a byte each ten seconds': {
      count: 500,
      first: () => 'GET /api/v1beta1/clients HTTP/1.1\r\nHost: localhost\r\nX-Slow: a',
      more: 'a',
      each: 10_000,
      isCut: true,
    },
    'bodies of a byte a second, to the token endpoint': {
      count: 500,
      first: () => `${head('/oauth2/token', 'application/x-www-form-urlencoded')}\r\ngrant_type=`,
      more: 'a',
      each: 1_000,
      isCut: true,
    },
    'bodies of a byte a second, of a person who is signed in': {
      count: 500,
      first: () =>
        `${head('/api/v1beta1/groups', 'application/json').replace(
          'Host: localhost',
          `Host: localhost\r\nCookie: ${cookieOf(operator)}`,
        )}\r\n{"metadata":`,
      more: ' ',
      each: 1_000,
      isCut: true,
    },
    'connections on which nothing is said': {
      count: 5_000,
      first: () => '',
      more: '',
      each: 60_000,
      isCut: false,
    },
  };

  test.each(Object.entries(kinds))(
    '%s: good requests are answered, and no slow one is held for ever',
    async (what, { count, first, more, each, isCut }) => {
      const good = new GoodRequests();
      await good.round();
      const resting = resident();
      const slow = await connections(count, first);
      const open = (): number => slow.filter((one) => !one.destroyed).length;
      const drip = (): void => {
        if (more) for (const one of slow) if (one.writable) one.write(more);
      };
      await good.round();
      expect(open()).toBeGreaterThan(count / 2); // a few may be refused
      for (let i = 0; i < 20; i += 1) {
        drip();
        await good.round();
      }
      report(`${count} × ${what}: ${((resident() - resting) / mebibyte).toFixed(0)} MiB more`);
      expect(resident() - resting).toBeLessThan(256 * mebibyte);
      const dripping = setInterval(drip, each);
      try {
        if (whole && isCut) while (open() > 0) await good.round();
      } finally {
        clearInterval(dripping);
        good.end();
      }
    },
  );
});

/**
 * So many requests a second, one after the other's time whether that is answered or not; how often
 * each code was answered.
 */
async function flood(
  rate: number,
  seconds: number,
  send: (number: number) => Promise<number>,
): Promise<Map<number, number>> {
  const codes = new Map<number, number>();
  const under: Promise<void>[] = [];
  const from = performance.now();
  for (let i = 0; i < rate * seconds; i += 1) {
    const wait = from + (i * 1000) / rate - performance.now();
    if (wait > 0) await pause(wait);
    under.push(
      send(i).then((code) => {
        codes.set(code, (codes.get(code) ?? 0) + 1);
      }),
    );
  }
  await Promise.all(under);
  return codes;
}

test('requests without a cookie are bounded by network', async () => {
  const [rate, seconds] = whole ? [100, 60] : [25, 10];
  const { I } = await begin(served);
  const form = (path: string, fields: Record<string, string>): Promise<number> =>
    Promise.resolve(
      served.tab().send('POST', path, {
        plain: true,
        cookies: false,
        body: new URLSearchParams(fields).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    ).then(({ code }) => code);
  const ask: Record<string, (number: number) => Promise<number>> = {
    authorize: async (i) =>
      (
        await served
          .tab()
          .navigate(authorizationPath('app', 'openid email', `${i}`.padStart(43, 'v')))
      ).code,
    device: () => form('/oauth2/device/auth', { client_id: 'vestibule', scope: 'openid' }),
    emailchallenge: async (i) =>
      (
        await served
          .tab()
          .post(`${I}/emailchallenge`, { spec: { email: `stranger${i}@example.test` } })
      ).code,
    passkeychallenge: async () =>
      (await served.tab().post(`${I}/passkeychallenge`, { spec: { purpose: 'Authenticate' } }))
        .code,
  };
  const keys = async (prefix = ''): Promise<number> =>
    (await storage.list(prefix ? prefixRange(prefix) : { start: '!', end: '~' })).entries.length;
  const mails = await keys('objects/mockmessages/');
  const [stored, resting] = [await keys(), resident()];
  const codes = Object.fromEntries(
    await Promise.all(
      Object.entries(ask).map(
        async ([what, send]) => [what, await flood(rate, seconds, send)] as const,
      ),
    ),
  );
  const windows = 1 + Math.ceil(seconds / 60);
  const [interactions, devices, more, grown] = [
    await keys('objects/interactions/'),
    await keys('oidc/DeviceCode/'),
    (await keys()) - stored,
    resident() - resting,
  ];
  report(
    `${rate} requests a second at each for ${seconds} s: ${Object.entries(codes)
      .map(
        ([what, seen]) =>
          `${what} ${[...seen].map(([code, count]) => `${count} × ${code}`).join(', ')}`,
      )
      .join(
        '; ',
      )}; ${interactions} interactions, ${devices} device codes, ${more} keys more; ${(grown / mebibyte).toFixed(0)} MiB more`,
  );
  expect([...codes['authorize']!.keys()].sort()).toEqual([303, 429]);
  expect([...codes['device']!.keys()].sort()).toEqual([200, 429]);
  for (const what of ['emailchallenge', 'passkeychallenge']) {
    expect([...codes[what]!.keys()].filter((code) => code !== 404 && code !== 429)).toEqual([]);
  }
  for (const what of ['authorize', 'device']) {
    expect(codes[what]!.get(what === 'device' ? 200 : 303)).toBeLessThanOrEqual(windows * 120);
  }
  expect(interactions).toBeLessThanOrEqual(windows * 120 + 3);
  expect(devices).toBeLessThanOrEqual(windows * 120);
  expect(more).toBeLessThan(windows * 120 * 10);
  expect(grown).toBeLessThan(128 * mebibyte);
  expect(await keys('objects/mockmessages/')).toBe(mails);
});
