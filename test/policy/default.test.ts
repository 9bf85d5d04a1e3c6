import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { kinds as present, actions as served } from '../../kinds/index.js';
import type { AccountCaller } from '../../kinds/signin/caller.js';
import { type Engine, openEngine } from '../../policy/engine/engine.js';
import { defineAction } from '../../registry/action.js';
import type { AuthorizationAttributes } from '../../registry/authorizer.js';
import type { AnyKind, Caller } from '../../registry/kind.js';
import { actions, kindOf, kinds } from './kinds.js';

type Role = 'anyone' | 'bound' | 'account' | 'owner' | 'operator' | 'owningOperator';

const reading = 'get list watch';
const everyVerb = `${reading} create patch update delete`;

/**
 * The default policy (docs/design/api.md#default-policy), a row a kind; who has several roles may
 * do what any of them may.
 */
const table: Record<string, Partial<Record<Role, string>>> = {
  Interaction: {
    bound:
      'get watch delete interactions/emailchallenge interactions/passkeychallenge interactions/login interactions/account interactions/decision interactions/passkeys interactions/consent',
    operator: 'list watch',
  },
  Session: {
    owner: `${reading} delete deletecollection`,
    operator: `${reading} delete deletecollection`,
  },
  Account: {
    owner: `${reading} patch update delete accounts/emailchallenge accounts/email accounts/passkeychallenge accounts/export accounts/apps accounts/recovery`,
    operator: `${reading} create patch update delete accounts/disable accounts/enable accounts/recovery`,
    owningOperator: 'accounts/testmail',
  },
  Passkey: {
    account: 'create',
    owner: `${reading} patch update delete`,
    operator: 'get list watch delete',
  },
  Recovery: {
    anyone: 'recoveries/cancel',
    owner: `${reading} delete`,
    operator: `${reading} delete`,
  },
  Grant: {
    owner: `${reading} patch update delete deletecollection`,
    operator: `${reading} patch update delete deletecollection`,
  },
  AccessRequest: {
    account: 'create',
    owner: `${reading} delete`,
    operator: `${reading} delete accessrequests/approve accessrequests/deny`,
  },
  PolicyDecision: { owner: reading, operator: reading },
  Policy: { anyone: reading, operator: 'create' },
  ClaimsReview: { owner: reading, operator: reading },
  MockMessage: { anyone: `${reading} delete deletecollection` },
  Client: { operator: `${everyVerb} clients/secret` },
  ClaimsProvider: { account: reading, operator: everyVerb },
  Invitation: {
    account: 'invitations/accept',
    operator: `${reading} create delete invitations/mail`,
  },
  Appearance: { anyone: reading, operator: 'patch update appearances/mails' },
  Settings: { operator: `${reading} patch update` },
  Replica: { operator: reading },
  HourlyCount: { operator: reading },
};

/** Returns the row of a kind: what is not said is the right of operators alone. */
const rowOf = (kind: string): Partial<Record<Role, string>> =>
  table[kind] ?? { operator: everyVerb };

const [me, other] = ['bcdfghjklmnpqrstvwxz', 'zxwvtsrqpnmlkjhgfdcb'];
const [mine, another] = ['a'.repeat(32), 'b'.repeat(32)];
const masters = ['system:masters', 'system:authenticated'];
const collector = 'system:serviceaccount:kube-system:generic-garbage-collector';

const person = (operator: boolean): Caller => ({
  type: 'Account',
  account: me,
  email: 'me@example.test',
  operator,
  methods: ['EmailCode'],
  authenticated: 1,
  recentUntil: Number.MAX_SAFE_INTEGER,
});

const passkey = { methods: ['Passkey'], operatorsHavePasskeys: true };
const fullPasskey = { operatorsHaveFullPasskeys: true, assurance: 'phr' };

/** How an operator signed in, and whether that is enough to write. */
const signIns: readonly (readonly [string, Partial<AccountCaller>, boolean])[] = [
  ['long ago', { recentUntil: 0 }, false],
  ['long ago by passkey', { ...passkey, ...fullPasskey, recentUntil: 0 }, false],
  ['by mail while an operator has a passkey', { operatorsHavePasskeys: true }, false],
  [
    'by a lesser passkey while one counts in full',
    { ...passkey, ...fullPasskey, assurance: 'urn:vestibule:acr:email' },
    false,
  ],
  ['by passkey while none counts in full', passkey, true],
  ['by a passkey that counts in full', { ...passkey, ...fullPasskey }, true],
];

