import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { Operator } from '../../kinds/people/group/operator.js';
import { causesOf } from '../../kinds/policy/causes.js';
import type { PolicyCheckResult } from '../../kinds/policy/check-result.js';
import { type Engine, openEngine } from '../../policy/engine/engine.js';
import { policyLimits } from '../../policy/parse/limits.js';
import { actions, kindOf, kinds } from './kinds.js';

const root: Operator = {
  domain: 'example.test',
  groups: ['operators', 'staff'],
  account: 'bcdfghjklmnpqrstvwx4',
  hasPasskey: true,
};
let present: readonly Operator[] = [root];
let engine: Engine;
beforeAll(async () => {
  engine = await openEngine(kinds, actions);
  const page = { firstParty: true, type: 'Public', host: '', groups: [], conditions: [] };
  engine.connect({
    operators: async () => present,
    peek: (type) => (type === 'Client' ? page : null),
    ofObject: () => undefined,
  });
});

const faultsOf = (checked: PolicyCheckResult) => ('faults' in checked ? checked.faults : []);
const check = async (text: string) => faultsOf(await engine.check(text));
const within = (rule: string) => engine.check(`${engine.defaultText}\n${rule}\n`);
const lines = () => engine.defaultText.split('\n').length;

describe('a text that is wrong is refused with line and column', () => {
  test.each([
    [
      'permit (principal, action, resource);\n  permit (principal, action resource);',
      2,
      29,
      /unexpected token `resource`/,
    ],
    [
      'permit (principal, action, resource) when { "é ü ñ" == };',
      1,
      56,
      /unexpected token|invalid/,
    ],
    ['permit (principal, action, resource', 1, 36, /unexpected end/],
    [
      'permit (principal, action, resource)\nwhen { resource is Sesion };',
      2,
      20,
      /Sesion.*did you mean `Session`/,
    ],
    ['permit (principal, action == Action::"fly", resource);', 1, 30, /unrecognized action/],
    [
      'permit (principal, action, resource)\nwhen { context.client == Client::"a" };',
      2,
      8,
      /context has client/,
    ],
    ['permit (principal, action, resource)\nwhen { context.domain == 1 };', 2, 8, /not compatible/],
    ['permit (principal == ?principal, action, resource);', undefined, undefined, /templates/],
    ['', undefined, undefined, /no rules/],
    [
      '@id("a") permit (principal, action, resource);\n@id("a") forbid (principal, action, resource);',
      2,
      1,
      /another rule has the @id "a"/,
    ],
    ['@id("a\\nb") permit (principal, action, resource);', 1, 1, /@id must have/],
  ])('%j', async (text, line, column, message) => {
    const [fault] = await check(text);
    expect(fault?.message).toMatch(message);
    expect([fault?.line, fault?.column]).toEqual([line, column]);
  });

  test('as the causes of a 422 at spec.cedar', async () => {
    expect(causesOf(await check('permit'))).toEqual([
      {
        reason: 'FieldValueInvalid',
        field: 'spec.cedar',
        message: expect.stringMatching(/^Invalid value: line 1, column 7: unexpected end/),
      },
    ]);
    expect(causesOf([{ message: 'has no rules' }])[0]!.message).toBe('Invalid value: has no rules');
  });

  test('a fault keeps its place after rules that a text before had', async () => {
    const known = '@id("é ü")\npermit (principal, action, resource); // ñ\n';
    const faulty = '  permit (principal, action, resource) when { context.domain == 1 };';
    await check(known);
    const [fault] = await check(`// ô\n${known}${faulty}`);
    expect([fault?.line, fault?.column]).toEqual([4, faulty.indexOf('context') + 1]);
    expect(await check(`${known}${faulty}`)).toEqual(await check(`${known}${faulty}`));
  });

  test('a warning comes again with each check of its rule', async () => {
    const text =
      'permit (principal, action, resource) when { principal == Account::"\u0430dmin" };';
    const first = await within(text);
    expect('warnings' in first && first.warnings.length).toBeGreaterThan(0);
    expect(await within(text)).toEqual(first);
  });

  test('each fault once, though many kinds of request meet it', async () => {
    expect(
      await check('permit (principal, action, resource) when { context.client == Client::"a" };'),
    ).toHaveLength(1);
  });
});

