import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { createLog } from '../../observability/log.js';
import { type Engine, openEngine } from '../../policy/engine/engine.js';
import { DecisionCacheKey } from '../../policy/evaluate/cache-key.js';
import { DecisionCache } from '../../policy/evaluate/decision-cache.js';
import { type EvaluationError, EvaluationErrorLog } from '../../policy/evaluate/error-log.js';
import { cacheCapacity, PolicyEvaluator, zeroCounts } from '../../policy/evaluate/evaluator.js';
import { PreparsedPolicySetPool } from '../../policy/evaluate/preparsed-pool.js';
import { AuthorizationRequest } from '../../policy/model/authorization-request.js';
import { vocabularyOf } from '../../policy/model/vocabulary.js';
import { readRules } from '../../policy/parse/rules.js';
import type { AuthorizationAttributes } from '../../registry/authorizer.js';
import type { Caller } from '../../registry/kind.js';
import { actions, kindOf, kinds } from './kinds.js';
import { cedar } from './oracle.js';

const vocabulary = vocabularyOf(kinds, actions);
const account = (name: string, more: object = {}): Caller => ({
  type: 'Account',
  account: name,
  email: `${name}@example.test`,
  operator: false,
  ...more,
});
const get = (
  caller: Caller,
  kind: string,
  name: string,
  facts: Record<string, unknown> = {},
): AuthorizationAttributes => ({ caller, action: 'get', kind: kindOf(kind), name, facts });

afterEach(() => {
  jest.restoreAllMocks();
});

/** An evaluator of one text, with its counts and the number of calls to Cedar. */
async function open(text: string) {
  const { rules, faults } = await readRules(cedar, text);
  expect(faults).toEqual([]);
  const counts = zeroCounts();
  const errors: EvaluationError[] = [];
  let asked = 0;
  const counting = {
    ...cedar,
    statefulIsAuthorized: (call: Parameters<typeof cedar.statefulIsAuthorized>[0]) => {
      asked += 1;
      return cedar.statefulIsAuthorized(call);
    },
  };
  const own = new PolicyEvaluator('p-1', rules, {
    cedar: counting,
    vocabulary,
    preparsedSets: new PreparsedPolicySetPool(cedar, 'test'),
    counts,
    onEvaluationError: (error) => {
      errors.push(error);
    },
  });
  return {
    decide: (question: AuthorizationAttributes) => own.decide(new AuthorizationRequest(question)),
    counts,
    errors,
    evaluator: own,
    get asked() {
      return asked;
    },
  };
}

describe('facts about entities', () => {
  const owned = (name: string): AuthorizationAttributes => ({
    caller: account('a'),
    action: 'get',
    kind: kindOf('Session'),
    name,
  });
  const byOwner =
    'permit (principal, action, resource is Session) when { resource.owner in Group::"staff" };';

  test('a decision without needed facts is refused, counted and not cached', async () => {
    const { decide, counts, errors } = await open(byOwner);
    const loaded = (groups: readonly string[]) => new Map([['Account b', { groups }]]);
    expect(decide(owned('b-x'))).toMatchObject({ allowed: false, reasons: [{ rule: 'error' }] });
    expect([counts.errors, errors.length]).toEqual([1, 1]);
    expect(decide({ ...owned('b-x'), entities: loaded(['staff']) }).allowed).toBe(true);
    expect(decide({ ...owned('b-x'), entities: loaded([]) }).allowed).toBe(false);
    expect(decide({ ...owned('b-x'), entities: new Map([['Account b', null]]) }).allowed).toBe(
      false,
    );
    expect(decide(owned('b-x'))).toMatchObject({ reasons: [{ rule: 'error' }] });
  });

  test('only what the rules about a request mention is missing', async () => {
    const { evaluator } = await open(byOwner);
    const missing = (attributes: AuthorizationAttributes) =>
      evaluator.missingEntities(new AuthorizationRequest(attributes));
    expect(missing(owned('b-x'))).toEqual([['Account', 'b']]);
    expect(missing({ ...owned('a-x') })).toEqual([]);
    expect(missing({ caller: account('a'), action: 'list', kind: kindOf('Session') })).toEqual([]);
    expect(missing({ ...owned('b-x'), kind: kindOf('Grant') })).toEqual([]);
    expect(evaluator.mentionsEntities).toBe(true);
  });

  test('a text that mentions none has nothing to load', async () => {
    const engine = await openEngine(kinds, actions);
    await engine.activate('p-1', engine.defaultText);
    expect(engine.mentionsEntities).toBe(false);
  });
});

