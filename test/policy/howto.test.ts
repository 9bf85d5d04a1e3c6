import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { AccessRequest } from '../../kinds/access/accessrequest/access-request.js';
import { Invitation } from '../../kinds/access/invitation/invitation.js';
import { Client } from '../../kinds/apps/client/client.js';
import { actions, kinds } from '../../kinds/index.js';
import { Session } from '../../kinds/people/session/session.js';
import { type Engine, openEngine } from '../../policy/engine/engine.js';
import type { AuthorizationAttributes, EntityFacts } from '../../registry/authorizer.js';
import type { Caller } from '../../registry/kind.js';

const page = readFileSync(join(import.meta.dirname, '../../docs/how-to/policies.md'), 'utf8');
const recipes = page
  .split(/\n\n+/)
  .filter((block) => block.startsWith('    @id('))
  .map((block) => block.replaceAll(/^ {4}/gm, ''));

describe('the recipes of the how-to', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine(kinds, actions);
    engine.connect({
      peek: () => null,
      ofObject: () => undefined,
      operators: async () => [
        { domain: 'example.org', groups: ['operators'], account: 'bcdfghjklmnpqrstvwxz' },
      ],
    });
  });
  const person = (email: string, ...groups: string[]): Caller => ({
    type: 'Account',
    account: 'someone',
    email,
    operator: false,
    groups,
  });
  const browser: Caller = { type: 'Browser', interaction: 'a'.repeat(32) };
  const masters: Caller = { type: 'ClusterUser', user: 'root', groups: ['system:masters'] };
  const client = (name: string, facts: object = {}): [string, EntityFacts] => [
    `Client ${name}`,
    { firstParty: false, type: 'Public', host: '', groups: [], conditions: [], ...facts },
  ];
  const accessRequest = (name: string, group: string): [string, EntityFacts] => [
    `AccessRequest ${name}`,
    { group },
  ];
  const firstParty = (name: string) => new Map([client(name, { firstParty: true })]);
  const said: Record<
    string,
    [refused: AuthorizationAttributes, permitted: AuthorizationAttributes]
  > = {
    'requests-for-some-groups': [
      {
        caller: person('a@x.test'),
        action: 'create',
        kind: AccessRequest,
        name: 'ada-x',
        entities: new Map([accessRequest('ada-x', 'keepers')]),
      },
      {
        caller: person('a@x.test'),
        action: 'create',
        kind: AccessRequest,
        name: 'ada-x',
        entities: new Map([accessRequest('ada-x', 'printers')]),
      },
    ],
    'no-card-for-board': [
      { caller: person('a@x.test'), action: 'share', facts: { scope: 'card', client: 'board' } },
      { caller: person('a@x.test'), action: 'share', facts: { scope: 'card', client: 'notes' } },
    ],
    'unknown-to-board': [
      { caller: person('a@x.test'), action: 'share', facts: { scope: 'openid', client: 'board' } },
      { caller: person('a@x.test'), action: 'share', facts: { scope: 'openid', client: 'notes' } },
    ],
    'staff-only': [
      { caller: person('a@x.test'), action: 'signIn', facts: { client: 'wiki' } },
      { caller: person('a@x.test', 'staff'), action: 'signIn', facts: { client: 'wiki' } },
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
    'only-operators-skip-consent': [
      { caller: masters, action: 'update', kind: Client, name: 'c', entities: firstParty('c') },
      {
        caller: person('op@example.org', 'operators'),
        action: 'update',
        kind: Client,
        name: 'c',
        facts: { signedInRecently: true },
        entities: firstParty('c'),
      },
    ],
    'wiki-from-the-office': [
      { caller: browser, action: 'signIn', facts: { client: 'wiki', network: '192.0.2.1' } },
      { caller: browser, action: 'signIn', facts: { client: 'wiki', network: '10.1.2.3' } },
    ],
    'new-browser-by-passkey': [
      {
        caller: browser,
        action: 'signIn',
        facts: { client: 'bank', newBrowser: true, passkeys: 1 },
      },
      {
        caller: browser,
        action: 'signIn',
        facts: { client: 'bank', newBrowser: true, passkeys: 0 },
      },
    ],
    'sensitive-stays-here': [
      {
        caller: person('a@x.test'),
        action: 'share',
        facts: { scope: 'card', client: 'board' },
        entities: new Map([['Scope card', { sensitive: true, provider: 'bank' }], client('board')]),
      },
      {
        caller: person('a@x.test'),
        action: 'share',
        facts: { scope: 'card', client: 'board' },
        entities: new Map([
          ['Scope card', { sensitive: true, provider: 'bank' }],
          ...firstParty('board'),
        ]),
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
  const recently = { signedInRecently: true };
  /** The recipes that permit something, and what is refused without them. */
  const permits: Record<string, AuthorizationAttributes> = {
    'teams-manage-their-apps': {
      caller: person('a@x.test', 'team-a'),
      action: 'patch',
      kind: Client,
      name: 'c',
      entities: new Map([client('c', { groups: ['team-a', 'team-b'] })]),
      facts: recently,
    },
    'helpdesk-signs-people-out': {
      caller: person('a@x.test', 'helpdesk'),
      action: 'delete',
      kind: Session,
      name: 'bcdfghjklmnpqrstvwxz-x',
      entities: new Map([['Account bcdfghjklmnpqrstvwxz', { groups: ['staff'] }]]),
      facts: recently,
    },
    'leads-decide-for-staff': {
      caller: person('a@x.test', 'leads'),
      action: 'accessrequests/approve',
      kind: AccessRequest,
      name: 'bcdfghjklmnpqrstvwxz-x',
      entities: new Map([accessRequest('bcdfghjklmnpqrstvwxz-x', 'staff')]),
      facts: recently,
    },
    'apps-of-one-host-register': {
      caller: { type: 'Anonymous' },
      action: 'register',
      facts: { client: 'https://apps.example.org/client.json' },
      entities: new Map([
        client('https://apps.example.org/client.json', { host: 'apps.example.org' }),
      ]),
    },
    'sign-up-is-open': { caller: browser, action: 'signUp', facts: { client: 'notes' } },
    'leads-invite': {
      caller: person('a@x.test', 'leads'),
      action: 'create',
      kind: Invitation,
      facts: recently,
    },
  };

  /** The recipes that depend on the time: when they refuse, and when they do not. */
  const timed: Record<string, [AuthorizationAttributes, refusedAt: string, permittedAt: string]> = {
    'till-on-workdays': [
      { caller: browser, action: 'signIn', facts: { client: 'till' } },
      '2026-01-03T12:00:00Z',
      '2026-01-05T12:00:00Z',
    ],
  };

  test.each(Object.keys(timed))('%s may be put in force, and depends on the time', async (id) => {
    const text = `${engine.defaultText}\n${recipes.find((recipe) => recipe.includes(`@id("${id}")`))!}\n`;
    expect(await engine.check(text)).toMatchObject({ warnings: [] });
    await engine.activate('p-2', text);
    const [question, refusedAt, permittedAt] = timed[id]!;
    const decideAt = (time: string) => {
      const clock = jest.spyOn(Date, 'now').mockReturnValue(Date.parse(time));
      const decision = engine.decide(question);
      clock.mockRestore();
      return decision;
    };
    expect(decideAt(refusedAt)).toMatchObject({ allowed: false, reasons: [{ rule: id }] });
    expect(decideAt(permittedAt).allowed).toBe(true);
  });

  test('a member of a group does not get the Clients of another, nor a helper operators', async () => {
    const text = `${engine.defaultText}\n${recipes.join('\n')}`.replaceAll(
      /@id\("sign-up-[^;]*;/g,
      '',
    );
    await engine.activate('p-2', text);
    const { 'teams-manage-their-apps': team, 'helpdesk-signs-people-out': help } = permits;
    const other = new Map([client('c', { groups: ['team-b'] })]);
    const operator = new Map([['Account bcdfghjklmnpqrstvwxz', { groups: ['operators'] }]]);
    expect(engine.decide({ ...team!, entities: other }).allowed).toBe(false);
    expect(engine.decide({ ...help!, entities: operator })).toMatchObject({
      allowed: false,
      reasons: [{ rule: 'not-operators' }],
    });
  });

  test('are all known here', () => {
    expect(recipes.map((recipe) => /@id\("([^"]+)"\)/.exec(recipe)![1]).sort()).toEqual(
      [...Object.keys(said), ...Object.keys(permits), ...Object.keys(timed)].sort(),
    );
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

  test.each(Object.keys(permits).filter((id) => permits[id]!.facts === recently))(
    '%s permits changes only soon after a sign-in',
    async (id) => {
      const recipe = recipes.find((recipe) => recipe.includes(`@id("${id}")`))!;
      await engine.activate('p-3', `${engine.defaultText}\n${recipe}\n`);
      expect(engine.decide({ ...permits[id]!, facts: {} }).allowed).toBe(false);
    },
  );

  test('a policy that demands a passkey that no one can have is refused', async () => {
    for (const rule of [
      'forbid (principal, action == Action::"signIn", resource) unless { context.assurance == "phr" };',
      'forbid (principal, action == Action::"interactions/login", resource) unless { context has method && context.method == "Passkey" };',
      'forbid (principal, action == Action::"create", resource is Policy) unless { context.methods.contains("Passkey") };',
    ]) {
      expect(await engine.check(`${engine.defaultText}\n${rule}`)).toMatchObject({
        faults: [{ message: expect.stringMatching(/^no operator could create policies/) }],
      });
    }
  });
});
