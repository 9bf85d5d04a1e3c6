import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { describeAlternatives } from '../../kinds/policy/alternative-words.js';
import type { Alternative, FactChange } from '../../kinds/policy/alternatives.js';
import { type Engine, openEngine } from '../../policy/engine/engine.js';
import { networkExamples } from '../../policy/explain/networks.js';
import { vocabularyOf } from '../../policy/model/vocabulary.js';
import type { AuthorizationAttributes } from '../../registry/authorizer.js';
import { seed } from '../support/random.js';
import { isQuick } from '../support/stores.js';
import { actions, kindOf, kinds } from './kinds.js';
import { Oracle } from './oracle.js';
import { Chance } from './random.js';

const now = Date.UTC(2026, 4, 6, 12); // a Wednesday
const hour = 3_600;

beforeEach(() => {
  jest.spyOn(Date, 'now').mockReturnValue(now);
});
afterEach(() => {
  jest.restoreAllMocks();
});

type Facts = Readonly<Record<string, unknown>>;

const plain: Facts = {
  account: 'bcdfghjklmnpqrstvwxz',
  client: 'notes',
  created: now - 3 * 24 * hour * 1000,
  groups: [],
  domain: 'else.invalid',
  passkeys: 0,
  methods: ['EmailCode'],
  assurance: 'urn:vestibule:acr:email',
  authenticated: now / 1000 - 2 * hour,
  newBrowser: false,
  invited: false,
  network: '192.0.2.9',
};

const signingIn = (facts: Facts): AuthorizationAttributes => ({
  caller: { type: 'Browser', interaction: 'a'.repeat(32) },
  action: 'signIn',
  facts: { ...plain, ...facts },
});

const permit = (condition: string, id = 'people'): string =>
  `@id("${id}") permit (principal, action == Action::"signIn", resource) when { ${condition} };`;
const forbid = (condition: string, id = 'not'): string =>
  `@id("${id}") forbid (principal, action == Action::"signIn", resource) when { ${condition} };`;

async function engineWith(text: string): Promise<Engine> {
  const engine = await openEngine(kinds, actions);
  await engine.activate('p-1', text);
  return engine;
}

/** What an explanation says, as a person reads it. */
const said = async (text: string, facts: Facts = {}): Promise<string | undefined> =>
  describeAlternatives((await engineWith(text)).explain(signingIn(facts)));

test('a search that fails is reported with its cause', async () => {
  const errors: unknown[] = [];
  const engine = await openEngine(kinds, actions, {
    onEvaluationError: (error) => errors.push(error),
  });
  await engine.activate('p-1', permit('context.assurance == "phr"'));
  const cause = new Error('no facts');
  const attributes = Object.defineProperty({ ...signingIn({}) }, 'facts', {
    get: () => {
      throw cause;
    },
  });
  expect(engine.explain(attributes)).toEqual([]);
  expect(errors).toEqual([{ type: 'explanation', policy: 'p-1', rules: [], cause }]);
});