test.each([
  ['Account::"a" in Group::"staff"', /only the groups of a principal and of an Account are known/],
  [
    'resource has owner && resource.owner.owner == principal',
    /attributes are supported only on principal, resource, context, and one level below them/,
  ],
  ['Client::"a".firstParty', /attributes are supported only/],
  ['resource has owner && resource.owner has created', /attributes are supported only/],
  [
    '(if context.metadataOnly then Account::"a" else Account::"b").owner == Account::"a"',
    /attributes are supported only/,
  ],
  ['{a: 1} == {a: 1}', /records are not supported/],
  [
    'context has signInAge && context.signInAge < 9007199254740993',
    /whole numbers may have at most 15 digits/,
  ],
  ['context == context', /the whole context is not supported/],
])('what no request knows cannot be asked: %s', async (condition, message) => {
  const [fault] = faultsOf(
    await within(`forbid (principal, action, resource) when { ${condition} };`),
  );
  expect(fault).toMatchObject({
    message: expect.stringMatching(message),
    line: lines() + 1,
    column: 1,
  });
});

test.each([
  'forbid (principal, action == Action::"get", resource is Policy) when { principal is Account && principal.passkeys > 3 };',
  'forbid (principal, action, resource) when { context has network && context.network.isInRange(ip("192.0.2.0/24")) };',
  'forbid (principal, action == Action::"list", resource) when { context.newBrowser };',
  'forbid (principal, action == Action::"discovery", resource) when { context has network };',
])('what must be open to anyone depends on no fact that someone may have: %s', async (rule) => {
  expect(faultsOf(await within(rule))).toEqual([
    expect.objectContaining({
      message: expect.stringMatching(/must not depend on facts about accounts or networks/),
    }),
  ]);
});

describe('operators are not locked out', () => {
  const createsPolicies = 'action == Action::"create", resource is Policy';
  test.each([
    [
      'by a network that is named',
      `forbid (principal, ${createsPolicies}) unless { context has network && context.network.isInRange(ip("10.0.0.0/8")) };`,
      true,
    ],
    [
      'by an address of version 6 that is named',
      `forbid (principal, ${createsPolicies}) unless { context has network && context.network.isInRange(ip("2001:db8::/32")) };`,
      true,
    ],
    [
      'by a network that no one has',
      `forbid (principal, ${createsPolicies}) unless { context has network && context.network.isMulticast() };`,
      false,
    ],
    [
      'by a browser that must be known',
      'forbid (principal, action == Action::"signIn", resource) when { context.newBrowser };',
      false,
    ],
    [
      'by facts of the Client of the account page',
      'forbid (principal, action == Action::"signIn", resource) unless { resource.firstParty };',
      true,
    ],
    [
      'by an age that no account has',
      `forbid (principal, ${createsPolicies}) unless { principal is Account && principal.created < datetime("2000-01-01") };`,
      false,
    ],
    [
      'by hours',
      `forbid (principal, ${createsPolicies}) unless { context.timeOfDay < duration("6h") };`,
      true,
    ],
    [
      'by a day that does not exist',
      `forbid (principal, ${createsPolicies}) unless { context.weekday == "Sonntag" };`,
      false,
    ],
  ])('%s', async (_, rule, isAccepted) => {
    const faults = faultsOf(await within(rule));
    expect(faults).toEqual(
      isAccepted
        ? []
        : [
            expect.objectContaining({
              message: expect.stringMatching(/^no operator could create/),
            }),
          ],
    );
  });
});

test.each([
  [
    'forbid (principal, action == Action::"provider", resource) unless { principal in Group::"staff" };',
    /can be in a Group/,
  ],
  [
    'forbid (principal, action in [Action::"page", Action::"asset"], resource) when { context.metadataOnly || principal in Group::"staff" };',
    /^rule "rule\d+": no principal of page, asset can be in a Group/,
  ],
  [
    'forbid (principal is Browser, action in Action::"interactions/*", resource) unless { principal in Group::"staff" };',
    /can be in a Group/,
  ],
  [
    'forbid (principal, action == Action::"signIn", resource) when { principal in ClusterGroup::"staff" };',
    /can never apply|can be in a ClusterGroup/,
  ],
  [
    'permit (principal is Browser, action == Action::"signIn", resource);',
    /^the rule can never apply/,
  ],
  [
    'forbid (principal, action, resource) when { context has client && false };',
    /^the rule can never apply/,
  ],
])('a rule that can never hold is refused with the reason: %s', async (rule, message) => {
  expect(faultsOf(await within(rule))).toEqual([
    expect.objectContaining({ message: expect.stringMatching(message), line: lines() + 1 }),
  ]);
});

