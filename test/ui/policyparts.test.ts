import { describe, expect, test } from '@jest/globals';
import type { PolicyDecision } from '../../ui/api.js';
import { ApiError } from '../../ui/base/api/api.js';
import { routeOf } from '../../ui/console/base/route.js';
import { matchesSearch, queryOf, searchOf } from '../../ui/console/policy/decision-search.js';
import { completionsAt } from '../../ui/console/policy/policy-completion.js';
import { faultsOf } from '../../ui/console/policy/policy-faults.js';

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
  const now = Date.parse('2026-01-10T00:00:00Z');
  const decision = {
    spec: { client: 'wiki', input: { facts: {} } },
    status: {
      allowed: false,
      reasons: [{ rule: 'wiki-by-passkey', message: '' }],
      lastTimestamp: '2026-01-08T00:00:00Z',
    },
  } as unknown as PolicyDecision;
  const names = { client: (name: string) => (name === 'wiki' ? 'Team notes' : name) };
  const matches = (query: string): boolean =>
    matchesSearch(decision, searchOf(new URLSearchParams(query)), names, now);

  test.each([
    ['', true],
    ['app=WIKI', true],
    ['app=team', true],
    ['app=mail', false],
    ['rule=wiki-by', true],
    ['rule=wiki by passkey', true],
    ['rule=other', false],
    ['result=refused', true],
    ['result=allowed', false],
    ['days=7', true],
    ['days=1', false],
    ['app=wiki&result=allowed', false],
  ])('%j finds it: %s', (query, isFound) => {
    expect(matches(query)).toBe(isFound);
  });

  test('is in the address, without what is empty', () => {
    const search = searchOf(new URLSearchParams('person=a@b.test&rule= &days=7'));
    expect(queryOf(search)).toBe('?person=a%40b.test&days=7');
    expect(queryOf(searchOf(new URLSearchParams()))).toBe('');
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