describe('what would have permitted a refused sign-in', () => {
  test.each<[string, string, Facts, string]>([
    [
      'a passkey',
      permit('context.assurance == "phr"'),
      {},
      'It would be permitted signed in with a passkey.',
    ],
    [
      'a recent sign-in, by any method',
      permit('context.signedInRecently'),
      {},
      'It would be permitted after signing in again.',
    ],
    ['a group', permit('principal in Group::"staff"'), {}, 'It would be permitted in group staff.'],
    [
      'one of two groups',
      permit('principal in [Group::"staff", Group::"guests"]'),
      {},
      'It would be permitted in group staff, or in group guests.',
    ],
    [
      'leaving a group',
      permit('true') + forbid('principal in Group::"blocked"'),
      { groups: ['blocked'] },
      'It would be permitted outside of group blocked.',
    ],
    [
      'a named network',
      permit('context has network && context.network.isInRange(ip("10.0.0.0/8"))'),
      {},
      'It would be permitted from the network 10.0.0.0/8.',
    ],
    [
      'another network',
      permit('true') +
        forbid('context has network && context.network.isInRange(ip("2001:db8::/32"))'),
      { network: '2001:db8:0:7::/64' },
      'It would be permitted from another network.',
    ],
    [
      'a domain of a pattern',
      permit('context.domain like "*.example.org"'),
      {},
      'It would be permitted with an address at *.example.org.',
    ],
    [
      'another domain',
      permit('context.domain != "spam.test"'),
      { domain: 'spam.test' },
      'It would be permitted with an address at another domain.',
    ],
    [
      'a number of passkeys',
      permit('principal.passkeys > 1'),
      {},
      'It would be permitted with 2 passkeys.',
    ],
    ['an invitation', permit('context.invited'), {}, 'It would be permitted with an invitation.'],
    [
      'a browser that is known',
      permit('!context.newBrowser'),
      { newBrowser: true },
      'It would be permitted from a browser that signed in to this account before.',
    ],
    [
      'another time of the day',
      permit('context.timeOfDay >= duration("18h")'),
      {},
      'It would be permitted from 2026-05-06T18:00:00.000Z on.',
    ],
    [
      'another day',
      permit('context.weekday == "Saturday"'),
      {},
      'It would be permitted from 2026-05-09T00:00:00.000Z on.',
    ],
    [
      'an older account',
      permit('context.now.durationSince(principal.created) > duration("7d")'),
      {},
      'It would be permitted from 2026-05-10T12:00:00.001Z on.',
    ],
    [
      'two changes together',
      permit('principal in Group::"staff" && context.methods.contains("Passkey")'),
      {},
      'It would be permitted signed in with a passkey and in group staff.',
    ],
  ])('%s', async (_, text, facts, expected) => {
    expect(await said(text, facts)).toBe(expected);
  });

  test('is the smaller of two ways', async () => {
    const text =
      permit('principal in Group::"a" && principal in Group::"b"', 'one') +
      permit('context.invited', 'two');
    expect(await said(text)).toBe('It would be permitted with an invitation.');
  });

  test('is nothing if no change of a fact is enough', async () => {
    expect(await said(permit('true') + forbid('true'))).toBeUndefined();
    expect(await said(permit('principal == Account::"cccccccccccccccccccc"'))).toBeUndefined();
    expect(await said(permit('resource == Client::"board"'))).toBeUndefined();
  });

  test('is nothing while no policy is in force', async () => {
    const engine = await openEngine(kinds, actions);
    expect(engine.explain(signingIn({}))).toEqual([]);
  });

  test('counts neither as a decision nor as an evaluation', async () => {
    const engine = await engineWith(permit('context.assurance == "phr"'));
    const before = { ...engine.counts };
    expect(engine.explain(signingIn({}))).toHaveLength(1);
    expect(engine.counts).toEqual({ ...before, trials: 1 });
  });
});