describe('the time in a zone', () => {
  const text = `permit (principal, action, resource) when {
    context.timeOfDay >= duration("8h") && context.timeOfDay < duration("8h1s") && context.weekday == "Monday"
  };`;
  test.each([
    ['UTC', '2026-01-05T08:00:00.999Z'],
    ['Asia/Kathmandu', '2026-01-05T02:15:00Z'],
    ['America/New_York', '2026-07-06T12:00:00Z'],
    ['America/New_York', '2026-01-05T13:00:00Z'],
    ['Pacific/Kiritimati', '2026-01-04T18:00:00Z'],
  ])('of %s is eight o’clock on a Monday at %s', async (timeZone, time) => {
    const engine = await openEngine(kinds, actions, { timeZone });
    const { decide } = await engine.compile('p-1', text, 'live');
    const visit = get({ type: 'Anonymous' }, 'Policy', 'p-1');
    const at = (ms: number): boolean => decide(visit, Date.parse(time) + ms).allowed;
    expect([at(-1_000), at(0), at(86_400_000), at(1_000)]).toEqual([false, true, false, false]);
  });

  test('that changes decides the next request', async () => {
    const engine = await openEngine(kinds, actions);
    let timeZone = 'UTC';
    engine.connect({
      peek: () => null,
      ofObject: () => undefined,
      get timeZone() {
        return timeZone;
      },
    });
    await engine.activate('p-1', text);
    const at = Date.parse('2026-01-05T13:00:00Z');
    const visit = { ...get({ type: 'Anonymous' }, 'Policy', 'p-1'), at };
    expect(engine.decide(visit).allowed).toBe(false);
    timeZone = 'America/New_York';
    expect(engine.decide(visit).allowed).toBe(true);
  });
});

test('a rule that Cedar does not take back is named, with any other rules in the text', async () => {
  const partial = {
    ...cedar,
    checkParsePolicySet: (set: Parameters<typeof cedar.checkParsePolicySet>[0]) =>
      JSON.stringify(set).includes('strange')
        ? { type: 'failure' as const, errors: [] }
        : cedar.checkParsePolicySet(set),
  };
  const text = (name: string): string =>
    `permit (principal, action, resource);\npermit (principal, action, resource) when { context.domain == "${name}" };\npermit (principal, action, resource);`;
  expect((await readRules(partial, text('strange'))).faults).toEqual([
    { message: 'has a value that Cedar does not accept in JSON', line: 2, column: 1 },
  ]);
  expect((await readRules(partial, text('usual'))).faults).toEqual([]);
});

