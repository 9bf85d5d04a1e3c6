import { describe, expect, test } from '@jest/globals';
import { expectFor } from '../../support/expect-for.js';
import fc from '../../support/fast-check.js';
import { checks } from './check.js';
import { ended } from './ended.js';
import type {
  Accepted,
  Call,
  Change,
  Get,
  History,
  List,
  SignOut,
  Step,
  Use,
  Write,
} from './history.js';
import { kept } from './kept.js';
import { latest } from './latest.js';
import { order } from './order.js';
import { predecessor } from './predecessor.js';
import { simulated } from './simulated.js';
import { singleUse } from './singleuse.js';
import { spent } from './spent.js';
import { watched } from './watched.js';

const write = (
  key: string,
  value: string,
  revision: number,
  start: number,
  end: number,
  more: Partial<Write> = {},
): Write => ({
  type: 'write',
  verb: 'patch',
  key,
  value,
  revision,
  start,
  end,
  outcome: 'done',
  ...more,
});
const change = (
  revision: number,
  key: string,
  value?: string,
  more: Partial<Change> = {},
): Change => ({ revision, key, uid: `u-${key}`, ...(value !== undefined && { value }), ...more });
const history = (some: Partial<History>): History => ({
  seed: 0,
  about: '',
  calls: [],
  tracks: [],
  log: [],
  faults: [],
  ...some,
});

describe('a history of a store that does as it should', () => {
  test('passes every check, however calls overlap and answers are lost', () => {
    fc.assert(
      fc.property(fc.nat(), fc.integer({ min: 0, max: 120 }), (seed, length) => {
        const one = simulated(seed, length);
        for (const [name, check] of Object.entries(checks)) expectFor(name, check(one)).toEqual([]);
      }),
      { numRuns: 150 },
    );
  });

  /**
   * Each takes something true from a history and puts something false in its place; undefined where
   * there is nothing to take.
   */
  const lies: Record<
    string,
    (one: History, pick: <T>(all: readonly T[]) => T | undefined) => [string, History] | undefined
  > = {
    'a change that is missing in the log': (one, pick) => {
      const acknowledged = new Set(
        one.calls.flatMap((call) =>
          call.type === 'write' && call.outcome === 'done' && call.value ? [call.value] : [],
        ),
      );
      const gone = pick(
        one.log.filter(({ value }) => value !== undefined && acknowledged.has(value)),
      );
      return (
        gone && [
          'no acknowledged write is lost, none is made twice',
          { ...one, log: one.log.filter((each) => each !== gone) },
        ]
      );
    },
    'an event that was not received': (one, pick) => {
      const track = pick(
        one.tracks.filter(({ steps }) => steps.some(({ step }) => step === 'received')),
      );
      const gone = track && pick(track.steps.filter(({ step }) => step === 'received'));
      return (
        track && [
          'every watch is the log',
          { ...one, tracks: [{ ...track, steps: track.steps.filter((each) => each !== gone) }] },
        ]
      );
    },
    'an event that was received twice': (one, pick) => {
      const track = pick(
        one.tracks.filter(({ steps }) => steps.some(({ step }) => step === 'received')),
      );
      const twice = track && pick(track.steps.filter(({ step }) => step === 'received'));
      return (
        track && [
          'every watch is the log',
          {
            ...one,
            tracks: [
              {
                ...track,
                steps: track.steps.flatMap((each) => (each === twice ? [each, each] : [each])),
              },
            ],
          },
        ]
      );
    },
    'events in another order': (one, pick) => {
      const track = pick(
        one.tracks.filter(
          ({ steps }) =>
            new Set(steps.flatMap((each) => (each.step === 'received' ? [each.revision] : [])))
              .size > 1,
        ),
      );
      if (!track) return undefined;
      const events = track.steps.filter((each) => each.step === 'received');
      return [
        'every watch is the log',
        { ...one, tracks: [{ ...track, steps: [track.steps[0]!, ...events.reverse()] }] },
      ];
    },
    'a list that lacks something': (one, pick) => {
      const list = pick(
        one.calls.filter((call): call is List => call.type === 'list' && call.items.length > 0),
      );
      return (
        list && [
          'a latest read is the newest',
          {
            ...one,
            calls: one.calls.map((call) =>
              call === list ? { ...list, items: list.items.slice(1) } : call,
            ),
          },
        ]
      );
    },
  };
  test.each(Object.keys(lies))('does not pass with %s', (lie) => {
    let falsified = 0;
    fc.assert(
      fc.property(fc.nat(), fc.nat(), (seed, at) => {
        const made = lies[lie]!(simulated(seed, 60), (all) => all[at % Math.max(1, all.length)]);
        if (!made) return;
        falsified += 1;
        expect(checks[made[0]]!(made[1])).not.toEqual([]);
      }),
      { numRuns: 60 },
    );
    expect(falsified).toBeGreaterThan(30);
  });
});