test.each([
  'forbid (principal, action == Action::"signUp", resource) unless { principal in Group::"staff" };',
  'forbid (principal, action, resource is Group) when { principal in Group::"interns" };',
  'forbid (principal, action == Action::"get", resource) when { principal in ClusterGroup::"guests" };',
])('a rule by group is accepted when an account can be in the group: %s', async (rule) => {
  present = [{ ...root, isNew: true }];
  expect(faultsOf(await within(rule))).toEqual([]);
  present = [root];
});

test('a good text comes back in the usual form with its rules', async () => {
  const checked = await within(
    '@id("closed") @message("We are closed.") forbid(principal,action==Action::"signUp",resource); forbid(principal,action==Action::"signUp",resource) when{context.domain=="evil.test"};',
  );
  expect(faultsOf(checked)).toEqual([]);
  const good = checked as Exclude<PolicyCheckResult, { faults: unknown }>;
  expect(good.text).toContain(
    '@id("closed")\n@message("We are closed.")\nforbid (\n  principal,\n  action == Action::"signUp",\n  resource\n);\n',
  );
  expect(good.rules.slice(-2)).toEqual([
    { id: 'closed', effect: 'forbid', message: 'We are closed.' },
    { id: expect.stringMatching(/^rule\d+$/), effect: 'forbid' },
  ]);
  expect(good.warnings.map(({ message }) => message)).toEqual([
    expect.stringMatching(/^rule "rule\d+" forbids without a @message/),
  ]);
  expect(faultsOf(await engine.check(good.text))).toEqual([]);
});

test.each([
  ['context.weekday == "Mon"', /rule "w": weekday is never "Mon": it is "Monday", "Tuesday"/],
  ['"Tuesdays" == context.weekday', /weekday is never "Tuesdays"/],
  ['context.methods.contains("passkey")', /methods is never "passkey": it is "EmailCode"/],
  ['context.methods.containsAny(["Passkey", "Sms"])', /methods is never "Sms"/],
  ['context.assurance != "mfa"', /assurance is never "mfa"/],
  ['context.site == "same_origin"', /site is never "same_origin"/],
])('a comparison that never holds is a warning: %s', async (condition, message) => {
  const text = `@id("w") permit (principal, action == Action::"signIn", resource) when { ${condition} };`;
  const { warnings } = (await within(text)) as Exclude<PolicyCheckResult, { faults: unknown }>;
  expect(warnings).toEqual([
    { message: expect.stringMatching(message), line: expect.any(Number), column: 1 },
  ]);
});

test('comparisons that may hold are none', async () => {
  const text = `permit (principal, action == Action::"signIn", resource) when {
    context.weekday == "Monday" && context.methods.contains("Passkey") && context.domain == "x" &&
    context.assurance == "phr" && resource.type == "Public" && resource.host == "Mon" };`;
  const { warnings } = (await within(text)) as Exclude<PolicyCheckResult, { faults: unknown }>;
  expect(warnings).toEqual([]);
});

