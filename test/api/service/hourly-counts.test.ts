import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { HourlyCounts, type Totals } from '../../../cmd/vestibule/serve/replicas/hourly-counts.js';
import { HourlyCount, type HourlyCountStatus, hourName } from '../../../kinds/hourly-count.js';
import { mailLimits } from '../../../kinds/interaction/email-challenge.js';
import { toTimestamp } from '../../../registry/schema/timestamp.js';
import type { Store } from '../../../registry/store/store.js';
import { UnavailableError } from '../../../storage/storage.js';
import { countCommits } from '../../support/count-commits.js';
import { begin, mailTo, signIn } from '../../support/people/signin.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const flags = ['--operators', 'op@example.test', '--limit-factor', '50'];
const [minuteMs, hourMs] = [60_000, 3_600_000];
/** An hour that no replica of a test counts in. */
const hour = Math.floor(Date.now() / hourMs - 48) * hourMs;

/** Returns counts that grow, and what adds them to the hours of a store. */
function counterOf(store: Store, startedAt: number) {
  const totals = {
    signIns: new Map<string, number>(),
    signInsFailed: new Map<string, number>(),
    mails: new Map<string, number>(),
    refusedByRule: new Map<string, number>(),
    refusedByLimit: new Map<string, number>(),
  };
  const copy = (): Totals =>
    Object.fromEntries(
      Object.entries(totals).map(([list, counts]) => [list, new Map(counts)]),
    ) as unknown as Totals;
  const hours = new HourlyCounts(copy, startedAt);
  return {
    hours,
    count(list: keyof typeof totals, name: string, by = 1): void {
      totals[list].set(name, (totals[list].get(name) ?? 0) + by);
    },
    async flush(now: number): Promise<void> {
      hours.collect(now);
      await store.change(store.systemCall(), (tx) => hours.addTo(tx));
    },
  };
}

type Counts = Readonly<Record<string, number>>;
const numbersOf = (list: HourlyCountStatus['signIns']): Counts =>
  Object.fromEntries(list.map(({ name, count }) => [name, count]));
const storedHours = async (store: Store): Promise<readonly HourlyCountStatus[]> =>
  (await store.reader(HourlyCount).list()).map(({ status }) => status);

/** Returns what is stored of an hour, by name. */
async function countsIn(store: Store, list: keyof Totals, start = hour): Promise<Counts> {
  const found = (await storedHours(store)).find(
    ({ startTimestamp }) => startTimestamp === toTimestamp(start),
  );
  return numbersOf(found?.[list] ?? []);
}

/** Returns what is stored of all hours, by name: a test may go on in the next hour. */
async function countsInAll(store: Store, list: keyof Totals): Promise<Counts> {
  const sums: Record<string, number> = {};
  for (const status of await storedHours(store)) {
    for (const { name, count } of status[list]) sums[name] = (sums[name] ?? 0) + count;
  }
  return sums;
}

describe.each(stores)('counts by hour on %s', (store) => {
  test('replicas add up what they count, and a later start adds to it', async () => {
    const service = await startTest({ store, flags });
    await createClient(service, 'app');
    const [one, another] = [await service.replica(), await service.replica()];
    await signIn(one, 'eve@example.test');
    await signIn(another, 'ada@example.test');
    await Promise.all([one.stop(), another.stop()]);
    expect(await countsInAll(service.store, 'signIns')).toEqual({ EmailCode: 2 });
    const later = await service.replica();
    await signIn(later, 'bob@example.test');
    await later.stop();
    expect(await countsInAll(service.store, 'signIns')).toEqual({ EmailCode: 3 });
    expect((await countsInAll(service.store, 'mails')).Kept).toBeGreaterThan(0);
    const { tab } = await signIn(service, 'op@example.test');
    const { items } = (await tab.get('hourlycounts').is(200)).body;
    expect(items.at(-1).status.signIns[0].name).toBe('EmailCode');
    await service.stop();
  });

  test('a list in order has the newest hour first', async () => {
    const service = await startTest({ store, flags });
    await createClient(service, 'app');
    const { tab } = await signIn(service, 'op@example.test');
    for (const before of [3, 1, 2]) {
      const counter = counterOf(service.store, hour - before * hourMs);
      counter.count('signIns', 'Passkey', before);
      await counter.flush(hour - before * hourMs + minuteMs);
    }
    const orderBy = 'orderBy=status.startTimestamp';
    const { items } = (await tab.get(`hourlycounts?${orderBy}&limit=4`).is(200)).body;
    const names = items.map(({ metadata }: any) => metadata.name as string);
    expect(names.filter((name: string) => name < hourName(hour))).toEqual(
      [1, 2, 3].map((before) => hourName(hour - before * hourMs)),
    );
    await tab.delete(`hourlycounts/${hourName(hour - hourMs)}`).is(405);
    await service.stop();
  });

  test('what a lost conflict and a failed commit counted is added once', async () => {
    const service = await startTest({ store, flags });
    const counters = [1, 2, 3].map(() => counterOf(service.store, hour));
    const commits = countCommits(service.storage, 'objects/hourlycounts/');
    for (const counter of counters) counter.count('refusedByRule', 'staff', 2);
    await Promise.all(counters.map(({ flush }) => flush(hour + minuteMs)));
    expect(await countsIn(service.store, 'refusedByRule')).toEqual({ staff: 6 });
    expect(commits.made).toBe(3);
    expect(commits.lost).toBeGreaterThan(0);

    const commit = service.storage.commit.bind(service.storage);
    service.storage.commit = () => Promise.reject(new UnavailableError('away'));
    counters[0]!.count('refusedByRule', 'staff');
    await expect(counters[0]!.flush(hour + 2 * minuteMs)).rejects.toThrow();
    service.storage.commit = commit;
    counters[0]!.count('refusedByRule', 'staff');
    await counters[0]!.flush(hour + 3 * minuteMs);
    await counters[0]!.flush(hour + 4 * minuteMs);
    expect(await countsIn(service.store, 'refusedByRule')).toEqual({ staff: 8 });
    await service.stop();
  });

  test('nothing is written while nothing is counted', async () => {
    const service = await startTest({ store, flags });
    const { hours, flush } = counterOf(service.store, hour);
    const commits = countCommits(service.storage, 'objects/hourlycounts/');
    await flush(hour + minuteMs);
    hours.collect(hour + hourMs);
    await flush(hour + hourMs + minuteMs);
    expect(commits.made).toBe(0);
    expect(await storedHours(service.store)).toEqual([]);
    await service.stop();
  });
});