describe('what is remembered', () => {
  test('nothing that no rule mentions splits an entry', async () => {
    jest.spyOn(performance, 'now').mockReturnValue(0);
    const one = await open(
      'permit (principal is Account, action == Action::"get", resource is Session) when { resource.owner == principal }; permit (principal, action, resource is Grant) when { context.domain == "x.test" && context.site == "none" };',
    );
    for (const name of ['a', 'b', 'c']) {
      for (const facts of [
        {},
        { domain: 'x.test' },
        { site: 'none', metadataOnly: true, method: 'Passkey' },
      ]) {
        expect(
          one.decide(
            get(
              account(name, { methods: [name], authenticated: 1, groups: [name] }),
              'Session',
              `${name}-x`,
              facts,
            ),
          ).allowed,
        ).toBe(true);
      }
    }
    expect(one.decide(get(account('a'), 'Session', 'b-x')).allowed).toBe(false);
    expect(one.asked).toBe(1);
    expect(one.counts).toMatchObject({ hits: 8, misses: 2, bypasses: 0 });
  });

  test.each([
    ['context.domain == "a.test"', { domain: 'a.test' }, { domain: 'b.test' }],
    [
      'context has client && context.client == Client::"notes"',
      { client: 'notes' },
      { client: 'board' },
    ],
    ['context has client', { client: 'notes' }, {}],
    ['context.methods.contains("Passkey")', { methods: ['Passkey'] }, { methods: ['EmailCode'] }],
    [
      'context has method && context.method == "Passkey"',
      { method: 'Passkey' },
      { method: 'EmailCode' },
    ],
    ['context.metadataOnly', { metadataOnly: true }, { metadataOnly: false }],
    ['context.assurance == "phr"', { assurance: 'phr' }, { assurance: 'x' }],
    ['context.site == "same-origin"', { site: 'same-origin' }, { site: 'none' }],
  ])('what a rule mentions does: %s', async (condition, yes, no) => {
    const one = await open(`permit (principal, action, resource) when { ${condition} };`);
    for (let i = 0; i < 2; i++) {
      for (const facts of [yes, no]) {
        expect(one.decide(get(account('a'), 'Session', 'a-x', facts)).allowed).toBe(facts === yes);
      }
    }
    expect(one.counts).toMatchObject({ hits: 2, misses: 2 });
  });

  test.each([
    [
      'context has client && context.client == Client::"notes"',
      { client: 'notes' },
      { client: 'board' },
    ],
    [
      'context has client && !(context.client == Client::"board")',
      { client: 'notes' },
      { client: 'board' },
    ],
    [
      'context has method && context.method == "Passkey"',
      { method: 'Passkey' },
      { method: 'EmailCode' },
    ],
  ])('what may be absent answers once its presence was asked: %s', async (condition, yes, no) => {
    const one = await open(
      `permit (principal, action, resource) when { ${condition} } unless { principal in Group::"staff" };`,
    );
    for (const facts of [yes, no, {}]) {
      for (const groups of [[], ['staff']]) {
        const question = get(account('a', { groups }), 'Session', 'a-x', facts);
        expect(one.decide(question).allowed).toBe(facts === yes && groups.length === 0);
      }
    }
    const asked = new AuthorizationRequest(get(account('a'), 'Session', 'a-x'));
    expect(one.evaluator.slice(asked).residual(asked).size).toBe(0);
  });

  test.each([
    [
      'principal in Group::"staff"',
      account('a', { groups: ['staff', 'x'] }),
      account('a', { groups: ['x'] }),
    ],
    ['principal == Account::"a"', account('a'), account('b')],
    [
      'principal in ClusterGroup::"staff"',
      { type: 'ClusterUser', user: 'm', groups: ['staff'] } as Caller,
      { type: 'ClusterUser', user: 'm', groups: [] } as Caller,
    ],
    ['principal is Account', account('a'), { type: 'Anonymous' } as Caller],
  ])('so does who asks: %s', async (condition, yes, no) => {
    const one = await open(`permit (principal, action, resource) when { ${condition} };`);
    for (let i = 0; i < 2; i++) {
      for (const caller of [yes, no]) {
        expect(one.decide(get(caller, 'Session', 'a-x')).allowed).toBe(caller === yes);
      }
    }
    expect(one.counts).toMatchObject({ hits: 2, misses: 2 });
  });

  test('a group of a cluster is none of ours', async () => {
    const one = await open('permit (principal in Group::"operators", action, resource);');
    expect(
      one.decide(get({ type: 'ClusterUser', user: 'm', groups: ['operators'] }, 'Session', 'a-x'))
        .allowed,
    ).toBe(false);
    expect(one.decide(get(account('a', { operator: true }), 'Session', 'a-x')).allowed).toBe(true);
  });

  test('values that hold signs of one another are not mistaken', async () => {
    const one = await open(
      'permit (principal, action, resource) when { context.domain == "a" && context.site == "b" };',
    );
    expect(
      one.decide(get(account('a'), 'Session', 'a-x', { domain: 'a","b', site: '' })).allowed,
    ).toBe(false);
    expect(
      one.decide(get(account('a'), 'Session', 'a-x', { domain: 'a', site: 'b' })).allowed,
    ).toBe(true);
    expect(
      one.decide(get(account('a'), 'Session', 'a-x', { domain: 'a', site: ',"b"' })).allowed,
    ).toBe(false);
  });

  test.each([
    'context.now < datetime("2999-01-01")',
    'context has signInAge && context.signInAge < 600',
  ])('what moves by itself is asked every time: %s', async (condition) => {
    const one = await open(
      `permit (principal, action, resource is Session) when { ${condition} };\npermit (principal, action, resource is Grant);`,
    );
    const caller = account('a', { authenticated: Math.floor(Date.now() / 1000) });
    for (let i = 0; i < 3; i++) {
      for (const kind of ['Session', 'Grant']) {
        expect(one.decide(get(caller, kind, 'a-x')).allowed).toBe(true);
      }
    }
    expect(one.counts).toMatchObject({ bypasses: 3, hits: 2, misses: 1 });
    jest.spyOn(Date, 'now').mockReturnValue(Date.UTC(3000, 0, 1));
    expect(one.decide(get(caller, 'Session', 'a-x')).allowed).toBe(false);
  });

  test('texts that no rule names make no difference to what is remembered', async () => {
    const one = await open(
      'permit (principal, action, resource is Session) when { context.domain == "a.test" || "b.test" == context.domain };',
    );
    const allowed = (domain: string): boolean =>
      one.decide(get(account('a'), 'Session', 'a-x', { domain })).allowed;
    for (const named of ['a.test', 'b.test', 'a.test']) expect(allowed(named)).toBe(true);
    for (const other of ['c.test', 'd.test', 'e.test', '']) expect(allowed(other)).toBe(false);
    expect(one.counts).toMatchObject({ hits: 4, misses: 3 });
  });

  test('no more than so many, the latest used among them', () => {
    const memo = new DecisionCache<number>(100);
    const slice = new DecisionCacheKey([]);
    for (let i = 0; i < 10_000; i++) {
      memo.set(slice, `${i}`, i);
      memo.get(slice, '0');
      expect(memo.size).toBeLessThanOrEqual(200);
    }
    expect(memo.get(slice, '0')).toBe(0);
    expect(memo.get(slice, '9999')).toBe(9999);
    expect(memo.get(slice, '5000')).toBeUndefined();
    expect(cacheCapacity).toBe(65_536);
  });
});

