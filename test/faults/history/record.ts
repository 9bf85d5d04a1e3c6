import { signIn } from '../../support/people/signin.js';
import { Chance } from '../chance.js';
import type { Served } from '../served.js';
import type { Change, History } from './history.js';
import { pause } from './line.js';
import { Racer } from './racer.js';
import { keys, Recorder, shards } from './recorder.js';
import { Watcher } from './watcher.js';
import { Writer } from './writer.js';

/** The manifest that makes the recorder's own account an operator. */
export const operatorManifest = `apiVersion: id.vestibule.org/v1beta1
kind: Group
metadata: { name: operators }
spec: { displayName: Operators, members: [recorder@example.test] }
`;

/** Something to be done to the system; resolves when it is whole again. */
export interface Harm {
  readonly what: string;
  do(chance: Chance): Promise<void>;
}

/** What is recorded, and how. */
export interface Plan {
  readonly seed: number;
  readonly about: string;
  readonly seconds: number;
  readonly places: readonly Served[];
  readonly harms: readonly Harm[];
  /** How many watch besides those that watch a key or a label; none where it is not said. */
  readonly crowd?: number;
  /** What the store itself has to tell of everything after `from`, up to `to`. */
  log(from: number, to: number): Promise<Change[]>;
}

/** A run, with what its history does not hold. */
export interface Recorded {
  readonly history: History;
  readonly surprises: readonly string[];
  readonly rounds: number;
  readonly opened: number /** How often each code was answered to those who write and read. */;
  readonly codes: ReadonlyMap<number, number>;
}

/**
 * Lets clients loose on a system while something is done to it every five seconds or so, and reads
 * the log when all is quiet again.
 */
export async function record(plan: Plan): Promise<Recorded> {
  const chance = new Chance(plan.seed);
  const { tab } = await signIn(plan.places[0]!, 'recorder@example.test');
  const to = new Recorder(
    plan.places,
    chance,
    tab.cookies
      .filter(({ path }) => path === '/')
      .map(({ name, value }) => `${name}=${value}`)
      .join('; '),
  );
  const writer = new Writer(to, 'last');
  const from = (await writer.list())!;
  const writers = Array.from({ length: 6 }, (_, i) => new Writer(to, `w${i}`));
  const racers = Array.from({ length: 2 }, (_, i) => new Racer(to, i));
  const crowd = Array.from({ length: plan.crowd ?? 0 }, () => ({}));
  const watchers = [
    {},
    {},
    { label: 'a' },
    { label: 'b' },
    { key: keys[0]! },
    { key: keys[1]! },
    ...crowd,
  ].map((filter, i) => new Watcher(to, `watcher ${i} of ${JSON.stringify(filter)}`, filter, i));
  const watching = watchers.map((watcher) => watcher.run());
  const working = [...writers, ...racers].map((one) => one.run());
  await harm(plan, to);
  await calm(to, watchers);
  to.over = true;
  await Promise.all(working);
  const last = await finish(to, writer);
  await Promise.all(
    watchers.map((watcher) => watcher.finish(last.get(watcher.track.filter.key ?? '')!, 20_000)),
  );
  await Promise.all(watching);
  await writer.list();
  const log = await plan.log(from, last.get('')!);
  const { seed, about } = plan;
  return {
    history: {
      seed,
      about,
      calls: to.calls,
      faults: to.faults,
      log,
      tracks: watchers.map(({ track }) => track),
    },
    surprises: to.surprises,
    codes: to.codes,
    rounds: racers.reduce((sum, { done }) => sum + done, 0),
    opened: watchers.reduce((sum, { opened }) => sum + opened, 0),
  };
}

/** Each harm in turn, in an order that chance makes for every round of them. */
async function harm({ harms, seconds }: Plan, to: Recorder): Promise<void> {
  let due: Harm[] = [];
  for (const end = to.now() + seconds * 1000; to.now() < end; ) {
    await pause(to.chance.between(2_500, 4_500));
    if (due.length === 0) due = [...harms];
    const [one] = due.splice(to.chance.between(0, due.length - 1), 1);
    const start = to.now();
    await one!.do(to.chance);
    to.faults.push({ what: one!.what, start, end: to.now() });
  }
}

/**
 * A moment without harm; on a slow machine, up to a minute until someone has signed out and every
 * watcher received some changes.
 */
async function calm(to: Recorder, watchers: readonly Watcher[]): Promise<void> {
  const enough = (): boolean =>
    to.calls.some(({ type }) => type === 'signout') &&
    watchers.every(({ track }) => track.steps.filter(({ step }) => step === 'received').length > 5);
  await pause(1_500);
  for (const until = to.now() + 60_000; to.now() < until && !enough(); ) await pause(200);
}

/**
 * Writes every object once more with each label, so that every watcher has something to receive;
 * the last revision of each, and of all under ''.
 */
async function finish(to: Recorder, writer: Writer): Promise<ReadonlyMap<string, number>> {
  const last = new Map<string, number>();
  for (const shard of shards) {
    for (const key of keys) {
      for (let code: number | undefined; code !== 200; ) {
        code = await writer.patch(key, undefined, shard);
        if (code === 404) {
          await writer.create(key, shard);
        } else if (code === 403) {
          throw new Error('the operator may not write any more');
        } else if (code !== 200) {
          await pause(50);
        }
      }
      const written = to.calls.at(-1) as { revision: number };
      last.set(key, written.revision).set('', written.revision);
    }
  }
  return last;
}