const subjects: Record<string, Caller> = {
  visitor: { type: 'Anonymous' },
  browser: { type: 'Browser', interaction: mine },
  person: person(false),
  operator: person(true),
  machine: { type: 'ClusterUser', user: 'ada', groups: ['system:authenticated', 'operators'] },
  master: { type: 'ClusterUser', user: 'root', groups: masters },
  controller: { type: 'ClusterUser', user: 'system:kube-controller-manager', groups: [] },
  collector: { type: 'ClusterUser', user: collector, groups: [] },
  client: { type: 'Client', client: 'notes' },
};

const ownedBy = ({ owner }: AnyKind, account: string): string =>
  owner === 'metadata.name' ? account : `${account}-x`;

/** What may be asked about a kind: an object, the whole collection, one account's range. */
const targets = (
  kind: AnyKind,
): Record<string, Pick<AuthorizationAttributes, 'name' | 'owner'>> => ({
  'the collection': {},
  'my object': { name: kind.heldBy ? mine : ownedBy(kind, me) },
  'an object of another': { name: kind.heldBy ? another : ownedBy(kind, other) },
  ...(kind.owner && { 'my range': { owner: me }, 'the range of another': { owner: other } }),
});

const isMine = ({ owner, heldBy }: AnyKind, target: string): boolean =>
  (owner !== undefined || heldBy !== undefined) && target.startsWith('my ');

function rolesOf(subject: string, kind: AnyKind, target: string): Role[] {
  const roles: Role[] = ['anyone'];
  if (['person', 'operator'].includes(subject)) {
    roles.push('account', ...(kind.owner && isMine(kind, target) ? ['owner' as const] : []));
  }
  if (['operator', 'master'].includes(subject)) roles.push('operator');
  if (subject === 'operator' && kind.owner && isMine(kind, target)) roles.push('owningOperator');
  if (subject === 'browser' && kind.heldBy && isMine(kind, target)) roles.push('bound');
  return roles;
}

/** No one approves their own request. */
const isOwnApproval = (roles: readonly Role[], action: string): boolean =>
  roles.includes('owner') && action === 'accessrequests/approve';

const collects = (subject: string, kind: AnyKind, action: string, metadataOnly: boolean): boolean =>
  ['collector', 'controller'].includes(subject) &&
  (action === 'delete'
    ? kind.owner !== undefined && kind.owner !== 'metadata.name'
    : metadataOnly && reading.split(' ').includes(action) && kind.verbs.includes('delete'));

const asked = (kind: AnyKind, all: readonly AnyKind[], every: typeof actions): string[] => [
  ...new Set([
    ...all.find((one) => one.kind === kind.kind)!.verbs,
    ...every
      .filter((action) => action.of.kind === kind.kind)
      .map((action) => `${kind.resource}/${action.subresource}`),
  ]),
];

