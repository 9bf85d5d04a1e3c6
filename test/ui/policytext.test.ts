import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { actions, kinds } from '../../kinds/index.js';
import { vocabularyOf } from '../../policy/model/vocabulary.js';
import { scan } from '../../policy/parse/limits.js';
import { defaultPolicy } from '../../policy/text/default-policy.js';
import { compare, toHunks } from '../../ui/policy/diff.js';
import { comparisonLink, decisionsLink, placeLink, routeOf } from '../../ui/policy/route.js';
import { rulesIn } from '../../ui/policy/rules.js';
import fc from '../support/fast-check.js';

const lines = (text: string): string[] => (text ? text.split('') : []);
const signs = { same: '', added: '+', removed: '-' };
const drawn = (before: string, after: string): string =>
  compare(lines(before), lines(after))
    .map(({ kind, text }) => `${signs[kind]}${text}`)
    .join(' ');

/** The length of the longest common part, the plain way. */
function longest(a: string[], b: string[]): number {
  if (a.length === 0 || b.length === 0) return 0;
  return a[0] === b[0]
    ? 1 + longest(a.slice(1), b.slice(1))
    : Math.max(longest(a.slice(1), b), longest(a, b.slice(1)));
}

describe('comparing two texts line by line', () => {
  test.each([
    ['abc', 'abc', 'a b c'],
    ['', 'ab', '+a +b'],
    ['ab', '', '-a -b'],
    ['', '', ''],
    ['abc', 'axc', 'a -b +x c'],
    ['abcabba', 'cbabac', '-a -b c -a b +a b a +c'],
    ['aab', 'ab', 'a -a b'],
    ['ab', 'aab', 'a +a b'],
    ['abxyab', 'ab', 'a b -x -y -a -b'],
  ])('%s to %s: %s', (before, after, rows) => {
    expect(drawn(before, after)).toBe(rows);
  });

  const some = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 8 });
  test('either text can be read back from it, and every line has its number', () => {
    fc.assert(
      fc.property(some, some, (before, after) => {
        const rows = compare(before, after);
        for (const [text, side, other] of [
          [before, 'before', 'added'],
          [after, 'after', 'removed'],
        ] as const) {
          const own = rows.filter(({ kind }) => kind !== other);
          expect(own.map((row) => row.text)).toEqual(text);
          expect(own.map((row) => row[side])).toEqual(text.map((_, i) => i + 1));
        }
        expect(rows.filter(({ kind }) => kind === 'same')).toHaveLength(longest(before, after));
      }),
    );
  });

  test('texts too long for the table differ as a whole', () => {
    const [before, after] = ['x', 'y'].map((letter) => [
      'same',
      ...Array.from({ length: 4_000 }, (_, i) => `${letter}${i}`),
      'end',
    ]) as [string[], string[]];
    const rows = compare(before, after);
    expect(rows.filter(({ kind }) => kind === 'same').map(({ text }) => text)).toEqual([
      'same',
      'end',
    ]);
    expect(rows).toHaveLength(8_002);
  });

  test('unchanged lines far from a difference are folded, one alone is not', () => {
    const folds = (before: string, after: string): string =>
      toHunks(compare(lines(before), lines(after)), 1)
        .map(({ folded, rows }) => (folded ? `(${rows.length})` : String(rows.length)))
        .join(' ');
    expect(folds('abcdefgh', 'abcdXfgh')).toBe('(3) 4 (2)');
    expect(folds('abcdefghi', 'aXcdefgYi')).toBe('4 (3) 4');
    expect(folds('abcdefg', 'aXcdeYg')).toBe('4 1 4');
    expect(folds('abc', 'abc')).toBe('(3)');
    expect(folds('abc', 'aXc')).toBe('4');
  });
});

describe('rules as they stand in the text', () => {
  const rule = (text: string) => rulesIn(text)[0]!;

  test('lines, comment and head', () => {
    expect(
      rule(
        '// ---- Part ----\n\n// Says why,\n// in two lines.\n@id("a") @message("x; // y")\nforbid (\n  principal is Account,\n  action in [Action::"get", Action::"clients/secret"],\n  resource == Scope::"e\\"m"\n) when { true };\n',
      ),
    ).toEqual({
      id: 'a',
      effect: 'forbid',
      first: 5,
      last: 10,
      comment: 'Says why, in two lines.',
      heading: 'Part',
      condition: 'when { true }',
      who: { is: 'type', type: 'Account' },
      does: {
        is: 'names',
        of: [
          { type: 'Action', id: 'get' },
          { type: 'Action', id: 'clients/secret' },
        ],
      },
      what: { is: 'names', of: [{ type: 'Scope', id: 'e"m' }] },
    });
    expect(rule('permit (principal, action, resource);')).toMatchObject({
      id: 'rule1',
      effect: 'permit',
      first: 1,
      last: 1,
      comment: '',
      who: { is: 'any' },
      does: { is: 'any' },
      what: { is: 'any' },
      condition: '',
    });
    expect(
      rule(
        '// ---- A headline ----\npermit (principal in Group::"x", action == Action::"get", resource is Account in Group::"y",);',
      ),
    ).toMatchObject({
      comment: '',
      heading: 'A headline',
      who: { is: 'names' },
      what: { is: 'other' },
    });
    expect(rule('@permit("(") permit (principal == ?principal, action, resource);')).toMatchObject({
      who: { is: 'other' },
    });
  });

  test('finds the rules of the policy where the service itself finds them', () => {
    const text = defaultPolicy(vocabularyOf(kinds, actions));
    const found = rulesIn(text);
    expect(found.map(({ first }) => first)).toEqual(
      scan(text).starts.map((start) => text.slice(0, start).split('\n').length),
    );
    expect(
      found.filter(({ who, does, what }) => [who, does, what].some(({ is }) => is === 'other')),
    ).toEqual([]);
    expect(text.split('\n')[found[0]!.last - 1]).toBe(');');
  });

  test('every action and kind of that policy has a word for people', () => {
    const words = Object.keys(
      JSON.parse(readFileSync('ui/messages/en/decisions.json', 'utf8')) as object,
    );
    const { actions: known, groups, types } = vocabularyOf(kinds, actions);
    const unsaid = [
      ...[...known.keys(), ...groups.keys()].map((name) => `act.${name}`),
      ...kinds.map(({ kind }) => `kind.${kind}`),
    ].filter((id) => !words.includes(id));
    expect(unsaid).toEqual([]);
    expect(types.size).toBeGreaterThan(10);
  });
});

test('the address names the view, and takes any rule', () => {
  expect(routeOf('')).toEqual({});
  expect(routeOf('#p-3')).toEqual({ policy: 'p-3' });
  expect(routeOf(placeLink('p-3', 'line-4'))).toEqual({ policy: 'p-3', at: 'line-4' });
  expect(routeOf(placeLink(undefined, 'text'))).toEqual({ at: 'text' });
  expect(routeOf(comparisonLink('p-1', 'p-2'))).toEqual({ compare: ['p-1', 'p-2'] });
  expect(routeOf('#compare')).toEqual({ compare: ['', ''] });
  const odd = 'a &=#%+ "rule"';
  expect(routeOf(decisionsLink(odd))).toEqual({ decisions: odd });
  expect(routeOf(`#${new URLSearchParams({ 'p-3': '', rule: odd })}`)).toEqual({
    policy: 'p-3',
    rule: odd,
  });
});
