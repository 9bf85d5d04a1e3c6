import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { openEtcd } from '../../storage/etcd/etcd.js';
import type { Change, Storage } from '../../storage/storage.js';
import { type EtcdServer, startEtcd } from '../storage/etcd-server.js';
import { Stream } from '../support/network/stream.js';
import { settles } from '../support/patience.js';
import { begin, proceed, redeem, signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import { stopAll, temporary } from '../support/service.js';
import { Anywhere, Balancer } from './anywhere.js';
import { Mailbox } from './mailbox.js';
import { Served } from './served.js';

jest.setTimeout(600_000);

/**
 * `FAULTS=all`, by hand: three rolls of both replicas under twenty sign-ins a second, as is
 * promised; each once the one before has been caught up with, since everything shares the cores of
 * one machine.
 */
const [rate, rolls, watches] = process.env['FAULTS'] === 'all' ? [20, 3, 10] : [4, 1, 4];
const operator = 'op@example.test';
const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
const tell = (what: string): void => {
  process.stderr.write(`${what}\n`);
};

let etcd: EtcdServer;
let storage: Storage;
let replicas: readonly Served[];
let mailboxes: readonly Mailbox[];
let balancer: Balancer;
beforeAll(async () => {
  etcd = await startEtcd();
  storage = await openEtcd({ servers: [etcd.endpoint], prefix: '/vestibule/' });
  replicas = await Served.replicas(2, temporary(), etcd.endpoint, '', () => [
    '--operators',
    operator,
    '--shutdown-delay-duration',
    '2s',
  ]);
  mailboxes = replicas.map((replica) => new Mailbox(replica));
  balancer = new Balancer(replicas);
});
afterAll(async () => {
  balancer?.end();
  for (const mailbox of mailboxes ?? []) mailbox.close();
  for (const replica of replicas ?? []) await replica.end();
  await storage?.close();
  await etcd?.stop();
  await stopAll();
});

/** What one sign-in came to. */
interface SignIn {
  readonly repeated: readonly string[];
  readonly took: number;
  readonly failure?: string;
}

/**
 * Someone signs in for the first time, each request of theirs at whichever replica the balancer
 * has it.
 */
async function once(number: number): Promise<SignIn> {
  const tab = new Anywhere(balancer, `198.${18 + Math.floor(number / 250)}.${number % 250}.1`);
  const from = performance.now();
  const outcome = (failure?: string): SignIn => ({
    repeated: tab.repeated,
    took: performance.now() - from,
    ...(failure !== undefined && { failure }),
  });
  try {
    const begun = await begin({ tab: () => tab }, { tab });
    const { status } = (
      await tab
        .post(`${begun.I}/emailchallenge`, { spec: { email: `person${number}@example.test` } })
        .is(200)
    ).body;
    const mail = await Promise.race(mailboxes.map((mailbox) => mailbox.to(begun.name, 20_000)));
    if (!mail) return outcome(`no mail: ${JSON.stringify(status)}`);
    const { body } = await tab
      .post(`${begun.I}/login`, { spec: { method: 'EmailCode', code: mail.code } })
      .is(200);
    const answer = await redeem(
      { tab: () => tab },
      { ...begun, callback: await proceed(tab, body.status.returnTo) },
    );
    return outcome(
      answer.code === 200 && answer.body.id_token
        ? undefined
        : `the code was answered ${answer.code}`,
    );
  } catch (error) {
    return outcome(String(error));
  }
}

/** Sign-ins at a rate that does not wait for any of them. */
class Crowd {
  readonly signIns: SignIn[] = [];
  readonly #under = new Set<Promise<unknown>>();
  readonly #running: Promise<void>;
  #over = false;

  constructor() {
    this.#running = this.#run();
  }

  /** Resolves when few sign-ins are under way: those that waited have been caught up with. */
  async current(): Promise<void> {
    while (this.#under.size > 40) await pause(100);
  }

  /** Ends it once everybody has signed in. */
  async stop(): Promise<void> {
    this.#over = true;
    await this.#running;
    await Promise.all(this.#under);
  }

  async #run(): Promise<void> {
    for (let due = performance.now(), number = 0; !this.#over; due += 1000 / rate, number += 1) {
      await pause(Math.max(0, due - performance.now()));
      const one = once(number).then((signIn) => {
        this.signIns.push(signIn);
        this.#under.delete(one);
      });
      this.#under.add(one);
    }
  }
}

/**
 * A watch on all sessions that goes on, at the replica that the balancer picks, from the version it
 * received last.
 */
class Follower {
  readonly received: string[] = [];
  starts = 0;
  #stream: Stream | undefined;
  #last: string;
  #over = false;
  readonly #cookies: Tab['cookies'];
  readonly #running: Promise<void>;

  constructor({ cookies }: Tab, from: string) {
    this.#cookies = cookies;
    this.#last = from;
    this.#running = this.#run();
  }

  /** The last version it received. */
  get last(): number {
    return Number(this.#last);
  }

  async end(): Promise<void> {
    this.#over = true;
    this.#stream?.close();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (; !this.#over; await pause(50)) {
      const tab = Object.assign(balancer.next().tab(), { cookies: this.#cookies });
      this.#stream = new Stream(tab, `sessions?watch=true&resourceVersion=${this.#last}`);
      this.starts += 1;
      await this.#stream.until((stream) => {
        this.#take(stream);
        return stream.ended || this.#over;
      }, Infinity);
    }
  }

  #take({ events }: Stream): void {
    for (const { type, object } of events.splice(0)) {
      if (type === 'ERROR') throw new Error(`a watch received ${JSON.stringify(object)}`);
      this.#last = object.metadata.resourceVersion;
      this.received.push(`${type} ${object.metadata.name}@${this.#last}`);
    }
  }
}

/** Every change of a session since then, as the store itself has it. */
async function changes(from: number, to: number): Promise<string[]> {
  const line = ({ key, before, entry }: Change, revision: number): string => {
    const written = before ? 'MODIFIED' : 'ADDED';
    return `${entry ? written : 'DELETED'} ${key.split('/').at(-1)}@${revision}`;
  };
  const all: string[] = [];
  const over = new AbortController();
  for await (const batch of storage.watch('objects/sessions/', from, over.signal)) {
    all.push(...batch.changes.map((change) => line(change, batch.revision)));
    if (batch.revision >= to) break;
  }
  over.abort();
  return all;
}

/** SIGTERM and another start once it has ended, which it does by itself, in time and cleanly. */
async function roll(one: Served): Promise<number> {
  const from = performance.now();
  expect(await one.stop()).toBe(0);
  const took = performance.now() - from;
  await one.again();
  await balancer.whole();
  return took;
}

test(`two replicas restart under ${rate} sign-ins a second: each ends with tokens`, async () => {
  const { tab } = await signIn(replicas[0]!, operator);
  const from = (await tab.get('sessions').is(200)).body.metadata.resourceVersion;
  const followers = Array.from({ length: watches }, () => new Follower(tab, from));
  const crowd = new Crowd();
  const stops: number[] = [];
  await pause(2_000);
  for (let i = 0; i < rolls * replicas.length; i += 1) {
    await crowd.current();
    stops.push(await roll(replicas[i % replicas.length]!));
    await pause(2_000);
  }
  await crowd.stop();
  const repeats = crowd.signIns.flatMap(({ repeated }) => repeated);
  const took = crowd.signIns.map((signIn) => signIn.took).sort((a, b) => a - b);
  tell(
    `rolled ${stops.length} times under ${rate} sign-ins a second (etcd ${etcd.version}): ${crowd.signIns.length} sign-ins, median ${took[took.length >> 1]!.toFixed(0)} ms, longest ${took.at(-1)!.toFixed(0)} ms; ${repeats.length} requests repeated; the longest stop ${Math.max(...stops).toFixed(0)} ms`,
  );
  expect(crowd.signIns.flatMap(({ failure }) => failure ?? [])).toEqual([]);
  expect(crowd.signIns.filter(({ repeated }) => repeated.length > 1)).toEqual([]);
  expect(crowd.signIns.length).toBeGreaterThan(rate * stops.length);
  const { revision } = await storage.get('meta/hub');
  const all = await changes(Number(from), revision);
  expect(all.filter((one) => one.startsWith('ADDED')).length).toBe(crowd.signIns.length);
  const last = Number(all.at(-1)!.split('@')[1]);
  await settles(
    async () => followers.map((follower) => follower.last),
    (at) => at.every((one) => one >= last),
  );
  for (const follower of followers) {
    await follower.end();
    expect(follower.received).toEqual(all);
  }
  expect(Math.min(...followers.map(({ starts }) => starts))).toBeGreaterThan(1);
});