describe('nothing is said that the caller may not know', () => {
  const person = 'bcdfghjklmnpqrstvwxz';
  const other = 'cccccccccccccccccccc';
  const caller = { type: 'Account', account: person, email: 'a@b.test', operator: false } as const;
  const updating = (name: string): AuthorizationAttributes => ({
    caller,
    action: 'update',
    kind: kindOf('Account'),
    name,
    facts: {},
  });
  const members = `permit (principal in Group::"hr", action == Action::"update", resource is Account)`;
  const reads = 'permit (principal, action == Action::"get", resource);';

  test('an object that the caller may not read has no alternatives', async () => {
    expect((await engineWith(`${members};`)).explain(updating(other))).toEqual([]);
    expect((await engineWith(`${members};${reads}`)).explain(updating(other))).toHaveLength(1);
  });

  test('nor has a refused read', async () => {
    const engine = await engineWith('permit (principal in Group::"hr", action, resource);');
    expect(engine.explain({ ...updating(other), action: 'get' })).toEqual([]);
  });

  test.each([
    ['the groups of another person', 'resource in Group::"staff"'],
    ['the passkeys of another person', 'resource.passkeys > 0'],
    ['the owner of an object', 'resource.owner.emailDomain == "staff.test"'],
  ])('a rule about %s gives the same answer for each value', async (_, condition) => {
    const engine = await engineWith(`${members} when { ${condition} };${reads}`);
    for (const facts of [
      { groups: ['staff'], passkeys: 1, emailDomain: 'staff.test', created: now },
      { groups: [], passkeys: 0, emailDomain: 'else.test', created: now },
    ]) {
      engine.connect({ peek: () => facts, ofObject: () => undefined });
      expect(engine.explain(updating(other))).toEqual([]);
    }
  });

  test('the same rule is explained to the person it is about', async () => {
    const engine = await engineWith(`${members} when { resource.passkeys > 0 };${reads}`);
    const attributes = { ...updating(person), facts: { passkeys: 1 } };
    expect(describeAlternatives(engine.explain(attributes))).toBe(
      'It would be permitted in group hr.',
    );
  });

  test('the groups of an app are not said to who signs in there', async () => {
    const engine = await engineWith(
      permit('resource.groups.contains("internal") && principal in Group::"staff"'),
    );
    engine.connect({ peek: () => ({ groups: ['internal'] }), ofObject: () => undefined });
    expect(engine.explain(signingIn({}))).toEqual([]);
  });
});

test('networks: an example in each, and outside of each family', () => {
  expect(networkExamples(['10.0.0.0/8', '10.1.0.0/16', '2001:db8::/32', '0.0.0.1'])).toEqual(
    expect.arrayContaining([
      { network: expect.stringMatching(/^10\.(?!1\.)/), within: '10.0.0.0/8' },
      { network: expect.stringMatching(/^10\.1\./), within: '10.1.0.0/16' },
      { network: expect.stringMatching(/^2001:db8:.*\/64$/), within: '2001:db8::/32' },
      { network: '0.0.0.1', within: '0.0.0.1' },
      { network: expect.stringMatching(/^(?!10\.)\d+\./), within: undefined },
      { network: expect.stringMatching(/^2001:db[79]:.*\/64$/), within: undefined },
    ]),
  );
  expect(networkExamples(['::/0'])).toEqual([
    { network: expect.stringMatching(/\/64$/), within: '::/0' },
  ]);
  expect(networkExamples([])).toEqual([]);
});

/** Conditions over facts that a person can change. */
const conditions = [
  'principal in Group::"staff"',
  'principal in [Group::"guests", Group::"admins"]',
  'principal.groups.contains("staff")',
  'context.methods.contains("Passkey")',
  'context.assurance == "phr"',
  'context.methods.contains("EmailLink")',
  'context has signInAge && context.signInAge < 3600',
  'context.newBrowser',
  'context has network && context.network.isInRange(ip("10.0.0.0/8"))',
  'context has network && context.network.isInRange(ip("10.1.0.0/16"))',
  'context has network && context.network.isInRange(ip("2001:db8::/32"))',
  'context.domain == "a.example"',
  'context.domain like "*.b.example"',
  'principal.emailDomain != "else.invalid"',
  'principal.passkeys >= 2',
  'context.passkeys == 0',
  'context.invited',
];

