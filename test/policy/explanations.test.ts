import { beforeAll, describe, expect, test } from '@jest/globals';
import { Explanations } from '../../policy/decisions/explanations.js';
import { type Engine, openEngine } from '../../policy/engine/engine.js';
import type { AuthorizationAttributes } from '../../registry/authorizer.js';
import { actions, kinds } from './kinds.js';

/** Needs more Groups than a search adds at once, so that it tries all that it may. */
const text = `permit (principal, action == Action::"share", resource) when { ${Array.from(
  { length: 30 },
  (_, i) => `principal in Group::"g${i}"`,
).join(' && ')} };`;

const asking = (facts: object = {}): AuthorizationAttributes => ({
  caller: { type: 'Client', client: 'notes' },
  action: 'share',
  facts: { account: 'bcdfghjklmnpqrstvwxz', client: 'notes', scope: 'email', groups: [], ...facts },
});

let engine: Engine;
beforeAll(async () => {
  engine = await openEngine(kinds, actions);
  await engine.activate('p-1', text);
});

/** How many evaluations the work takes. */
function evaluations(work: () => void): number {
  const before = engine.counts.trials;
  work();
  return engine.counts.trials - before;
}

describe('explanations', () => {
  const fresh = () => new Explanations((...given) => engine.explain(...given));
  const one = 250;

  test('are searched once for the same question, and again for another', () => {
    const all = fresh();
    const ask = (facts: object, policy: string, now: number) =>
      evaluations(() => all.of(asking(facts), policy, 'ada', now));
    expect(ask({}, 'p-1', 0)).toBe(one);
    expect(ask({}, 'p-1', 1)).toBe(0);
    expect(ask({ scope: 'groups' }, 'p-1', 2)).toBe(one);
    expect(ask({ groups: ['g1'] }, 'p-1', 3)).toBe(one);
    expect(ask({}, 'p-2', 4)).toBe(one);
    expect(ask({}, 'p-1', 299_000)).toBe(0);
    expect(ask({}, 'p-1', 301_000)).toBe(one);
  });

  test('make no more evaluations of one caller in ten seconds than they may', () => {
    const all = fresh();
    const askAll = (owner: string, from: number, now: number): number =>
      evaluations(() => {
        for (let i = 0; i < 40; i += 1) {
          all.of(asking({ scopesRequested: [`${from + i}`] }), 'p-1', owner, now);
        }
      });
    expect(askAll('ada', 0, 0)).toBe(4_000);
    expect(askAll('ada', 100, 9_000)).toBe(0);
    expect(askAll('bob', 200, 9_000)).toBe(4_000);
    expect(askAll('ada', 300, 10_000)).toBe(4_000);
  });

  test('that had too few evaluations left are not kept', () => {
    const all = fresh();
    const ask = (facts: object, now: number) =>
      evaluations(() => all.of(asking(facts), 'p-1', 'ada', now));
    const first = ask({ groups: Array.from({ length: 29 }, (_, i) => `g${i}`) }, 0);
    expect(first).toBeGreaterThan(0);
    expect(first).toBeLessThan(one);
    for (let i = 0; i < 15; i += 1) ask({ scopesRequested: [`${i}`] }, 0);
    expect(ask({}, 0)).toBe(one - first);
    expect(ask({}, 0)).toBe(0);
    expect(ask({}, 10_001)).toBe(one);
  });
});
