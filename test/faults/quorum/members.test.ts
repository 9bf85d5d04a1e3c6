import { afterAll, afterEach, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { parseVersion } from '../../../storage/etcd/version.js';
import { freePorts } from '../../storage/etcd-server.js';
import { scrape } from '../../support/network/scrape.js';
import { Stream } from '../../support/network/stream.js';
import { scaled, settles } from '../../support/patience.js';
import { signIn } from '../../support/people/signin.js';
import type { Answer, Tab } from '../../support/people/tab.js';
import { operator as address, pause, Quorum, tell, whole } from './quorum.js';
import { figures, percentile, Traffic } from './traffic.js';

jest.setTimeout(1_200_000);

/**
 * How much longer than promised something may take here: the promise is for good hardware, and the
 * figure is printed.
 */
const slack = Math.max(3, scaled(1));
const [refusedIn, unreadyIn, backIn] = [2_500, 10_000, 5_000];
/** Changes at once. */
const max = 40;

let quorum: Quorum;
let operator: Tab;
let metrics: readonly number[];
beforeAll(async () => {
  metrics = await freePorts(2);
  quorum = await Quorum.start({
    flags: (i) => [
      '--metrics-port',
      String(metrics[i]),
      '--max-mutating-requests-inflight',
      String(max),
    ],
  });
  operator = (await signIn(quorum.replicas[0]!, address)).tab;
  tell(`two replicas on three members: ${quorum.about}`);
});
afterEach(async () => {
  quorum.mend();
  await quorum.ready();
});
afterAll(async () => {
  await quorum?.end();
});

let runs = 0;
const at = (replica: number, { cookies }: Tab = operator): Tab =>
  Object.assign(quorum.replicas[replica]!.tab(), { cookies: [...cookies] });
const codeOf = (asked: PromiseLike<Answer>): Promise<number> =>
  Promise.resolve(asked).then(
    ({ code }) => code,
    () => 0,
  );

/**
 * Traffic while something is done to the system, until some time after all is well again. Nothing
 * acknowledged is lost, and no answer is of another kind than it may be. `stale`: whether reads of
 * former state fail the test or are only reported.
 */
async function during(
  work: (traffic: Traffic) => Promise<void>,
  stale: 'none' | 'reported' = 'none',
): Promise<Traffic> {
  const traffic = new Traffic(quorum.replicas, operator, `t${runs++}-`);
  try {
    await pause(1_500);
    await work(traffic);
    quorum.mend();
    await quorum.ready();
    await pause(1_000);
  } finally {
    await traffic.stop();
  }
  expect(await traffic.faults()).toEqual([]);
  if (stale === 'none') expect(traffic.stale).toEqual([]);
  return traffic;
}

/** How long after a moment the last request was answered that something became of. */
const troubled = (traffic: Traffic, from: number): number =>
  Math.max(
    0,
    ...traffic
      .within(from)
      .filter(({ code }) => code !== 200 && code !== 201)
      .map((one) => one.at + one.took - from),
  );

test('a follower is killed: hardly anything fails, and nothing for long', async () => {
  const follower = await quorum.follower();
  let killed = 0;
  const traffic = await during(async (one) => {
    killed = one.now();
    await quorum.members[follower]!.kill();
    await pause(whole ? 58_000 : 2_500);
    await quorum.members[follower]!.restart();
  });
  const [before, after] = [traffic.within(0, killed), traffic.within(killed, killed + 1_000)];
  tell(
    `follower killed: before: ${figures(before)}; the second after: ${figures(after)}; then: ${figures(traffic.within(killed + 1_000))}; over after ${troubled(traffic, killed).toFixed(0)} ms`,
  );
  expect(troubled(traffic, killed)).toBeLessThan(refusedIn * slack);
  expect(
    traffic.within(killed).filter(({ code }) => code !== 200 && code !== 201).length,
  ).toBeLessThan(traffic.within(killed).length / 4);
});

test('the leader is killed: nothing acknowledged is lost', async () => {
  for (let round = 0; round < (whole ? 20 : 1); round += 1) {
    const leader = await quorum.leader();
    let killed = 0;
    const traffic = await during(async (one) => {
      killed = one.now();
      await quorum.members[leader]!.kill();
      const next = await quorum.leader();
      expect(next).not.toBe(leader);
      await pause(whole ? 12_000 : 1_500);
      await quorum.members[leader]!.restart();
    });
    tell(
      `leader killed: ${figures(traffic.within(killed))}; over after ${troubled(traffic, killed).toFixed(0)} ms`,
    );
    expect(percentile(traffic.exchanges, 1)).toBeLessThan(3_000 * slack);
    expect(troubled(traffic, killed)).toBeLessThan(10_000 * slack);
  }
});

if (whole) {
  test('the leader is paused for five seconds: as after its death', async () => {
    const leader = await quorum.leader();
    let paused = 0;
    const traffic = await during(async (one) => {
      paused = one.now();
      process.kill(quorum.members[leader]!.pid, 'SIGSTOP');
      try {
        await pause(5_000);
      } finally {
        process.kill(quorum.members[leader]!.pid, 'SIGCONT');
      }
      await quorum.leader();
    }, 'reported');
    tell(
      `leader paused, etcd ${quorum.members[0]!.version}: ${figures(traffic.within(paused))}; over after ${troubled(traffic, paused).toFixed(0)} ms; ${traffic.stale.length} stale reads`,
    );
    expect(percentile(traffic.exchanges, 1)).toBeLessThan(3_000 * slack);
    const [major, minor, patch] = parseVersion(quorum.members[0]!.version);
    const floor = { 4: 42, 5: 28, 6: 9 }[minor] ?? 0;
    if (major === 3 && patch < floor) return;
    expect(traffic.stale).toEqual([]);
  });
}

const watching = 'groups?watch=true&allowWatchBookmarks=true';

/** A watch from a version on, once the replica takes it. */
async function watchFrom(replica: number, version: string): Promise<Stream> {
  for (;;) {
    const next = await new Stream(at(replica), `${watching}&resourceVersion=${version}`).until(
      ({ code, ended }) => code !== 0 || ended,
      60_000,
    );
    if (next.code === 200) return next;
    await pause(50);
  }
}

/**
 * How long it takes until a watch at a replica receives something made from now on at the other. A
 * watch whose right to stay cannot be asked for ends, and is taken up again where it was; it never
 * has to begin again.
 */
async function watchBack(watches: Stream[], replica: number, prefix: string): Promise<number> {
  const from = performance.now();
  const hasArrived = ({ events }: Stream): boolean =>
    events.some(({ object }) => object.metadata?.name?.startsWith(prefix));
  const made = (i: number): Promise<number> =>
    codeOf(
      at(1 - replica).post('groups', {
        metadata: { name: `${prefix}${i}` },
        spec: { displayName: prefix },
      }),
    );
  for (let i = 0; (await made(i)) !== 201; i += 1) await pause(50);
  for (let version = ''; ; ) {
    const watch = await watches[replica]!.until((one) => one.ended || hasArrived(one), 60_000);
    expect(watch.events.filter(({ type }) => type === 'ERROR')).toEqual([]);
    if (hasArrived(watch)) return performance.now() - from;
    version = watch.events.at(-1)?.object.metadata.resourceVersion ?? version;
    watches[replica] = await watchFrom(replica, version);
  }
}

describe.each(whole ? (['whole', 'one-way'] as const) : (['one-way'] as const))(
  'a member is cut off, %s',
  (how) => {
    test.each(whole ? (['the leader', 'a follower'] as const) : (['the leader'] as const))(
      '%s: watches are back in time, and a sign-out reaches the other replica',
      async (which) => {
        const member = which === 'the leader' ? await quorum.leader() : await quorum.follower();
        const watches = await Promise.all(
          [0, 1].map((replica) =>
            new Stream(at(replica), watching).until(({ code }) => code === 200),
          ),
        );
        const { tab } = await signIn(
          quorum.replicas[0]!,
          `${which === 'the leader' ? 'l' : 'f'}-${how}@example.test`,
        );
        for (const replica of [0, 1]) await at(replica, tab).get('accounts/~').is(200);
        let [cut, ended, taken] = [0, 0, 0];
        let backs: number[] = [];
        const traffic = await during(async (one) => {
          cut = one.now();
          quorum.isolate(member, how);
          const signedOut = (async () => {
            await settles(
              () => codeOf(at(0, tab).delete('sessions/~')),
              (code) => code === 200 || code === 401,
            );
            const answered = performance.now();
            const asked = async (): Promise<number> => {
              const began = performance.now() - answered;
              const code = await codeOf(at(1, tab).get('accounts/~'));
              if (code === 200) taken = began;
              return code;
            };
            await settles(asked, (code) => code === 401);
            ended = performance.now() - answered;
          })();
          backs = await Promise.all(
            [0, 1].map((replica) => watchBack(watches, replica, `w${runs}-${replica}-`)),
          );
          await signedOut;
        });
        for (const watch of watches) watch.close();
        tell(
          `${which} cut off, ${how}: ${figures(traffic.within(cut))}; over after ${troubled(traffic, cut).toFixed(0)} ms; watches back after ${backs.map((back) => back.toFixed(0)).join(' and ')} ms; signed out at the other: taken for the last time after ${taken.toFixed(0)} ms, said after ${ended.toFixed(0)} ms`,
        );
        expect(Math.max(...backs)).toBeLessThan(backIn * slack);
        expect(taken).toBeLessThan(3_000 * slack); // two by what caches go by; in between, the store may have no time to say
        expect(ended).toBeLessThan(3_000 * slack);
        expect(percentile(traffic.exchanges, 1)).toBeLessThan(3_000 * slack);
      },
    );
  },
);

describe.each(whole ? (['holds', 'resets'] as const) : (['holds'] as const))(
  'a replica is cut from etcd by a network that %s',
  (how) => {
    test('503 in time, unready, a cache that is silent is not used; back without a restart', async () => {
      const { pid } = quorum.replicas[0]!;
      const { tab } = await signIn(quorum.replicas[1]!, `cut-${how}@example.test`);
      for (const replica of [0, 1]) await at(replica, tab).get('accounts/~').is(200);
      let [cut, mended, unready, back] = [0, 0, 0, 0];
      const traffic = await during(async (one) => {
        cut = one.now();
        for (const link of quorum.lines(0)) {
          if (how === 'holds') {
            link.hole();
          } else {
            link.cut();
          }
        }
        await at(1, tab).delete('sessions/~').is(200);
        await settles(
          () => codeOf(at(0, tab).get('accounts/~')),
          (code) => code !== 200,
        );
        const unused = one.now() - cut;
        expect(unused).toBeLessThan(3_000 * slack);
        await settles(
          () => codeOf(at(0).get('/readyz', { plain: true })),
          (code) => code === 500,
        );
        unready = one.now() - cut;
        expect(await codeOf(at(0).get('/livez', { plain: true }))).toBe(200);
        await pause(whole ? 10_000 : 1_000);
        expect(await codeOf(at(1).get('/readyz', { plain: true }))).toBe(200);
        for (const link of quorum.lines(0)) {
          link.reset();
          link.mend();
        }
        mended = one.now();
        await settles(
          () =>
            codeOf(
              at(0).post('groups', {
                metadata: { generateName: 'back-' },
                spec: { displayName: 'x' },
              }),
            ),
          (code) => code === 201,
        );
        await quorum.ready();
        back = one.now() - mended;
      });
      const refused = traffic
        .within(cut, mended, 0)
        .filter(({ what, code }) => what === 'create' && code !== 429);
      tell(
        `a replica cut from etcd, ${how}: ${figures(traffic.within(cut, mended, 0))}; unready after ${unready.toFixed(0)} ms; back after ${back.toFixed(0)} ms; the other: ${figures(traffic.within(cut, mended, 1))}`,
      );
      expect(refused.length).toBeGreaterThan(0);
      expect(Math.max(...refused.map(({ took }) => took))).toBeLessThan(refusedIn * slack);
      expect(unready).toBeLessThan(unreadyIn * slack);
      expect(back).toBeLessThan(backIn * slack);
      expect(
        traffic.within(cut, mended, 1).filter(({ code }) => code !== 200 && code !== 201),
      ).toEqual([]);
      expect(quorum.replicas[0]!.pid).toBe(pid);
      expect(await codeOf(at(0, tab).get('accounts/~'))).toBe(401);
    });
  },
);

const slowness = [
  ['of 500 ms there and back', { delay: 250 }],
  ['of 30 kB a second', { rate: 30_000 }],
] as const;
describe.each(whole ? slowness : slowness.slice(0, 1))('a line to etcd %s', (name, conditions) => {
  test('deadlines hold; over the bound it is 429; no queue grows', async () => {
    const answers: { code: number; took: number; after: string | undefined }[] = [];
    const one = async (i: number): Promise<void> => {
      const from = performance.now();
      const { code, headers } = await at(0).post('groups', {
        metadata: { name: `s${runs}-${i}` },
        spec: { displayName: 'x'.repeat(20) },
      });
      answers.push({ code, took: performance.now() - from, after: headers['retry-after'] });
    };
    runs += 1;
    for (const link of quorum.lines(0)) link.slow(conditions);
    let highest = 0;
    for (let wave = 0; wave < (whole ? 20 : 2); wave += 1) {
      const sent = Array.from({ length: 3 * max }, (_, i) => one(wave * 1_000 + i));
      const inflight = scrape(`http://127.0.0.1:${metrics[0]}`).then((seen) =>
        seen.sum('apiserver_current_inflight_requests', { request_kind: 'mutating' }),
      );
      highest = Math.max(highest, await inflight);
      expect(await codeOf(at(0).get('/livez', { plain: true }))).toBe(200);
      await Promise.all(sent);
    }
    const count = (of: number): number => answers.filter(({ code }) => code === of).length;
    const took = answers.map((answer) => answer.took).sort((a, b) => a - b);
    tell(
      `a line to etcd ${name}: ${answers.length} changes at once by ${3 * max}: ${count(201)} made, ${count(429)} × 429, ${count(503)} × 503, ${count(504)} × 504; median ${took[took.length >> 1]!.toFixed(0)} ms, longest ${took.at(-1)!.toFixed(0)} ms; ${highest} in flight`,
    );
    expect(count(201) + count(429) + count(503) + count(504)).toBe(answers.length);
    expect([count(429) > 0, count(201) > 0, highest <= max]).toEqual([true, true, true]);
    expect(
      answers.filter(({ code, after }) => (code === 429 || code === 503) && after === undefined),
    ).toEqual([]);
    expect(took.at(-1)!).toBeLessThan(25_000);
    const from = performance.now();
    quorum.mend();
    await settles(
      () =>
        codeOf(
          at(0).post('groups', {
            metadata: { generateName: 'quick-' },
            spec: { displayName: 'x' },
          }),
        ),
      (code) => code === 201,
    );
    expect(performance.now() - from).toBeLessThan(backIn * slack);
  });
});