/** The values that a small world can have for each fact; one change is one of them. */
const worldOf = (facts: Facts): readonly (readonly FactChange[])[] => [
  [{ fact: 'Time', value: new Date(now + 2 * hour * 1000).toISOString() }],
  ['Again', 'Passkey', 'EmailCode', 'EmailLink'].map((value) => ({ fact: 'SignIn', value })),
  facts['newBrowser'] === true ? [{ fact: 'KnownBrowser' }] : [],
  facts['invited'] === true ? [] : [{ fact: 'Invitation' }],
  [undefined, '10.0.0.0/8', '10.1.0.0/16', '2001:db8::/32'].map((value) =>
    change('Network', value),
  ),
  [undefined, 'a.example', 'else.invalid', '*.b.example'].map((value) =>
    change('EmailDomain', value),
  ),
  ['0', '1', '2', '3']
    .filter((value) => value !== String(facts['passkeys']))
    .map((value) => ({ fact: 'Passkeys', value })),
  ...['staff', 'guests', 'admins'].map((value): FactChange[] => [
    { fact: (facts['groups'] as string[]).includes(value) ? 'NotInGroup' : 'Group', value },
  ]),
];

const change = (fact: FactChange['fact'], value: string | undefined): FactChange =>
  value === undefined ? { fact } : { fact, value };

const networks: Readonly<Record<string, string>> = {
  undefined: '198.51.100.7',
  '10.0.0.0/8': '10.200.3.4',
  '10.1.0.0/16': '10.1.2.3',
  '2001:db8::/32': '2001:db8:5:6::/64',
};
const domains: Readonly<Record<string, string>> = {
  undefined: 'unknown.invalid',
  'a.example': 'a.example',
  'else.invalid': 'else.invalid',
  '*.b.example': 'mail.b.example',
};

/** When the request is made, in milliseconds since the epoch. */
const timeIn = (facts: Facts): number => (facts['time'] as number | undefined) ?? now;

/** The changes of an alternative; a sign-in happens at the time that another change sets. */
const inOrder = (changes: readonly FactChange[]): FactChange[] => [
  ...changes.filter(({ fact }) => fact === 'Time'),
  ...changes.filter(({ fact }) => fact !== 'Time'),
];

/** Facts after a change, by the meaning of its words alone. */
function changed(facts: Facts, { fact, value }: FactChange): Facts {
  const groups = facts['groups'] as string[];
  switch (fact) {
    case 'SignIn':
      return {
        ...facts,
        authenticated: timeIn(facts) / 1000,
        ...(value !== 'Again' && {
          methods: [value],
          assurance: value === 'Passkey' ? 'phr' : 'urn:vestibule:acr:email',
        }),
        ...(value === 'Passkey' && { passkeys: Math.max(1, facts['passkeys'] as number) }),
      };
    case 'KnownBrowser':
      return { ...facts, newBrowser: false };
    case 'Invitation':
      return { ...facts, invited: true };
    case 'Network':
      return { ...facts, network: networks[String(value)] };
    case 'EmailDomain':
      return { ...facts, domain: domains[String(value)] };
    case 'Passkeys':
      return { ...facts, passkeys: Number(value) };
    case 'Time':
      return { ...facts, time: Date.parse(value!) };
    case 'Group':
      return { ...facts, groups: [...groups, value!] };
    case 'NotInGroup':
      return { ...facts, groups: groups.filter((group) => group !== value) };
  }
}

/** Whether some set of this many changes is enough. */
function someSetIsEnough(
  isPermitted: (facts: Facts) => boolean,
  facts: Facts,
  dimensions: readonly (readonly FactChange[])[],
  size: number,
): boolean {
  if (size === 0) return isPermitted(facts);
  return dimensions.some((values, i) =>
    values.some((value) =>
      someSetIsEnough(isPermitted, changed(facts, value), dimensions.slice(i + 1), size - 1),
    ),
  );
}

function randomText(chance: Chance): Map<string, string> {
  const atom = (): string => {
    const one = `(${chance.of(conditions)})`;
    return chance.maybe(0.25) ? `!${one}` : one;
  };
  const condition = (): string =>
    Array.from({ length: 1 + chance.below(3) }, atom).join(chance.maybe(0.7) ? ' && ' : ' || ');
  const ids = Array.from({ length: 1 + chance.below(4) }, (_, i) => `r${i}`);
  return new Map(
    ids.map((id) => [id, chance.maybe(0.7) ? permit(condition(), id) : forbid(condition(), id)]),
  );
}