describe('an hour', () => {
  let service: TestService;
  let store: Store;
  beforeAll(async () => {
    service = await startTest();
    ({ store } = service);
  });

  /** Each row: from when to when it was counted, and the hour that it belongs to, after `hour`. */
  test.each([
    ['at the end of the last minute', 1, hourMs - minuteMs, hourMs, 0],
    ['a little after the end', 3, hourMs - minuteMs, hourMs + 20, 0],
    ['a minute after a timer that was early', 5, hourMs - 2, hourMs + minuteMs, hourMs],
    ['in the first minute', 7, hourMs + 20, hourMs + minuteMs, hourMs],
    ['at a stop in the middle of a minute', 9, hourMs - minuteMs, hourMs - 30_000, 0],
    ['after a clock was set back', 11, 2 * hourMs + minuteMs, hourMs, hourMs],
  ])('has what was counted %s', async (_, before, from, until, expected) => {
    const start = hour - before * 3 * hourMs;
    const counter = counterOf(store, start + from);
    counter.count('signIns', 'EmailLink');
    await counter.flush(start + until);
    expect(await countsIn(store, 'signIns', start + expected)).toEqual({ EmailLink: 1 });
  });

  test('is written later if the store was away in it', async () => {
    const start = hour - 100 * hourMs;
    const counter = counterOf(store, start);
    for (let i = 0; i < 25; i += 1) {
      counter.count('mails', 'Failed');
      counter.hours.collect(start + (i + 0.5) * hourMs);
    }
    await counter.flush(start + 25 * hourMs);
    await counter.flush(start + 25 * hourMs);
    const written = (await storedHours(store)).filter(({ mails }) => mails.length > 0);
    expect(written.map(({ mails }) => numbersOf(mails))).toEqual(
      Array.from({ length: 25 }, () => ({ Failed: 1 })),
    );
  });

  test('has fifty names, and the sum of others', async () => {
    const counter = counterOf(store, hour);
    for (let i = 0; i < 60; i += 1) counter.count('refusedByRule', `rule-${i}`);
    await counter.flush(hour + minuteMs);
    counter.count('refusedByRule', 'rule-0');
    counter.count('refusedByRule', 'rule-59');
    await counter.flush(hour + 2 * minuteMs);
    const counts = await countsIn(store, 'refusedByRule');
    expect(Object.keys(counts)).toHaveLength(51);
    expect([counts['rule-0'], counts.other]).toEqual([2, 11]);
  });

  test('is gone thirty days after its end', async () => {
    const starts = [29, 31].map((days) => Math.floor(Date.now() / hourMs - days * 24) * hourMs);
    for (const start of starts) {
      const counter = counterOf(store, start);
      counter.count('signIns', 'Passkey');
      await counter.flush(start + minuteMs);
    }
    const found = starts.map((start) => countsIn(store, 'signIns', start));
    expect(await Promise.all(found)).toEqual([{ Passkey: 1 }, {}]);
  });
});

test('what a person is refused counts by rule, and what operators read does not', async () => {
  const first = await startTest({ flags });
  await createClient(first, 'app');
  const service = await first.replica();
  const { tab: operator } = await signIn(service, 'op@example.test');
  const { tab: person } = await signIn(service, 'ada@example.test');
  const cedar = `${(await operator.get('policies/p-1').is(200)).body.spec.cedar}
@id("closed")
@message("Closed.")
forbid(principal, action in [Action::"list", Action::"create"], resource)
when { resource is AccessRequest || resource is Group };`;
  await operator.post('policies', { spec: { cedar } }).is(201);
  await operator.get('accessrequests').is(403);
  await person.get('replicas').is(403);
  const group = { metadata: { name: 'staff' }, spec: { displayName: 'Staff', members: [] } };
  await operator.post('groups', group).is(403);
  await service.stop();
  expect(await countsInAll(first.store, 'refusedByRule')).toEqual({ default: 1, closed: 1 });
  await first.stop();
});

test('limits count by their flag, failed sign-ins by their outcome', async () => {
  const first = await startTest();
  await createClient(first, 'app');
  const service = await first.replica();
  const { tab, I } = await begin(service, {});
  await tab.post(`${I}/emailchallenge`, { spec: { email: 'ada@example.test' } }).is(200);
  const wrong = (await mailTo(service, 'ada@example.test')).code.replace(/./g, (digit) =>
    digit === '9' ? '0' : '9',
  );
  await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code: wrong } }).is(422);
  const { network } = mailLimits(first.store.settings.limits, 'stranger');
  service.store.networkLimits.refusals.count(network, Date.now());
  await service.stop();
  expect(await countsInAll(first.store, 'refusedByLimit')).toEqual({
    'limits-mails-per-network': 1,
  });
  expect(await countsInAll(first.store, 'signInsFailed')).toEqual({ Wrong: 1 });
  await first.stop();
});