describe('what goes wrong refuses', () => {
  const grant = 'permit (principal, action, resource);\n';

  test('a rule that fails, though another permits', async () => {
    const one = await open(
      `${grant}@id("sum") forbid (principal, action, resource is Session) when { context has signInAge && context.signInAge * 900000000000000 * 900000000000000 > 1 };`,
    );
    expect(one.decide(get(account('a', { authenticated: 1 }), 'Session', 'a-x'))).toMatchObject({
      allowed: false,
      reasons: [{ rule: 'error' }],
    });
    expect(one.decide(get(account('a', { authenticated: 1 }), 'Grant', 'a-x')).allowed).toBe(true);
    expect(one.counts.errors).toBe(1);
    expect(one.errors).toEqual([{ type: 'error', policy: 'p-1', rules: ['sum'] }]);
  });

  test('a fact that is not what it should be', async () => {
    const one = await open(
      `${grant}forbid (principal, action, resource) when { context.domain == "evil.test" };`,
    );
    expect(one.decide(get(account('a'), 'Session', 'a-x', { domain: 7 })).allowed).toBe(false);
    expect(one.decide(get(account('a'), 'Session', 'a-x')).allowed).toBe(true);
    expect(one.counts.errors).toBe(1);
  });

  test('an evaluation that throws or fails, and nothing of it is remembered', async () => {
    const one = await open(grant);
    const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
    const fails = jest
      .spyOn(PreparsedPolicySetPool.prototype, 'nameFor')
      .mockImplementationOnce(() => {
        throw new Error('out of stack');
      })
      .mockReturnValueOnce('no such set');
    expect(
      [one, one, one].map(({ decide }) => decide(get(account('a'), 'Session', 'a-x')).allowed),
    ).toEqual([false, false, true]);
    expect(fails).toHaveBeenCalledTimes(3);
    expect(one.counts).toMatchObject({ errors: 2, misses: 3 });
    clock.mockRestore();
  });

  test('an evaluation that takes too long, twice', async () => {
    const one = await open(grant);
    const cpu = jest
      .spyOn(process, 'threadCpuUsage')
      .mockImplementation((before) => ({ user: before ? 90_000 : 0, system: before ? 11_000 : 0 }));
    expect(one.decide(get(account('a'), 'Session', 'a-x')).allowed).toBe(false);
    cpu.mockRestore();
    expect(one.decide(get(account('a'), 'Session', 'a-x')).allowed).toBe(true);
    expect(one.asked).toBe(3);
    expect(one.counts).toMatchObject({ overruns: 1, errors: 0 });
    expect(one.errors).toEqual([{ type: 'overrun', policy: 'p-1', rules: [expect.any(String)] }]);
  });

  test('but not one that waits for the processor', async () => {
    const one = await open(grant);
    let now = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => (now += 101));
    expect(one.decide(get(account('a'), 'Session', 'a-x')).allowed).toBe(true);
    clock.mockRestore();
    expect(one.counts).toMatchObject({ overruns: 0 });
  });
});