function randomFacts(chance: Chance): Facts {
  const method = chance.of(['EmailCode', 'EmailLink', 'Passkey']);
  return {
    ...plain,
    groups: chance.some(['staff', 'guests', 'admins']),
    methods: [method],
    assurance: method === 'Passkey' ? 'phr' : 'urn:vestibule:acr:email',
    authenticated: now / 1000 - (chance.maybe(0.5) ? 2 * hour : 60),
    newBrowser: chance.maybe(0.5),
    invited: chance.maybe(0.2),
    passkeys: method === 'Passkey' ? 1 + chance.below(2) : chance.below(3),
    domain: chance.of(['else.invalid', 'a.example', 'mail.b.example']),
    network: chance.of([...Object.values(networks), '192.0.2.9']),
  };
}

/** No entity exists. */
const nothing = { peek: () => null, ofObject: () => undefined };

const refusals = Number(process.env.VESTIBULE_REFUSALS ?? (isQuick ? 200 : 600));

test(`${refusals} random refusals: Cedar permits each alternative, and none is smaller`, async () => {
  const chance = new Chance(seed);
  const engine = await openEngine(kinds, actions);
  const vocabulary = vocabularyOf(kinds, actions);
  const sizes = new Map<number, number>();
  let refused = 0;
  // A text has refusals of few sizes, so that 200 of 15 texts may have hardly any of one: of 34 runs the
  // fewest were 6, 39, 17 and 1. Texts are added until there are enough, or there are five times as many.
  const isRare = () => [0, 1, 2].some((size) => (sizes.get(size) ?? 0) <= refusals / 50);
  const isEnough = () =>
    refused >= refusals && ((sizes.has(3) && !isRare()) || refused >= 5 * refusals);
  while (!isEnough()) {
    const rules = randomText(chance);
    await engine.activate('p', [...rules.values()].join('\n'));
    const oracle = new Oracle(vocabulary, rules, { entities: nothing });
    const known = new Map<string, boolean>();
    const isPermitted = (facts: Facts): boolean => {
      const key = JSON.stringify(facts);
      if (!known.has(key)) {
        jest.spyOn(Date, 'now').mockReturnValue(timeIn(facts));
        known.set(key, oracle.decide(signingIn(facts)).startsWith('true'));
        jest.spyOn(Date, 'now').mockReturnValue(now);
      }
      return known.get(key)!;
    };
    for (let i = 0; i < 20 && !isEnough(); i += 1) {
      const facts = randomFacts(chance);
      if (isPermitted(facts)) continue;
      refused += 1;
      const found = engine.explain(signingIn(facts));
      const size = found[0]?.changes.length ?? 0;
      sizes.set(size, (sizes.get(size) ?? 0) + 1);
      const story = { rules: [...rules.values()], facts, found };
      for (const { changes } of found as Alternative[]) {
        expect({ ...story, size: changes.length }).toEqual({ ...story, size });
        const permitted = isPermitted(inOrder(changes).reduce(changed, facts));
        expect({ ...story, permitted }).toEqual({ ...story, permitted: true });
      }
      const most = refused % 20 === 0 ? 3 : 2; // the sets of three are many
      const sizesBelow = Array.from({ length: size === 0 ? most : size - 1 }, (_, n) => n + 1);
      const smaller = sizesBelow.find((n) =>
        someSetIsEnough(isPermitted, facts, worldOf(facts), n),
      );
      expect({ ...story, smaller }).toEqual({ ...story, smaller: undefined });
    }
  }
  for (const size of [0, 1, 2]) expect(sizes.get(size)).toBeGreaterThan(refusals / 50);
  expect(sizes.get(3)).toBeGreaterThan(0);
}, 600_000);