describe('what everybody needs cannot be taken away', () => {
  test.each([
    [
      'forbid (principal, action == Action::"discovery", resource);',
      /^discovery must be open to anyone: rule "rule\d+"/,
    ],
    [
      'forbid (principal, action == Action::"health", resource == Path::"/readyz/ping");',
      /^health/,
    ],
    [
      'forbid (principal, action == Action::"discovery", resource) when { context.site == "cross-site" };',
      /^discovery/,
    ],
    [
      'forbid (principal, action == Action::"health", resource) when { context.now > datetime("2999-01-01") };',
      /at all times/,
    ],
    [
      'forbid (principal is Anonymous, action in Action::"read", resource is Policy);',
      /^reading policies/,
    ],
    ['forbid (principal, action, resource == Policy::"p-7");', /^reading policies/],
    ['forbid (principal is ClusterUser, action, resource is Policy);', /^reading policies/],
    [
      'forbid (principal, action, resource is Policy) when { !context.metadataOnly };',
      /^reading policies/,
    ],
    [
      'forbid (principal, action == Action::"create", resource is Policy);',
      /no operator could create policies/,
    ],
    [
      'forbid (principal in Group::"operators", action, resource is Policy) when { action == Action::"create" };',
      /no operator/,
    ],
    [
      'forbid (principal, action == Action::"create", resource is Policy) unless { principal == Account::"bcdfghjklmnpqrstvwx2" };',
      /no operator/,
    ],
    [
      'forbid (principal, action == Action::"create", resource is Policy) unless { context.now < datetime("2027-06-01") };',
      /no operator/,
    ],
    ['forbid (principal, action == Action::"interactions/login", resource);', /no operator/],
    [
      'forbid (principal, action == Action::"signIn", resource) when { context.domain == "example.test" };',
      /no operator/,
    ],
    ['forbid (principal, action == Action::"provider", resource);', /no operator/],
    [
      'forbid (principal, action == Action::"create", resource is Policy) unless { context.methods.contains("Passkey") };\nforbid (principal, action == Action::"interactions/login", resource) when { context has method && context.method == "Passkey" };',
      /no operator/,
    ],
  ])('%s', async (rule, message) => {
    expect(faultsOf(await within(rule))).toEqual([{ message: expect.stringMatching(message) }]);
  });

  afterEach(() => {
    present = [root];
  });
  const create = (rest: string): string =>
    `forbid (principal, action == Action::"create", resource is Policy) ${rest};`;
  const signing = (rest: string): string =>
    `forbid (principal, action == Action::"signIn", resource) ${rest};`;
  const other: Operator = {
    domain: 'other.test',
    groups: ['operators'],
    account: 'bcdfghjklmnpqrstvwx6',
    hasPasskey: true,
  }; // one without would have to add a passkey first, as root has one
  test.each<[string, readonly Operator[], string]>([
    [
      'a group that every operator is in',
      [root],
      create('when { principal is Account && principal in Group::"staff" }'),
    ],
    [
      'a group that no operator is in',
      [root, other],
      create('unless { principal is Account && principal in Group::"guests" }'),
    ],
    [
      'another group of each of them',
      [root, { ...other, groups: ['operators', 'guests'] }],
      create(
        'when { principal is Account && (principal in Group::"staff" || principal in Group::"guests") }',
      ),
    ],
    [
      'any of the domains they have',
      [root, other],
      create('when { context.domain == "example.test" || context.domain like "*.test" }'),
    ],
    [
      'a domain that none of them has',
      [root, other],
      signing('unless { context.domain == "corp.test" }'),
    ],
    [
      'each of them by name',
      [root, other],
      `forbid (principal == Account::"${root.account}", action, resource is Policy) when { action == Action::"create" };\nforbid (principal == Account::"${other.account}", action == Action::"create", resource is Policy);`,
    ],
    [
      'all but an account that is no operator',
      [root],
      create('unless { principal == Account::"bcdfghjklmnpqrstvwx8" }'),
    ],
    ['what is true of every request', [root, other], create('when { !context.metadataOnly }')],
    ['what no request has', [root, other], create('unless { context has client }')],
    [
      'everyone who has signed in',
      [root, other],
      create('when { context has signInAge && context.signInAge >= 0 }'),
    ],
    [
      'every way to sign in by mail, and every passkey',
      [root],
      'forbid (principal, action == Action::"interactions/emailchallenge", resource);\nforbid (principal, action == Action::"interactions/passkeychallenge", resource);',
    ],
    ['a strength that no sign-in has', [root], create('unless { context.assurance == "higher" }')],
    [
      'the way up of operators who never signed in',
      [{ domain: 'example.test', groups: ['operators'], isNew: true }],
      'forbid (principal, action == Action::"signUp", resource);',
    ],
    [
      'an owner that is no account',
      [root],
      create('when { principal is Account && principal != Account::"absent" }'),
    ],
  ])('nor operators out by %s', async (_, operators, rule) => {
    present = operators;
    expect(faultsOf(await within(rule))).toEqual([
      { message: expect.stringMatching(/^no operator could create policies/) },
    ]);
  });

  test.each<[string, readonly Operator[], string]>([
    [
      'a group that one of them is not in',
      [root, other],
      create('when { principal is Account && principal in Group::"staff" }'),
    ],
    [
      'the domain of one of them',
      [root, other],
      signing('unless { context.domain == "other.test" }'),
    ],
    [
      'all but one of them by name',
      [root, other],
      create(`unless { principal == Account::"${other.account}" }`),
    ],
    [
      'the way up, when one of them has an account',
      [root, { domain: 'example.test', groups: ['operators'], isNew: true }],
      'forbid (principal, action == Action::"signUp", resource);',
    ],
    [
      'a strength that a mail does not have',
      [root],
      create('unless { context.assurance == "phr" }'),
    ],
    [
      'one of a thousand',
      [
        ...Array.from(
          { length: 999 },
          (_, i): Operator => ({ domain: 'other.test', groups: ['operators'], account: `a${i}` }),
        ),
        root,
      ],
      create('unless { context.domain == "example.test" }'),
    ],
  ])('but it may leave out %s', async (_, operators, rule) => {
    present = operators;
    expect(faultsOf(await within(rule))).toEqual([]);
  });

  test.each([
    'forbid (principal, action == Action::"create", resource is Policy) unless { context.methods.contains("Passkey") };',
    'forbid (principal, action == Action::"interactions/login", resource) when { context has method && context.method != "Passkey" };',
    'forbid (principal, action == Action::"create", resource is Policy) unless { context.now.toTime() < duration("9h") };',
    'forbid (principal, action == Action::"create", resource is Policy) unless { context has signInAge && context.signInAge < 600 };',
    'forbid (principal, action, resource) unless { context.domain == "example.test" || principal is Anonymous || principal is Browser || resource is Policy };',
    'forbid (principal, action == Action::"page", resource);',
  ])('but this may: %s', async (rule) => {
    expect(faultsOf(await within(rule))).toEqual([]);
  });

  test('and not by naming more of it than can be asked about', async () => {
    const rules = Array.from(
      { length: 21 },
      (_, i) => `permit (principal, action, resource == Policy::"p-${i}");`,
    ).join('\n');
    expect(faultsOf(await within(rules))).toEqual([
      { message: 'at most 20 policies and paths may be named' },
    ]);
  });

  test('without the rules that open it nothing is open', async () => {
    expect(
      await check('@id("a") permit (principal in Group::"operators", action, resource);'),
    ).toEqual([{ message: 'discovery must be open to anyone: no rule permits it' }]);
  });
});