test('an exception while deciding denies, is counted, and is logged with its stack', async () => {
  const lines: Record<string, any>[] = [];
  const log = createLog('error', { write: (line) => lines.push(JSON.parse(line as string)) > 0 });
  const broken = get(account('a'), 'Session', 'a-x', {
    get domain(): never {
      throw new RangeError('a fact that cannot be read');
    },
  });
  const one = await open(
    'permit (principal, action == Action::"get", resource is Session) when { context.domain == "x.test" };',
  );
  expect(one.decide(broken)).toMatchObject({
    allowed: false,
    reasons: [{ rule: 'error' }],
  });
  expect(one.counts.errors).toBe(1);
  expect(one.errors).toMatchObject([{ type: 'error', cause: expect.any(RangeError) }]);
  EvaluationErrorLog.handler(log)(one.errors[0]!);
  expect(lines).toMatchObject([
    {
      policy: 'p-1',
      message: 'policy evaluation failed, request denied',
      err: { type: 'RangeError', message: 'a fact that cannot be read' },
    },
  ]);
  expect(lines[0]!.err.stack).toContain('engine.test.ts');
});

test('evaluation errors are logged by policy and rule, then once a minute', () => {
  let now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const lines: unknown[] = [];
  const errors = new EvaluationErrorLog({
    error: (...line: unknown[]) => {
      lines.push(line);
    },
  } as never);
  const sum = { type: 'error', policy: 'p-2', rules: ['sum'] } as const;
  for (let i = 0; i < 5; i++) errors.record(sum);
  expect(lines).toEqual([
    [{ policy: 'p-2', rule: 'sum', times: 1 }, 'policy evaluation failed, request denied'],
  ]);
  errors.record({ ...sum, policy: 'p-3' });
  errors.record({ type: 'overrun', policy: 'p-3', rules: ['sum', 'other'] });
  errors.record({ type: 'error', policy: 'p-3', rules: [] });
  expect(lines.slice(1).map((line) => (line as [object])[0])).toEqual([
    { policy: 'p-3', rule: 'sum', times: 1 },
    { policy: 'p-3', rule: 'sum', times: 1 },
    { policy: 'p-3', rule: 'other', times: 1 },
    { policy: 'p-3', times: 1 },
  ]);
  now = 60_000;
  errors.record(sum);
  expect(lines.at(-1)).toEqual([{ policy: 'p-2', rule: 'sum', times: 5 }, expect.any(String)]);
});