describe('order', () => {
  const of = (...calls: Call[]): string[] => order(history({ calls }));
  test('of what overlaps is free, of what does not is not', () => {
    expect(of(write('x', '1', 12, 0, 10), write('y', '2', 11, 5, 20))).toEqual([]);
    expect(of(write('x', '1', 12, 0, 10), write('y', '2', 11, 11, 20))).toHaveLength(1);
    expect(of(write('x', '1', 12, 0, 10), write('y', '2', 12, 11, 20))).toHaveLength(1);
  });
  test('a revision is shared by different keys alone', () => {
    expect(of(write('x', '1', 12, 0, 10), write('y', '2', 12, 5, 20))).toEqual([]);
    expect(of(write('x', '1', 12, 0, 10), write('x', '2', 12, 5, 20))).toHaveLength(1);
  });
  test('a deletion stands where the log has it', () => {
    const log = [change(10, 'x', '1'), change(11, 'x')];
    const deletion = (start: number): Write => ({
      type: 'write',
      verb: 'delete',
      key: 'x',
      uid: 'u-x',
      start,
      end: start + 1,
      outcome: 'done',
    });
    expect(order(history({ log, calls: [write('y', '2', 12, 0, 5), deletion(4)] }))).toEqual([]);
    expect(order(history({ log, calls: [write('y', '2', 12, 0, 5), deletion(6)] }))).toHaveLength(
      1,
    );
  });
});

test('a write that named a version had exactly that predecessor', () => {
  const log = [
    change(10, 'x', '1'),
    change(11, 'x', '2'),
    change(12, 'x', '3'),
    change(13, 'x'),
    change(14, 'x', '4'),
  ];
  const of = (revision: number, value: string, expects: number): string[] =>
    predecessor(history({ log, calls: [write('x', value, revision, 0, 1, { expects })] }));
  expect(of(12, '3', 11)).toEqual([]);
  expect(of(12, '3', 10)).toHaveLength(1);
  expect(of(14, '4', 12)).toHaveLength(1);
});

describe('a latest read', () => {
  const log = [change(10, 'x', '1'), change(12, 'x', '2'), change(14, 'x'), change(16, 'x', '3')];
  const calls = [write('x', '1', 10, 0, 1), write('x', '2', 12, 2, 3), write('x', '3', 16, 8, 9)];
  const get = (start: number, end: number, read: Partial<Get>): string[] =>
    latest(history({ log, calls: [...calls, { type: 'get', key: 'x', start, end, ...read }] }));
  test('may be of any moment while it went on', () => {
    expect(get(1.5, 2.5, { revision: 10, value: '1' })).toEqual([]);
    expect(get(2.5, 4, { revision: 10, value: '1' })).toEqual([]);
    expect(get(2.5, 4, { revision: 12, value: '2' })).toEqual([]);
    expect(get(4, 5, {})).toEqual([]);
  });
  test('is not of before', () => {
    expect(get(3.5, 4, { revision: 10, value: '1' })).toHaveLength(1);
    expect(get(10, 11, {})).toHaveLength(1);
    expect(get(10, 11, { revision: 12, value: '2' })).toHaveLength(1);
  });
  test('is not of what was never there, or not yet', () => {
    expect(get(4, 5, { revision: 13, value: '2' })).toHaveLength(1);
    expect(get(4, 5, { revision: 12, value: '3' })).toHaveLength(1);
    expect(get(4, 5, { revision: 16, value: '3' })).toHaveLength(1);
  });
  test('never goes back behind another read of any key', () => {
    const list: List = {
      type: 'list',
      start: 9.5,
      end: 9.6,
      revision: 16,
      items: [{ key: 'x', revision: 16, value: '3' }],
    };
    expect(latest(history({ log, calls: [...calls, list] }))).toEqual([]);
    expect(
      latest(
        history({ log, calls: [...calls, list, { type: 'get', key: 'x', start: 9.7, end: 9.8 }] }),
      ),
    ).toHaveLength(1);
    expect(
      latest(
        history({
          log,
          calls: [...calls, list, { ...list, start: 9.7, end: 9.8, revision: 15, items: [] }],
        }),
      ),
    ).toHaveLength(1);
  });
  test('a list is whole, of its label and its revision', () => {
    const labelled = [
      change(10, 'x', '1', { label: 'a' }),
      change(11, 'y', '2', { label: 'b' }),
      change(12, 'x', '3', { label: 'b' }),
    ];
    const of = (revision: number, label: string | undefined, ...items: List['items']): string[] =>
      latest(
        history({
          log: labelled,
          calls: [{ type: 'list', start: 0, end: 1, revision, items, ...(label && { label }) }],
        }),
      );
    const [x1, y2, x3] = [
      { key: 'x', revision: 10, value: '1' },
      { key: 'y', revision: 11, value: '2' },
      { key: 'x', revision: 12, value: '3' },
    ];
    expect([of(11, undefined, y2, x1), of(11, 'a', x1), of(12, 'a'), of(12, 'b', x3, y2)]).toEqual([
      [],
      [],
      [],
      [],
    ]);
    expect(
      [of(11, undefined, y2), of(12, 'a', x1), of(11, 'b', x3, y2)].map(({ length }) => length),
    ).toEqual([1, 1, 1]);
  });
});

