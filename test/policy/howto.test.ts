import { beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { actions, kinds } from '../../kinds/index.js';
import { Invitation } from '../../kinds/invitation/invitation.js';
import { openEngine, type Engine } from '../../policy/engine.js';
import type { AuthorizationAttributes } from '../../registry/authorizer.js';
import type { Caller } from '../../registry/kind.js';

const page = readFileSync(join(import.meta.dirname, '../../docs/how-to/policies.md'), 'utf8');
const recipes = page
  .split(/\n\n+/)
  .filter((block) => block.startsWith('    @id('))
  .map((block) => block.replaceAll(/^ {4}/gm, ''));

describe('the recipes of the how-to', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine(kinds, actions, {
      operators: async () => [
        { domain: 'example.org', groups: ['operators'], account: 'bcdfghjklmnpqrstvwxz' },
      ],
    });
  });
  const person = (email: string, ...groups: string[]): Caller => ({
    type: 'Account',
    account: 'somebody',
    email,
    operator: false,
    groups,
  });
  const browser: Caller = { type: 'Browser', interaction: 'a'.repeat(32) };
  const said: Record<
    string,
    [refused: AuthorizationAttributes, permitted: AuthorizationAttributes]
  > = {
    'no-card-for-board': [
      { caller: person('a@x.test'), action: 'share', facts: { scope: 'card', client: 'board' } },
      { caller: person('a@x.test'), action: 'share', facts: { scope: 'card', client: 'notes' } },
    ],
    'unknown-to-board': [
      { caller: person('a@x.test'), action: 'share', facts: { scope: 'openid', client: 'board' } },
      { caller: person('a@x.test'), action: 'share', facts: { scope: 'openid', client: 'notes' } },
    ],
    'wiki-is-for-staff': [
      { caller: person('a@x.test'), action: 'signIn', facts: { client: 'wiki' } },
      { caller: person('a@x.test', 'staff'), action: 'signIn', facts: { client: 'wiki' } },
    ],
    'bank-by-passkey': [
      {
        caller: browser,
        action: 'signIn',
        facts: { client: 'bank', methods: ['Passkey'], assurance: 'urn:vestibule:acr:email' },
      },
      {
        caller: browser,
        action: 'signIn',
        facts: { client: 'bank', methods: ['Passkey'], assurance: 'phr' },
      },
    ],
    'passkey-where-there-is-one': [
      {
        caller: browser,
        action: 'signIn',
        facts: { client: 'notes', passkeys: 1, assurance: 'urn:vestibule:acr:email' },
      },
      {
        caller: browser,
        action: 'signIn',
        facts: { client: 'notes', passkeys: 0, assurance: 'urn:vestibule:acr:email' },
      },
    ],
    'sign-up-is-closed': [
      { caller: browser, action: 'signUp', facts: { client: 'notes', groups: ['staff'] } },
      { caller: browser, action: 'signUp', facts: { client: 'notes', groups: ['operators'] } },
    ],
    'staff-signs-up': [
      { caller: browser, action: 'signUp', facts: { client: 'notes', domain: 'x.test' } },
      { caller: browser, action: 'signUp', facts: { client: 'notes', domain: 'example.org' } },
    ],
    'sign-up-by-invitation': [
      { caller: browser, action: 'signUp', facts: { client: 'notes' } },
      { caller: browser, action: 'signUp', facts: { client: 'notes', invited: true } },
    ],
    'guests-sign-up': [
      { caller: browser, action: 'signUp', facts: { client: 'notes', groups: [] } },
      { caller: browser, action: 'signUp', facts: { client: 'notes', groups: ['invited'] } },
    ],
  };
  /** The recipes that permit something, and what is refused without them. */
  const permits: Record<string, AuthorizationAttributes> = {
    'sign-up-is-open': { caller: browser, action: 'signUp', facts: { client: 'notes' } },
    'leads-invite': {
      caller: person('a@x.test', 'leads'),
      action: 'create',
      kind: Invitation,
    },
  };

  test('are all known here', () => {
    expect(recipes.map((recipe) => /@id\("([^"]+)"\)/.exec(recipe)![1])).toEqual([
      ...Object.keys(said),
      ...Object.keys(permits),
    ]);
  });

  test.each(Object.keys(said))('%s may be put in force, and does what it says', async (id) => {
    const text = `${engine.defaultText}\n${recipes.find((recipe) => recipe.includes(`@id("${id}")`))!}\n`;
    expect(await engine.check(text)).toMatchObject({ warnings: [] });
    await engine.activate('p-2', text);
    const [refused, permitted] = said[id]!.map((question) => engine.decide(question));
    expect(refused).toMatchObject({
      allowed: false,
      reasons: [{ rule: id, message: expect.stringMatching(/\.$/) }],
    });
    expect(permitted!.allowed).toBe(true);
  });

  test.each(Object.keys(permits))('%s permits what is refused without it', async (id) => {
    const closed = engine.defaultText.replace(/@id\("anyone-may-sign-up"\)[^;]*;/, '');
    const text = `${closed}\n${recipes.find((recipe) => recipe.includes(`@id("${id}")`))!}\n`;
    expect(await engine.check(text)).toMatchObject({ warnings: [] });
    await engine.activate('p-2', closed);
    expect(engine.decide(permits[id]!).allowed).toBe(false);
    await engine.activate('p-3', text);
    expect(engine.decide(permits[id]!)).toMatchObject({ allowed: true, reasons: [{ rule: id }] });
  });

  test('a policy that demands a passkey that no one can have is refused', async () => {
    for (const rule of [
      'forbid (principal, action == Action::"signIn", resource) unless { context.assurance == "phr" };',
      'forbid (principal, action == Action::"interactions/login", resource) unless { context has method && context.method == "Passkey" };',
      'forbid (principal, action == Action::"create", resource is Policy) unless { context.methods.contains("Passkey") };',
    ])
      expect(await engine.check(`${engine.defaultText}\n${rule}`)).toMatchObject({
        faults: [{ message: expect.stringMatching(/^no operator could create policies/) }],
      });
  });
});