describe('the engine', () => {
  let engine: Engine;
  beforeEach(async () => {
    engine = await openEngine(kinds, actions);
  });
  const visit = (): AuthorizationAttributes => get({ type: 'Anonymous' }, 'Policy', 'p-1');

  test('permits nothing before a policy is in force, but to this service itself', () => {
    expect(engine.decide(visit())).toMatchObject({ allowed: false, reasons: [{ rule: 'error' }] });
    expect(engine.decide({ ...visit(), caller: { type: 'System' } }).allowed).toBe(true);
    expect(engine.counts.errors).toBe(1);
    expect(engine.activePolicyName).toBeUndefined();
  });

  test('a new policy applies from the very next question, despite remembered decisions', async () => {
    for (let i = 1; i <= 20; i++) {
      await engine.activate(
        `p-${i}`,
        i % 2
          ? 'permit (principal, action, resource);'
          : '@id("no") @message("We are closed.") forbid (principal, action, resource);\n@id("yes") permit (principal, action, resource);',
      );
      for (let n = 0; n < 3; n++) {
        expect(engine.decide(visit())).toMatchObject(
          i % 2
            ? { allowed: true, policy: `p-${i}` }
            : {
                allowed: false,
                policy: `p-${i}`,
                reasons: [{ rule: 'no', message: 'We are closed.' }],
              },
        );
      }
    }
    expect(engine.activePolicyName).toBe('p-20');
    expect(engine.decide(visit())).toMatchObject({ allowed: false });
  });

  test('what cannot be read changes nothing, and the latest of several wins', async () => {
    await engine.activate('p-1', 'permit (principal, action, resource);');
    await expect(engine.activate('p-2', 'permit (')).rejects.toThrow(
      'policy p-2 cannot be activated',
    );
    expect(engine.decide(visit())).toMatchObject({ allowed: true, policy: 'p-1' });
    const long = Array.from(
      { length: 300 },
      (_, i) => `permit (principal, action, resource) when { context.domain == "${i}" };`,
    ).join('\n');
    await Promise.all([
      engine.activate('p-3', long),
      engine.activate('p-4', 'permit (principal, action, resource);'),
    ]);
    expect(engine.activePolicyName).toBe('p-4');
  });

  test('another text can be tried beside it', async () => {
    await engine.activate('p-1', engine.defaultText);
    const { decide } = await engine.compile(
      'p-2',
      'permit (principal is Account, action, resource);',
      'live',
    );
    expect([
      engine.decide(visit()).allowed,
      decide(visit()).allowed,
      decide({ ...visit(), caller: account('a') }).allowed,
    ]).toEqual([true, false, true]);
    expect(engine.decide(visit())).toMatchObject({ allowed: true, policy: 'p-1' });
  });

  test('words for people come first, then every rule that decided', async () => {
    await engine.activate(
      'p-1',
      '@id("a") forbid (principal, action, resource);\n@id("b") @message("Not today.") forbid (principal, action, resource);\n@id("c") permit (principal, action, resource);',
    );
    expect(engine.decide(visit()).reasons).toEqual([
      { rule: 'b', message: 'Not today.' },
      {
        rule: 'a',
        message: 'Policy refuses it.',
        messages: expect.objectContaining({ de: 'Die Richtlinie lehnt es ab.' }),
      },
    ]);
  });

  test('a person is asked about as the person, also before there is a session', async () => {
    await engine.activate(
      'p-1',
      'permit (principal == Account::"a", action in [Action::"signIn", Action::"share"], resource) when { context has client && context.client == Client::"notes" };',
    );
    const browser: Caller = { type: 'Browser', interaction: 'a'.repeat(32) };
    expect(
      engine.decide({
        caller: browser,
        action: 'share',
        facts: { account: 'a', scope: 'email', client: 'notes' },
      }).allowed,
    ).toBe(true);
    expect(
      engine.decide({
        caller: browser,
        action: 'share',
        facts: { account: 'b', scope: 'email', client: 'notes' },
      }).allowed,
    ).toBe(false);
    expect(
      engine.decide({
        caller: account('a'),
        action: 'signIn',
        facts: { client: 'notes', account: 'a' },
      }).allowed,
    ).toBe(true);
    expect(
      engine.decide({
        caller: browser,
        action: 'signIn',
        facts: { client: 'notes', account: undefined },
      }).allowed,
    ).toBe(false);
  });
});

test('prepared sets are shared by equal slices, and no more are held than may be', () => {
  const calls: [string, number][] = [];
  const counting = {
    ...cedar,
    preparsePolicySet: (name: string, set: { staticPolicies?: unknown }) => {
      calls.push([name, Object.keys(set.staticPolicies as object).length]);
      return { type: 'success' as const };
    },
  };
  const prepared = new PreparsedPolicySetPool(counting, 'x');
  const slice = (digest: string, size: number) =>
    ({
      digest,
      size,
      rules: Object.fromEntries(Array.from({ length: size }, (_, i) => [`r${i}`, {}])),
    }) as unknown as Parameters<PreparsedPolicySetPool['nameFor']>[0];
  expect(['a', 'b', 'a'].map((digest) => prepared.nameFor(slice(digest, 9_000)))).toEqual([
    'x0',
    'x1',
    'x0',
  ]);
  expect(prepared.nameFor(slice('c', 9_000))).toBe('x0');
  expect(calls).toEqual([
    ['x0', 9_000],
    ['x1', 9_000],
    ['x0', 0],
    ['x1', 0],
    ['x0', 9_000],
  ]);
  prepared.clear();
  expect(calls.at(-1)).toEqual(['x0', 0]);
  expect(['d', 'e', 'f'].map((digest) => prepared.nameFor(slice(digest, 1)))).toEqual([
    'x0',
    'x1',
    'x2',
  ]);
});

test('two engines in one process answer each by its own text', async () => {
  const [one, other] = await Promise.all([openEngine(kinds, actions), openEngine(kinds, actions)]);
  await one.activate('p-1', 'permit (principal, action, resource);');
  await other.activate(
    'p-2',
    'forbid (principal, action, resource); permit (principal, action == Action::"health", resource);',
  );
  for (const path of ['/a', '/b']) {
    for (const action of ['discovery', 'health', 'page']) {
      expect(
        [one, other].map(
          (engine) =>
            engine.decide({ caller: { type: 'Anonymous' }, action, facts: { path } }).allowed,
        ),
      ).toEqual([true, false]);
    }
  }
});