describe('the log', () => {
  const of = (calls: Call[], log: Change[]): string[] => kept(history({ calls, log }));
  const { revision: _, end: __, ...lost } = write('x', '1', 0, 0, 0, { outcome: 'unknown' });
  test('has what was acknowledged, as it was acknowledged', () => {
    expect(of([write('x', '1', 10, 0, 1)], [change(10, 'x', '1')])).toEqual([]);
    expect(of([write('x', '1', 10, 0, 1)], [])).toHaveLength(1);
    expect(of([write('x', '1', 10, 0, 1)], [change(11, 'x', '1')])).toHaveLength(1);
  });
  test('has an unknown write at most once, and no refused write', () => {
    expect(of([lost], [])).toEqual([]);
    expect(of([lost], [change(10, 'x', '1')])).toEqual([]);
    expect(of([lost], [change(10, 'x', '1'), change(11, 'x', '1')])).toHaveLength(1);
    expect(of([{ ...lost, outcome: 'refused', end: 1 }], [change(10, 'x', '1')])).toHaveLength(1);
    expect(of([], [change(10, 'x', '1')])).toHaveLength(1);
    expect(of([lost], [change(10, 'y', '1')])).toHaveLength(1);
  });
  test('has each acknowledged deletion once, and none that no one asked for', () => {
    const deletion: Write = {
      type: 'write',
      verb: 'delete',
      key: 'x',
      uid: 'u-x',
      start: 0,
      end: 1,
      outcome: 'done',
    };
    const { end: ___, uid: ____, ...open } = deletion;
    const unknown: Write = { ...open, outcome: 'unknown' };
    const born = [write('x', '1', 10, 0, 1), write('x', '2', 12, 2, 3)];
    const [first, second] = [change(10, 'x', '1'), change(12, 'x', '2', { uid: 'u-2' })];
    expect(of([...born, deletion], [first, change(11, 'x'), second])).toEqual([]);
    expect(of([...born, deletion], [first, second])).toHaveLength(1);
    expect(of([...born, deletion, deletion], [first, change(11, 'x'), second])).toHaveLength(1);
    expect(of([...born, unknown], [first, change(11, 'x'), second])).toEqual([]);
    expect(of(born, [first, change(11, 'x'), second])).toHaveLength(1);
    expect(
      of(
        [...born, unknown],
        [first, change(11, 'x'), second, change(13, 'x', undefined, { uid: 'u-2' })],
      ),
    ).toHaveLength(1);
  });
});