describe('the default policy', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await openEngine(kinds, actions);
    await engine.activate('p-1', engine.defaultText);
  });

  test('may be put in force', async () => {
    const checked = await engine.check(engine.defaultText);
    expect(checked).toMatchObject({ warnings: [] });
    expect(checked).not.toHaveProperty('faults');
  });

  test('says what each of its rules is for', async () => {
    const checked = await engine.check(engine.defaultText);
    const rules = 'rules' in checked ? checked.rules : [];
    expect(rules.length).toBeGreaterThan(20);
    for (const { id } of rules) expect(id).not.toMatch(/^rule\d+$/);
  });

  test('is about kinds that exist', () => {
    expect(kinds.map(({ kind }) => kind)).toEqual(expect.arrayContaining(Object.keys(table)));
  });

  describe.each(kinds.map(({ kind }) => kind))('%s', (name) => {
    const kind = kindOf(name);
    test.each(Object.keys(subjects))('as the table says for the %s', (subject) => {
      for (const action of asked(kind, kinds, actions)) {
        for (const [target, where] of Object.entries(targets(kind))) {
          for (const metadataOnly of [false, true]) {
            const roles = rolesOf(subject, kind, target);
            const wanted =
              !isOwnApproval(roles, action) &&
              (roles.some((role) => rowOf(name)[role]?.split(' ').includes(action)) ||
                collects(subject, kind, action, metadataOnly));
            const { allowed } = engine.decide({
              caller: subjects[subject]!,
              action,
              kind,
              ...where,
              facts: { metadataOnly },
            });
            expect(`${subject} ${action} ${target}: ${allowed}`).toBe(
              `${subject} ${action} ${target}: ${wanted}`,
            );
          }
        }
      }
    });
  });

  describe.each(signIns)('to an operator who signed in %s', (_how, signedIn, isEnough) => {
    const operator = { ...person(true), ...signedIn } as Caller;
    test.each(kinds.map(({ kind }) => kind))('gives what operators may do with the %s', (name) => {
      const kind = kindOf(name);
      const may = (role: Role): string[] => rowOf(name)[role]?.split(' ') ?? [];
      for (const action of may('operator')) {
        for (const [target, where] of Object.entries(targets(kind))) {
          const isForAll = [...may('account'), ...may('anyone')].includes(action);
          if (isForAll || isMine(kind, target)) continue;
          const { allowed } = engine.decide({ caller: operator, action, kind, ...where });
          const isAllowed = isEnough || `${reading} appearances/mails`.includes(action);
          expect(`${action} ${target}: ${allowed}`).toBe(`${action} ${target}: ${isAllowed}`);
        }
      }
    });
  });

  describe('to an operator who may do everything but signed in long ago', () => {
    const clear = defineAction({
      of: kindOf('Group'),
      subresource: 'clear',
      verb: 'create',
      kind: 'GroupClearing',
      description: 'An action that no rule lists.',
      spec: z.object({}),
      run: async () => undefined,
    });
    const all = [...actions, clear];
    let open: Engine;
    beforeAll(async () => {
      open = await openEngine(kinds, all);
      const everything = 'permit (principal in Group::"operators", action, resource);';
      await open.activate('p-1', `${open.defaultText}\n@id("all") ${everything}`);
    });

    /** What operators may change without a sign-in soon before, of everyone. */
    const isOpen = (action: string, name: string, isCollection: boolean): boolean =>
      name === 'MockMessage' ||
      action === 'recoveries/cancel' ||
      (action === 'create' &&
        isCollection &&
        (rowOf(name).account ?? '').split(' ').includes('create'));
    const reads = new Set([
      ...reading.split(' '),
      ...all
        .filter(({ verb }) => verb === 'get')
        .map(({ of, subresource }) => `${of.resource}/${subresource}`),
    ]);

    test.each(kinds.map(({ kind }) => kind))('gives no change of a %s but of their own', (name) => {
      const kind = kindOf(name);
      const caller = { ...person(true), recentUntil: 0 } as Caller;
      for (const action of asked(kind, kinds, all)) {
        for (const [target, where] of Object.entries(targets(kind))) {
          const isCollection = target === 'the collection';
          const isOwn = kind.owner !== undefined && isMine(kind, target);
          const wanted = reads.has(action) || isOwn || isOpen(action, name, isCollection);
          const { allowed } = open.decide({ caller, action, kind, ...where });
          if (isOwn && action === 'accessrequests/approve') continue;
          expect(`${action} ${target}: ${allowed}`).toBe(`${action} ${target}: ${wanted}`);
        }
      }
    });

    test('gives no action that no rule lists', () => {
      const ask = (recentUntil: number) =>
        open.decide({
          caller: { ...person(true), recentUntil } as Caller,
          action: 'groups/clear',
          kind: kindOf('Group'),
          name: 'staff',
        });
      expect(ask(0)).toMatchObject({
        allowed: false,
        reasons: [{ rule: 'operators-sign-in-again' }],
      });
      expect(ask(Number.MAX_SAFE_INTEGER).allowed).toBe(true);
    });
  });

  test('lets anyone sign up, sign in, share, and reach what is no object', () => {
    const browser = subjects['browser']!;
    for (const action of ['discovery', 'health', 'page', 'asset', 'provider']) {
      for (const caller of Object.values(subjects)) {
        expect(engine.decide({ caller, action, facts: { path: '/x' } }).allowed).toBe(true);
      }
    }
    expect(
      engine.decide({
        caller: browser,
        action: 'signUp',
        facts: { client: 'notes', methods: ['EmailCode'], domain: 'example.test' },
      }).allowed,
    ).toBe(true);
    expect(
      engine.decide({ caller: browser, action: 'signIn', facts: { client: 'notes', account: me } })
        .allowed,
    ).toBe(true);
    expect(
      engine.decide({
        caller: browser,
        action: 'share',
        facts: { scope: 'email', client: 'notes', account: me },
      }).allowed,
    ).toBe(true);
  });

  test('permits nothing it has not heard of', () => {
    expect(
      engine.decide({
        caller: subjects['operator']!,
        action: 'interactions/fly',
        kind: kindOf('Account'),
        name: me,
      }),
    ).toMatchObject({ allowed: false, reasons: [{ rule: 'default' }] });
    expect(engine.decide({ caller: subjects['operator']!, action: 'fly' }).allowed).toBe(false);
  });
});

test('over the kinds that are served it may be put in force', async () => {
  const engine = await openEngine(present, served);
  expect(await engine.check(engine.defaultText)).toMatchObject({ warnings: [] });
});