describe('a text that costs too much is refused, and Cedar lives on', () => {
  const rule = (condition: string) => `permit (principal, action, resource) when { ${condition} };`;
  const many = (n: number, one: (i: number) => string, by: string) =>
    Array.from({ length: n }, (_, i) => one(i)).join(by);
  const nested = (n: number, open: string, inner: string, close: string) =>
    rule(open.repeat(n) + inner + close.repeat(n));
  test.each<[string, () => string]>([
    ['65 KiB', () => `// ${'x'.repeat(65 << 10)}\npermit (principal, action, resource);`],
    [
      'more rules than any policy needs',
      () => many(policyLimits.rules + 1, () => 'permit(principal,action,resource);', '\n'),
    ],
    ['brackets in brackets', () => nested(10_000, '(', 'true', ')')],
    ['sets in sets', () => nested(5_000, '[', '1', ']')],
    ['records in records', () => nested(5_000, '{a:', '1', '}')],
    ['not not', () => nested(3_000, '!(true && ', 'true', ')')],
    ['else if', () => rule(`${'if context.metadataOnly then true else '.repeat(1_000)} true`)],
    ['a long sum', () => rule(`${many(900, () => '1', '+')} == 1`)],
    ['a longer sum', () => rule(`${many(16_000, () => '1', '+')} == 1`)],
    [
      'a chain of calls',
      () => rule(`context.now${'.offset(duration("1h"))'.repeat(250)} == context.now`),
    ],
    [
      'many conditions',
      () =>
        `permit (principal, action, resource) ${many(200, (i) => `when { context.domain != "x${i}" }`, ' ')};`,
    ],
    ['a huge set', () => rule(`[${many(8_000, (i) => `"x${i}"`, ',')}].contains(context.domain)`)],
    [
      'long text with many wildcards',
      () => rule(`"${'a'.repeat(30_000)}" like "${'*a'.repeat(15_000)}b"`),
    ],
    [
      'an opening quote',
      () => `permit (principal, action, resource) when { "${'\\"'.repeat(20_000)}`,
    ],
    ['attributes of attributes', () => rule(`context${'.a'.repeat(900)} == 1`)],
  ])('%s', async (_, text) => {
    expect(await check(text())).not.toEqual([]);
    await expect(engine.activate('p-9', text())).rejects.toThrow('cannot be activated');
    expect(engine.isResponding()).toBe(true);
  });

  test.each<[string, () => string]>([
    [
      '400 rules',
      () =>
        many(
          400,
          (i) =>
            `@id("r${i}") forbid (principal, action, resource is Group) when { context.domain == "x${i}.test" };`,
          '\n',
        ),
    ],
    ['the longest && chain', () => rule(many(80, (i) => `context.domain != "x${i}"`, ' && '))],
    [
      'the largest set',
      () => rule(`[${many(900, (i) => `"x${i}"`, ',')}].contains(context.domain)`),
    ],
    [
      'the deepest brackets',
      () => nested(14, '!(context.metadataOnly || ', 'context.domain == "a"', ')'),
    ],
    [
      'the longest list of groups, deep inside',
      () =>
        nested(
          9,
          '!(context.metadataOnly || ',
          `principal in [${many(400, (i) => `Group::"g${i}"`, ',')}]`,
          ')',
        ),
    ],
    ['the deepest sum', () => rule(`${many(38, () => '1', '+')} == 1`)],
    [
      'the most wildcards',
      () =>
        many(
          Math.floor((65_536 - engine.defaultText.length) / 1_100),
          (i) =>
            `@id("w${i}") forbid (principal, action, resource is Group) when { "${'a'.repeat(500)}" like "${'*a'.repeat(250)}b" };`,
          '\n',
        ),
    ],
  ])('%s is judged and answers', async (_, text) => {
    expect(faultsOf(await within(text()))).toEqual([]);
    await engine.activate('p-2', `${engine.defaultText}\n${text()}`);
    const answers = kinds.flatMap((kind) =>
      [
        { type: 'Anonymous' } as const,
        { type: 'Account', account: 'a', email: 'a@example.test', operator: true } as const,
      ].map((caller) => engine.decide({ caller, action: 'get', kind, name: 'x' })),
    );
    expect(answers.filter(({ reasons }) => reasons[0]!.rule === 'error')).toEqual([]);
    expect(
      engine.decide({
        caller: { type: 'Anonymous' },
        action: 'get',
        kind: kindOf('Policy'),
        name: 'p-1',
      }).allowed,
    ).toBe(true);
    expect(engine.counts).toMatchObject({ errors: 0, overruns: 0 });
  });
});