describe('a watch', () => {
  const log = [
    change(10, 'x', '1', { label: 'a' }),
    change(11, 'x', '2', { label: 'a' }),
    change(11, 'y', '3', { label: 'a' }),
    change(12, 'x', '4', { label: 'b' }),
    change(13, 'y'),
  ];
  const received = (
    type: 'ADDED' | 'MODIFIED' | 'DELETED',
    key: string,
    revision: number,
    value: string,
  ): Step => ({ step: 'received', type, key, revision, value });
  const [listed, opened, reached] = [
    (revision: number): Step => ({ step: 'listed', revision }),
    (from: number): Step => ({ step: 'opened', from, at: '' }),
    (revision: number): Step => ({ step: 'reached', revision }),
  ];
  const of = (filter: object, ...steps: Step[]): string[] =>
    watched(history({ log, tracks: [{ name: 't', filter, steps }] }));
  const all = [
    received('ADDED', 'x', 10, '1'),
    received('MODIFIED', 'x', 11, '2'),
    received('ADDED', 'y', 11, '3'),
    received('MODIFIED', 'x', 12, '4'),
    received('DELETED', 'y', 13, '3'),
  ] as const;
  test('receives everything after its start, across connections', () => {
    expect(of({}, listed(9), opened(9), ...all, reached(20))).toEqual([]);
    expect(
      of(
        {},
        listed(9),
        opened(9),
        all[0],
        all[2],
        all[1],
        opened(11),
        all[3],
        reached(12),
        opened(12),
        all[4],
        reached(13),
      ),
    ).toEqual([]);
    expect(of({}, listed(11), opened(11), all[3], listed(13), opened(13))).toEqual([]);
  });
  test('by label sees what enters and what leaves; by name that one', () => {
    expect(
      of(
        { label: 'a' },
        listed(9),
        opened(9),
        all[0],
        all[1],
        all[2],
        received('DELETED', 'x', 12, '2'),
        all[4],
        reached(13),
      ),
    ).toEqual([]);
    expect(
      of({ label: 'b' }, listed(9), opened(9), received('ADDED', 'x', 12, '4'), reached(13)),
    ).toEqual([]);
    expect(of({ key: 'y' }, listed(9), opened(9), all[2], all[4], reached(13))).toEqual([]);
    expect(of({ label: 'b' }, listed(9), opened(9), reached(13))).toHaveLength(1);
    expect(of({ key: 'y' }, listed(9), opened(9), all[1], all[2], all[4])).toHaveLength(1);
  });
  test('misses nothing, at its start, in its midst, at its end, nor half of a revision', () => {
    expect(of({}, listed(9), opened(9), ...all.slice(1), reached(13))).toHaveLength(1);
    expect(of({}, listed(9), opened(9), ...all.slice(0, 3), all[4], reached(13))).toHaveLength(1);
    expect(of({}, listed(9), opened(9), ...all.slice(0, 4), reached(13))).toHaveLength(1);
    expect(of({}, listed(9), opened(9), all[0], all[1], opened(11), all[3], all[4])).toHaveLength(
      1,
    );
  });
  test('receives nothing twice, late or wrong', () => {
    expect(of({}, listed(9), opened(9), ...all, opened(13), all[4])).toHaveLength(1);
    expect(of({}, listed(9), opened(9), all[0], opened(10), all[0], ...all.slice(1))).toHaveLength(
      1,
    );
    expect(of({}, listed(9), opened(9), reached(11), all[3], all[4]).length).toBe(2);
    expect(
      of({}, listed(9), opened(9), received('MODIFIED', 'x', 10, '1'), ...all.slice(1)),
    ).toHaveLength(1);
    expect(
      of({}, listed(9), opened(9), received('ADDED', 'x', 10, '7'), ...all.slice(1)),
    ).toHaveLength(1);
    expect(of({}, listed(11), opened(11), all[3], listed(10))).toHaveLength(1);
  });
});

const use = (start: number, end: number, answer: Use['answer'], more: Partial<Use> = {}): Use => ({
  type: 'use',
  object: 'o',
  by: 'code',
  right: answer === 'used',
  answer,
  start,
  ...(answer !== 'unknown' && { end }),
  ...more,
});
const wrong = (start: number, end: number, triesLeft: number): Use =>
  use(start, end, 'wrong', { triesLeft });

