import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Engine, openEngine } from '../../policy/engine/engine.js';
import { contextAttributes } from '../../policy/model/context-attributes.js';
import { vocabularyOf } from '../../policy/model/vocabulary.js';
import { suggestionFor } from '../../policy/parse/name-suggestion.js';
import { actions, kinds } from './kinds.js';

const vocabulary = vocabularyOf(kinds, actions);
let engine: Engine;
beforeAll(async () => {
  engine = await openEngine(kinds, actions);
});

const when = (condition: string): string =>
  `permit (principal is Account, action, resource) when { ${condition} };`;

describe('the nearest name is suggested, by case and by letters', () => {
  test.each([
    ['permit (principal, action == Action::"signin", resource);', 'Action::"signIn"'],
    ['permit (principal, action == Action::"SIGNIN", resource);', 'Action::"signIn"'],
    [
      'permit (principal, action in [Action::"get", Action::"singIn"], resource);',
      'Action::"signIn"',
    ],
    ['permit (principal, action == Action::"signup", resource);', 'Action::"signUp"'],
    [
      'permit (principal, action == Action::"accounts/Disabled", resource);',
      'Action::"accounts/disable"',
    ],
    ['permit (principal, action in Action::"Writes", resource);', 'Action::"write"'],
    ['permit (principal, action in Action::"account/*", resource);', 'Action::"accounts/*"'],
    [when('action == Action::"Share"'), 'Action::"share"'],
    ['permit (principal is account, action, resource);', 'Account'],
    ['permit (principal == Acount::"x", action, resource);', 'Account'],
    ['permit (principal, action, resource is accessrequest);', 'AccessRequest'],
    [when('principal in group::"staff"'), 'Group'],
    [when('context.signedinRecently'), 'signedInRecently'],
    [when('context.timeofDay == "x"'), 'timeOfDay'],
    [when('principal.Groups.contains("x")'), 'groups'],
    [when('principal.group.contains("x")'), 'groups'],
  ])('%s', async (text, name) => {
    const checked = await engine.check(text);
    const [fault] = 'faults' in checked ? checked.faults : [];
    expect(fault!.message).toMatch(/; did you mean `.*`\?$/s);
    expect(fault!.message).toContain(`; did you mean \`${name}\`?`);
  });

  test.each([
    ['permit (principal, action == Action::"teleport", resource);', 'unrecognized action'],
    ['permit (principal is Elephant, action, resource);', 'unrecognized entity type'],
    [when('context.elephant'), 'not found'],
    [when('principal.elephant == "x"'), 'not found'],
  ])('%s suggests none', async (text, reason) => {
    const checked = await engine.check(text);
    const [fault] = 'faults' in checked ? checked.faults : [];
    expect(fault!.message).toContain(reason);
    expect(fault!.message).not.toContain('did you mean');
  });
});

test('every name is found in any case, and with a letter too many', () => {
  const named = (message: string, names: Iterable<string>, print = (name: string) => name) =>
    [...names].flatMap((name) =>
      [name.toLowerCase(), name.toUpperCase(), `${name}x`].map((word) => ({
        found: suggestionFor(message.replace('NAME', word), vocabulary),
        wanted: `did you mean \`${print(name)}\`?`,
      })),
    );
  const all = [
    ...named(
      'unrecognized action `Action::"NAME"`',
      [...vocabulary.actions.keys(), ...vocabulary.groups.keys()],
      (name) => `Action::"${name}"`,
    ),
    ...named('unrecognized entity type `NAME`', vocabulary.types.keys()),
    ...named(
      'attribute `NAME` in context for Action::"get" not found',
      Object.keys(contextAttributes),
    ),
    ...[...vocabulary.types].flatMap(([type, { attributes }]) =>
      named(`attribute \`NAME\` on entity type \`${type}\` not found`, Object.keys(attributes)),
    ),
  ];
  expect(all.length).toBeGreaterThan(200);
  expect(all.filter(({ found, wanted }) => found !== wanted)).toEqual([]);
});
