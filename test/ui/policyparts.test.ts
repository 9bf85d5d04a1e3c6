import { describe, expect, test } from '@jest/globals';
import { ApiError } from '../../ui/base/api/api.js';
import { routeOf } from '../../ui/console/base/route.js';
import { searchOf } from '../../ui/console/policy/decision-search.js';
import { completionsAt } from '../../ui/console/policy/policy-completion.js';
import { faultsOf } from '../../ui/console/policy/policy-faults.js';
import { type StarterName, starters, withStarter } from '../../ui/console/policy/starters.js';
import { rulesIn } from '../../ui/policy/rules.js';

const labelsAt = (line: string, hasToBegin?: boolean): string[] =>
  (completionsAt(line, hasToBegin)?.options ?? []).map(({ label }) => label);

describe('the names that can follow', () => {
  test.each([
    ['  action == Action::"', 'signIn', 'context'],
    ['  action in [Action::"read", Action::"acc', 'accounts/disable', 'permit'],
    ['when { context.', 'signedInRecently', 'owner'],
    ['when { context has ', 'client', 'Account'],
    ['when { resource.o', 'owner', 'signedInRecently'],
    ['  principal is A', 'Account', 'permit'],
    ['per', 'permit', 'signedInRecently'],
  ])('%s is %s, and not %s', (line, one, other) => {
    expect(labelsAt(line)).toContain(one);
    expect(labelsAt(line)).not.toContain(other);
  });

  test('a name begins where one began to type it', () => {
    expect(completionsAt('when { context.sign')!.from).toBe('when { context.'.length);
  });

  test.each(['// permit (per', '@message("per', '@id', 'true) // context.'])(
    'there are none in %s',
    (line) => {
      expect(completionsAt(line)).toBeUndefined();
      expect(completionsAt(line, false)).toBeUndefined();
    },
  );

  test('after a space there are words only if they were asked for', () => {
    expect(completionsAt('permit (principal, ')).toBeUndefined();
    expect(labelsAt('permit (principal, ', false)).toContain('action');
  });
});

describe('the faults of a text', () => {
  const refusalOf = (code: number, ...messages: string[]): ApiError =>
    new ApiError(code, {
      kind: 'Status',
      details: { causes: messages.map((message) => ({ field: 'spec.cedar', message })) },
    } as unknown as ConstructorParameters<typeof ApiError>[1]);

  test('have the position that the service gave', () => {
    expect(
      faultsOf(
        refusalOf(422, 'Invalid value: line 3, column 12: unexpected\ntoken', 'Required value'),
      ),
    ).toEqual([
      { message: 'unexpected\ntoken', position: { line: 3, column: 12 } },
      { message: 'Required value' },
    ]);
  });

  test('are only those of a text that is invalid', () => {
    expect(faultsOf(refusalOf(403, 'Invalid value: line 3, column 12: x'))).toEqual([]);
  });
});

describe('a search for decisions', () => {
  const reference = '01a22ee4-a066-7db2-8f49-185ec13c0294';
  const refused = ['status.outcome!=Done'];
  const changes = [
    ...['get', 'list', 'watch'].map((verb) => `spec.action!=${verb}`),
    'spec.principal!=Browser',
  ];

  test.each([
    ['', refused],
    ['person=kq2vpn4d7rbx8mzc5tjw', ['spec.account=kq2vpn4d7rbx8mzc5tjw', ...refused]],
    ['object=Group/staff', ['spec.resource.kind=Group', 'spec.resource.name=staff', ...refused]],
    ['app=wiki', ['spec.client=wiki', ...refused]],
    ['rule=wiki by passkey', ['status.reasons.rule=wiki-by-passkey', ...refused]],
    ['result=any', changes],
    ['result=allowed', ['status.outcome=Done', ...changes]],
    ['result=any&reads=any', []],
    [`find=${reference}`, [`status.request.auditID=${reference}`]],
  ])('%j selects %j', async (query, selectors) => {
    const found = await searchOf(new URLSearchParams(query), undefined);
    expect(found).toEqual({ words: '', selectors });
  });

  test('words that the service cannot select by are left to the rows', async () => {
    const { words } = await searchOf(new URLSearchParams('find=team notes'), undefined);
    expect(words).toBe('team notes');
  });
});

describe('starters', () => {
  const one = { id: 'a"b', name: 'A "b"' };
  const chosen = () => one;

  test.each(Object.keys(starters) as StarterName[])('%s writes one rule, quoted', (name) => {
    const text = withStarter('permit (principal, action, resource);\n', name, chosen);
    const rules = rulesIn(text);
    expect(rules).toHaveLength(2);
    if (name === 'members') return;
    const again = rulesIn(withStarter(text, name, chosen));
    expect(again[2]!.id).toBe(`${rules[1]!.id}-2`);
  });
});

test('the parts hide no page of a kind', () => {
  expect(routeOf('/console/policy', '').view).toBe('policy');
  expect(routeOf('/console/decisions', '').view).toBe('decisions');
  expect(routeOf('/console/policy/p-1', '').view).toBe('absent');
  expect(routeOf('/console/policies', '').view).toBe('list');
  expect(routeOf('/console/policies/p-1', '').view).toBe('object');
  expect(routeOf('/console/policydecisions', '').view).toBe('list');
});