describe('something that is used once', () => {
  const of = (...calls: Use[]): string[] => singleUse(history({ calls }));
  test('by one, after five tries at most', () => {
    expect(
      of(
        wrong(0, 9, 4),
        wrong(0, 9, 3),
        use(0, 9, 'used'),
        use(1, 9, 'over', { right: true }),
        use(0, 9, 'unknown'),
      ),
    ).toEqual([]);
    expect(of(...[4, 3, 2, 1, 0].map((left) => wrong(0, 9, left)))).toEqual([]);
  });
  test('not by two, nor by a wrong code, nor after a sixth try', () => {
    expect(of(use(0, 1, 'used'), use(0, 1, 'used', { by: 'link' }))).toHaveLength(1);
    expect(of(use(0, 1, 'used', { right: false }))).toHaveLength(1);
    expect(of(...[4, 3, 2, 1, 0].map((left) => wrong(0, 9, left)), use(0, 9, 'used'))).toHaveLength(
      1,
    );
    expect(of(wrong(0, 9, 4), wrong(0, 9, 4))).toHaveLength(1);
  });
});

describe('the search for an order of uses', () => {
  const of = (...calls: Use[]): number => spent(history({ calls })).length;
  test('finds one where there is one', () => {
    expect(
      of(wrong(0, 1, 4), wrong(2, 3, 3), use(4, 5, 'used'), use(6, 7, 'over', { right: true })),
    ).toBe(0);
    expect(of(use(0, 9, 'used'), wrong(1, 2, 3), use(0, 20, 'over', { right: true }))).toBe(0);
    expect(
      of(wrong(0, 5, 3), wrong(0, 5, 4), use(0, 9, 'unknown', { right: false }), wrong(10, 11, 1)),
    ).toBe(0);
    expect(
      of(use(0, 9, 'unknown', { by: 'link', right: true }), use(10, 11, 'over', { right: true })),
    ).toBe(0);
    expect(
      of(use(0, 1, 'used', { by: 'grant' }), use(0, 2, 'over', { by: 'grant', right: true })),
    ).toBe(0);
    expect(
      of(
        ...[4, 3, 2, 1, 0].map((left) => wrong(0, 9, left)),
        use(10, 11, 'over', { by: 'link', right: true }),
      ),
    ).toBe(0);
  });
  test('finds none where there is none', () => {
    expect(of(wrong(0, 1, 3))).toBe(1);
    expect(of(wrong(0, 1, 3), wrong(2, 3, 4))).toBe(1);
    expect(of(use(0, 1, 'used'), wrong(2, 3, 3))).toBe(1);
    expect(of(use(0, 1, 'over', { right: true }), use(2, 3, 'used'))).toBe(1);
    expect(
      of(use(0, 1, 'over', { by: 'grant', right: true }), use(2, 3, 'used', { by: 'grant' })),
    ).toBe(1);
    expect(of(use(0, 1, 'used', { by: 'grant' }), use(2, 3, 'used', { by: 'grant' }))).toBe(1);
    expect(of(wrong(0, 1, 4), use(2, 3, 'over', { right: false }))).toBe(1);
  });
});

test('nothing is accepted past its stored time or a second after its sign-out', () => {
  const out: SignOut = { type: 'signout', session: 's', start: 0, end: 100, outcome: 'done' };
  const seen = (start: number): Accepted => ({
    type: 'accepted',
    session: 's',
    start,
    end: start + 1,
  });
  const of = (some: Partial<History>, slack?: number): number => ended(history(some), slack).length;
  expect(of({ calls: [out, seen(50), seen(1_000)] })).toBe(0);
  expect(of({ calls: [out, seen(1_200)] })).toBe(1);
  expect(of({ calls: [out, seen(1_200)] }, 500)).toBe(0);
  expect(of({ calls: [{ ...out, outcome: 'unknown' }, seen(9_000)] })).toBe(0);
  const faults = [{ what: 'cut', start: 200, end: 900 }];
  expect(of({ calls: [out, seen(2_900)], faults })).toBe(0);
  expect(of({ calls: [out, seen(3_200)], faults })).toBe(1);
  expect(
    of({ calls: [out, seen(2_900)], faults: [{ what: 'cut', start: -9_000, end: -8_000 }] }),
  ).toBe(1);
  const proof = (sent: number, tolerance?: number): Accepted => ({
    type: 'accepted',
    start: 0,
    end: 1,
    sent,
    until: 5_000,
    ...(tolerance !== undefined && { tolerance }),
  });
  expect(of({ calls: [proof(5_000), proof(14_000, 10_000)] })).toBe(0);
  expect(of({ calls: [proof(5_001), proof(15_001, 10_000)] })).toBe(2);
});