test.each([
  ['principal in Group::"staff"', ''],
  ['principal', 'principal == Account::"bcdfghjklmnpqrstvwx4"'],
  ['principal', 'context.domain == "example.test"'],
  ['principal', 'context.methods.contains("EmailCode")'],
  ['principal', 'context.assurance != ""'],
  ['principal is Account', ''],
])(
  'reading policies must be open to everyone: forbid (%s) when { %s } is refused',
  async (principal, condition) => {
    const [fault] = faultsOf(
      await within(
        `@id("hidden") forbid (${principal}, action in Action::"read", resource is Policy)${condition && ` when { ${condition} }`};`,
      ),
    );
    expect(fault?.message).toMatch(/^reading policies must be open to anyone/);
  },
);

test.each([
  [
    'a login that no request without a method gets to',
    'forbid (principal, action == Action::"interactions/login", resource) unless { context has method && context.method == "EmailLink" };',
  ],
  [
    'the way back from a sign-in',
    'forbid (principal, action == Action::"provider", resource) unless { resource == Path::"/oauth2/auth" };',
  ],
])('%s locks operators out', async (_, rule) => {
  const [fault] = faultsOf(await within(rule));
  expect(fault?.message).toMatch(/no operator could create policies|must be open/);
});

test.each([
  ['error', /must not be "error"/],
  ['default', /must not be "default"/],
])('an @id that says something else already: %s', async (id, message) => {
  expect(
    faultsOf(
      await within(`@id("${id}") forbid (principal, action == Action::"signUp", resource);`),
    )[0]?.message,
  ).toMatch(message);
});

