import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ClockSkew } from '../../cmd/vestibule/serve/replicas/clock-skew.js';
import { createLog } from '../../observability/log.js';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import { openEtcd } from '../../storage/etcd/etcd.js';
import { prefixRange, type Storage } from '../../storage/storage.js';
import { type EtcdServer, startEtcd } from '../storage/etcd-server.js';
import { settles } from '../support/patience.js';
import { stopAll, temporary } from '../support/service.js';
import { stores } from '../support/stores.js';

const log = createLog('silent');

describe.each(stores)('clocks on %s', (store) => {
  let storage: Storage;
  let etcd: EtcdServer | undefined;
  const running: ClockSkew[] = [];
  beforeAll(async () => {
    if (store === 'etcd') etcd = await startEtcd();
    storage = etcd
      ? await openEtcd({ servers: [etcd.endpoint], prefix: '/clocks/' })
      : await openEmbedded({ directory: temporary() });
  });
  afterAll(async () => {
    await storage.close();
    await etcd?.stop();
    await stopAll();
  });

  /** Replicas whose clocks are so many seconds ahead, once each has heard of all the others. */
  async function replicas(...ahead: number[]): Promise<ClockSkew[]> {
    const all = ahead.map(
      (seconds) =>
        new ClockSkew(storage, log, { intervalMs: 100, now: () => Date.now() + seconds * 1000 }),
    );
    running.push(...all);
    for (const one of all) one.start();
    return all;
  }

  const isAbout =
    (seconds: number) =>
    (skew: number): boolean =>
      Math.abs(skew - seconds) < 1.5;
  const ends = async (): Promise<void> => {
    for (const one of running.splice(0)) await one.stop();
  };
  const refuses = (clocks: ClockSkew): boolean => {
    try {
      clocks.check();
      return false;
    } catch {
      return true;
    }
  };

  test('one alone is never off, and two that agree are not', async () => {
    const [alone] = await replicas(0);
    expect([alone!.skew, refuses(alone!)]).toEqual([0, false]);
    const [other] = await replicas(0);
    await settles(
      async () => [alone!.peers, other!.peers],
      (peers) => peers.every((count) => count === 1),
    );
    for (const one of [alone!, other!]) {
      expect([isAbout(0)(one.skew), refuses(one)]).toEqual([true, false]);
    }
    await ends();
    expect((await storage.list(prefixRange('meta/clocks/'))).entries).toEqual([]);
  });

  test('of three the one that is off refuses, and the others do not', async () => {
    const [first, second, late] = (await replicas(0, 0, -30)) as [ClockSkew, ClockSkew, ClockSkew];
    await settles(async () => late.skew, isAbout(-30));
    await settles(
      async () => [first.peers, second.peers, late.peers],
      (peers) => peers.every((count) => count === 2),
    );
    expect([isAbout(0)(first.skew), isAbout(0)(second.skew)]).toEqual([true, true]);
    expect([refuses(first), refuses(second), refuses(late)]).toEqual([false, false, true]);
    await ends();
  });

  test('of two neither knows who is right; once the other has gone, one is well again', async () => {
    const [first, ahead] = (await replicas(0, 20)) as [ClockSkew, ClockSkew];
    await settles(
      async () => [first.skew, ahead.skew],
      ([one, other]) => isAbout(-20)(one!) && isAbout(20)(other!),
    );
    expect([refuses(first), refuses(ahead)]).toEqual([true, true]);
    await ahead.stop();
    running.pop();
    await settles(
      async () => first.peers,
      (peers) => peers === 0,
    );
    expect([first.skew, refuses(first)]).toEqual([0, false]);
    await ends();
  });

  test('a time that was long on its way does not count for long', async () => {
    const [first] = (await replicas(0)) as [ClockSkew];
    const say = (time: number) =>
      storage.commit(
        [],
        [{ put: 'meta/clocks/other', value: Buffer.from(JSON.stringify({ time })) }],
      );
    await new Promise((resolve) => {
      setTimeout(resolve, 300);
    });
    await settles(async () => {
      await say(Date.now() - 20_000);
      return first.skew;
    }, isAbout(20));
    await say(Date.now());
    await settles(
      async () => first.skew,
      (skew) => Math.abs(skew) < 1.5,
    );
    await ends();
  });
});