test('a message shows what it says', async () => {
  for (const text of [
    '',
    ' ',
    '\\u{3164}',
    '\\u{2800}',
    'a\\u{200b}b',
    'a\\u{e0061}',
    'a\\u{a0}b',
  ]) {
    expect(
      faultsOf(
        await within(
          `@message("${text}") forbid (principal, action == Action::"signUp", resource);`,
        ),
      )[0]?.message,
    ).toMatch(/must show something/);
  }
  expect(
    faultsOf(
      await within(
        '@message("a\\u{202e}b\\u{1b}[31m") forbid (principal, action == Action::"signUp", resource);',
      ),
    )[0]?.message,
  ).toMatch(/no hidden characters/);
  expect(
    faultsOf(
      await within(
        `@message("${'x'.repeat(501)}") forbid (principal, action == Action::"signUp", resource);`,
      ),
    )[0]?.message,
  ).toMatch(/at most 500/);
});

test('messages in other languages come back by language tag', async () => {
  const checked = await within(
    '@id("closed") @message("Closed.") @message_de("Zu.") @message_pt_BR("Fechado.") @message_zh_Hans("关闭") @message_de_AT("Zua.") forbid (principal, action == Action::"signUp", resource);',
  );
  expect(faultsOf(checked)).toEqual([]);
  const { rules, warnings } = checked as Exclude<PolicyCheckResult, { faults: unknown }>;
  expect(warnings).toEqual([]);
  expect(rules.at(-1)).toEqual({
    id: 'closed',
    effect: 'forbid',
    message: 'Closed.',
    messages: { de: 'Zu.', 'pt-BR': 'Fechado.', 'zh-Hans': '关闭', 'de-AT': 'Zua.' },
  });
});

test.each([
  ['@message_DE("Zu.")', /@message_DE: write @message_de$/],
  ['@message_pt_br("Fechado.")', /@message_pt_br: write @message_pt_BR$/],
  ['@message_german("Zu.")', /@message_german: no page is in this language; .* en, ar, de, es/],
  ['@message_sv("Stängt.")', /@message_sv: no page is in this language/],
  ['@message_("Zu.")', /must end in a language tag such as de, or pt_BR with a region$/],
  ['@message_d("Zu.")', /must end in a language tag/],
  ['@message_de__AT("Zu.")', /must end in a language tag/],
  ['@message_de("")', /a @message_de must show something/],
  ['@message_de("a\\u{202e}b")', /a @message_de must show something.* no hidden characters/],
  [`@message_de("${'x'.repeat(501)}")`, /a @message_de .* at most 500/],
])('a message for no language is a fault: %s', async (annotation, message) => {
  const [fault] = faultsOf(
    await within(
      `@message("Closed.") ${annotation} forbid (principal, action == Action::"signUp", resource);`,
    ),
  );
  expect(fault).toMatchObject({
    message: expect.stringMatching(message),
    line: expect.any(Number),
  });
});

test('a message in one language needs one for the others', async () => {
  expect(
    faultsOf(
      await within('@message_de("Zu.") forbid (principal, action == Action::"signUp", resource);'),
    )[0]?.message,
  ).toMatch(/@message_de needs a @message beside it, for the other languages$/);
});

test('what every object inherits is no attribute of anything', async () => {
  for (const name of ['constructor', 'toString', 'hasOwnProperty']) {
    const { text } = (await engine.check(
      `${engine.defaultText}\npermit (principal, action, resource) when { principal has ${name} || resource has ${name} || context has ${name} || context.domain == "never.test" };`,
    )) as { text: string };
    await engine.activate(name, text);
    for (const caller of [
      { type: 'Anonymous' } as const,
      { type: 'Account', account: 'bcdfghjklmnpqrstvwx4', email: '', operator: false } as const,
    ]) {
      expect(engine.decide({ caller, action: 'list', kind: kindOf('Session') }).allowed).toBe(
        false,
      );
    }
  }
});
