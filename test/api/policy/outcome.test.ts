import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { kinds } from '../../../kinds/index.js';
import { entityAttributes } from '../../../policy/model/entity-attributes.js';
import { mailTo, signIn } from '../../support/people/signin.js';
import { type Answer, Pending, type Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const flags = ['--operators', 'op@example.test', '--limit-factor', '1000'];
const soon = new Date(Date.now() + 86_400_000).toISOString();

/** A rule that forbids nothing that is asked here. */
const nothing = 'forbid (principal, action == Action::"delete", resource == Group::"never");';

/** Whose address the tests change. */
const [leaver, staff] = ['leaver@example.test', 'staff@example.test'];

const client = (more: object = {}) => ({
  displayName: 'An app',
  type: 'Public',
  redirectURIs: ['https://app.example.test/callback'],
  ...more,
});

/** Valid specs of the kinds that have a creation, by resource; `n` makes unique values differ. */
const specs: Record<string, (n: number) => object> = {
  clients: () => client(),
  claimsproviders: (n) => ({
    displayName: 'Cards',
    reviewURI: 'https://cards.example.test/',
    scopes: [{ name: `card${n}`, title: 'Card', description: 'Your card.', claims: [] }],
  }),
  audiences: (n) => ({
    identifier: `https://billing${n}.example.test`,
    displayName: 'Billing',
    scopes: [{ name: 'read', title: 'Read', description: 'Read invoices.' }],
  }),
  groups: () => ({ displayName: 'A group', members: [] }),
  invitations: (n) => ({ email: `guest${n}@example.test` }),
  accounts: (n) => ({ email: `new${n}@example.test` }),
  accessrequests: (n) => ({ group: `group${n}`, reason: 'A review.', until: soon }),
};

/** Kinds with a creation of their own test, and why the table has none. */
const elsewhere: Record<string, string> = {
  policies: 'a creation of any name, below',
  passkeys: 'their names and facts are those of the caller',
};

type Send = (tab: Tab, resource: string, name: string, spec: object) => Pending;

const applied = (resource: string, name: string, spec: object) => {
  const { kind } = kinds.find((kind) => kind.resource === resource)!;
  const apiVersion = 'id.vestibule.org/v1beta1';
  return {
    headers: { 'content-type': 'application/apply-patch+yaml' },
    body: JSON.stringify({ apiVersion, kind, metadata: { name }, spec }),
  };
};

/** Every way to create an object of a name. */
const creations: Record<string, Send> = {
  POST: (tab, resource, name, spec) => tab.post(resource, { metadata: { name }, spec }),
  'a dry run': (tab, resource, name, spec) =>
    tab.post(`${resource}?dryRun=All`, { metadata: { name }, spec }),
  apply: (tab, resource, name, spec) =>
    tab.send(
      'PATCH',
      `/apis/id.vestibule.org/v1beta1/${resource}/${name}?fieldManager=t`,
      applied(resource, name, spec),
    ),
  'a forced apply': (tab, resource, name, spec) =>
    tab.send(
      'PATCH',
      `/apis/id.vestibule.org/v1beta1/${resource}/${name}?fieldManager=t&force=true`,
      applied(resource, name, spec),
    ),
};

/** Every way to change an object, here its whole spec. */
const changes: Record<string, Send> = {
  PUT: (tab, resource, name, spec) => tab.put(`${resource}/${name}`, { ...envelope, spec }),
  'a merge patch': (tab, resource, name, spec) => tab.patch(`${resource}/${name}`, { spec }),
  'a JSON patch': (tab, resource, name, spec) =>
    tab.patch(`${resource}/${name}`, [{ op: 'replace', path: '/spec', value: spec }], {
      headers: { 'content-type': 'application/json-patch+json' },
    }),
  apply: (tab, resource, name, spec) =>
    tab.send(
      'PATCH',
      `/apis/id.vestibule.org/v1beta1/${resource}/${name}?fieldManager=t&force=true`,
      applied(resource, name, spec),
    ),
};
/** Set by each change to what a PUT needs beside the spec. */
let envelope: object = {};

/**
 * A fact of an object that a rule forbids: its condition, and the spec that has it. `starts` is what
 * the object is before it is changed.
 */
interface ForbiddenFact {
  readonly resource: string;
  readonly condition: string;
  readonly spec: object;
  readonly starts?: object;
}

const facts: Record<string, ForbiddenFact> = {
  'Client groups': {
    resource: 'clients',
    condition: 'resource.groups.contains("finance")',
    spec: client({ groups: ['finance'] }),
    starts: client(),
  },
  'Client firstParty': {
    resource: 'clients',
    condition: 'resource.firstParty',
    spec: client({ firstParty: true }),
    starts: client(),
  },
  'Client type': {
    resource: 'clients',
    condition: 'resource.type == "Confidential"',
    spec: client({ type: 'Confidential' }),
    starts: client(),
  },
  'Client host': {
    resource: 'clients',
    condition: 'resource.host == "bank.example.test"',
    spec: client({ homepageURI: 'https://bank.example.test/' }),
    starts: client(),
  },
  'Client conditions': {
    resource: 'clients',
    condition: 'resource != Client::"*" && !resource.conditions.contains("Ready")',
    spec: client({ type: 'Confidential' }),
    starts: client(),
  },
  'AccessRequest group': {
    resource: 'accessrequests',
    condition: 'resource.group == "finance"',
    spec: { group: 'finance', reason: 'A review.', until: soon },
  },
  'Account emailDomain': {
    resource: 'accounts',
    condition: 'resource.emailDomain == "bank.test"',
    spec: { email: 'x@bank.test' },
  },
  'Account groups': {
    resource: 'accounts',
    condition: 'resource in Group::"listed"',
    spec: { email: 'listed@example.test' },
  },
  'Account created': {
    resource: 'accounts',
    condition: 'resource.created > datetime("2020-01-01")',
    spec: { email: 'young@example.test' },
  },
  'Account passkeys': {
    resource: 'accounts',
    condition: 'resource != Account::"*" && resource.passkeys < 1',
    spec: { email: 'bare@example.test' },
  },
};

describe.each(stores)('a change is authorized as it becomes, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let lead: Tab;
  let first: string;
  let count = 0;
  const next = () => (count += 1);

  beforeAll(async () => {
    service = await startTest({ store, flags });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
    first = (await operator.get('policies/p-1').is(200)).body.spec.cedar;
    for (const [name, members] of [
      ['leads', ['lead@example.test']],
      ['listed', ['listed@example.test']],
    ] as const) {
      await operator
        .post('groups', { metadata: { name }, spec: { displayName: name, members } })
        .is(201);
    }
    lead = (await signIn(service, 'lead@example.test')).tab;
  });

  /** Lets leads do everything except what `rule` forbids. */
  const forbid = async (rule: string) => {
    const cedar = `${first}
@id("leads") @message("Leads may.") permit (principal in Group::"leads", action, resource);
@id("not-this") @message("Not this one.") ${rule}`;
    await operator.post('policies', { spec: { cedar } }).is(201);
  };

  const refused = async (answer: Pending) =>
    expect((await answer.fails(403, 'Forbidden')).message).toContain('Not this one.');

  test('the tables have every kind that can be created, and every fact of an object', () => {
    const creatable = kinds.filter(({ verbs }) => verbs.includes('create'));
    expect([...Object.keys(specs), ...Object.keys(elsewhere)].sort()).toEqual(
      creatable.map(({ resource }) => resource).sort(),
    );
    const objects = Object.entries(entityAttributes).filter(([type]) =>
      kinds.some(({ kind }) => kind === type),
    );
    expect(Object.keys(facts).sort()).toEqual(
      objects
        .flatMap(([type, attributes]) => Object.keys(attributes).map((name) => `${type} ${name}`))
        .sort(),
    );
  });

  const named = kinds.filter(
    ({ resource, nameSource, verbs }) =>
      nameSource === undefined && verbs.includes('create') && resource in specs,
  );
  describe.each(named.map(({ kind, resource, verbs }) => [kind, { resource, verbs }] as const))(
    'a rule about one %s',
    (kind, { resource, verbs }) => {
      const ways = Object.keys(creations).filter(
        (way) => verbs.includes('patch') || !way.endsWith('apply'),
      );
      test.each(ways)('holds at its birth by %s', async (way) => {
        const name = `x${next()}`;
        const spec = specs[resource]!(next());
        await forbid(
          `forbid (principal in Group::"leads", action, resource == ${kind}::"${name}");`,
        );
        await refused(creations[way]!(lead, resource, name, spec));
        await operator.get(`${resource}/${name}`).fails(404, 'NotFound');
        await creations[way]!(lead, resource, `${name}-other`, spec).is(
          way === 'a dry run' || way === 'POST' || way.endsWith('apply') ? 201 : 200,
        );
      });
    },
  );

  test('a rule about the next Policy holds at its creation', async () => {
    await forbid(nothing);
    const { body } = await operator.get('policies').is(200);
    const numbers = body.items.map((item: any) => Number(item.metadata.name.replace('p-', '')));
    const following = `p-${Math.max(...numbers) + 2}`;
    await forbid(
      `forbid (principal in Group::"leads", action == Action::"create", resource == Policy::"${following}");`,
    );
    await refused(lead.post('policies', { spec: { cedar: first } }));
    await operator.get(`policies/${following}`).fails(404, 'NotFound');
  });

  describe.each(Object.keys(facts))('a rule about the fact %s', (fact) => {
    const { resource, condition, spec, starts } = facts[fact]!;
    const { kind, nameSource } = kinds.find((kind) => kind.resource === resource)!;
    const rule = `forbid (principal in Group::"leads", action in [Action::"create", Action::"update", Action::"patch"], resource is ${kind})
when { ${condition} };`;
    const ways: Record<string, (name: string) => Pending> = nameSource
      ? {
          POST: () => lead.post(resource, { spec }),
          'a dry run': () => lead.post(`${resource}?dryRun=All`, { spec }),
        }
      : {
          ...Object.fromEntries(
            Object.entries(creations).map(([way, send]) => [
              way,
              (name: string) => send(lead, resource, name, spec),
            ]),
          ),
          generateName: (name) =>
            lead.post(resource, { metadata: { generateName: `${name}-` }, spec }),
        };
    test.each(Object.keys(ways))('holds at a creation by %s', async (way) => {
      await forbid(rule);
      await refused(ways[way]!(`y${next()}`));
    });
    if (!starts) return;
    test.each(Object.keys(changes))('holds at a change by %s', async (way) => {
      const name = `z${next()}`;
      await forbid(rule);
      const { metadata } = (
        await operator.post(resource, { metadata: { name }, spec: starts }).is(201)
      ).body;
      envelope = { metadata };
      await refused(changes[way]!(lead, resource, name, spec));
      const { body } = await operator.get(`${resource}/${name}`).is(200);
      expect(body.metadata.resourceVersion).toBe(metadata.resourceVersion);
      await changes[way]!(lead, resource, name, { ...starts, displayName: 'Better' }).is(200);
    });
  });

  test('the Client that an Invitation leads to is one of its facts', async () => {
    await createClient(service, 'bank', { initiateLoginURI: 'https://bank.example.test/login' });
    await forbid(
      'forbid (principal in Group::"leads", action == Action::"create", resource is Invitation) when { context has client && context.client == Client::"bank" };',
    );
    const spec = { email: 'guest@bank.test', client: 'bank' };
    await refused(lead.post('invitations', { metadata: { generateName: 'i-' }, spec }));
    await refused(lead.post('invitations', { metadata: { name: 'i' }, spec }));
  });

  test('who may manage all groups but operators does not create it', async () => {
    await forbid('forbid (principal in Group::"leads", action, resource == Group::"operators");');
    const spec = { displayName: 'Operators', members: ['lead@example.test'] };
    for (const send of Object.values(creations)) {
      await refused(send(lead, 'groups', 'operators', spec));
    }
    expect((await lead.get('accounts/~').is(200)).body.metadata.name).toBeDefined();
    await operator.get('groups/operators').fails(404, 'NotFound');
    await operator.post('groups', { metadata: { name: 'fine' }, spec }).is(201);
  });

  /** Creations that fail for what others have: for each, what makes it fail. */
  const faults: Record<
    string,
    { resource: string; spec: object; first?: () => PromiseLike<unknown> }
  > = {
    'a name that is taken': { resource: 'groups', spec: specs.groups!(0) },
    'an address that has an account': {
      resource: 'accounts',
      spec: { email: 'lead@example.test' },
    },
    'an identifier that is taken': {
      resource: 'audiences',
      spec: specs.audiences!(777),
      first: () =>
        operator.post('audiences', { metadata: { name: 'its' }, spec: specs.audiences!(777) }),
    },
    'a Client that is absent': {
      resource: 'invitations',
      spec: { email: 'some@example.test', client: 'absent' },
    },
    'a Group that is absent': {
      resource: 'invitations',
      spec: { email: 'some@example.test', groups: ['absent'] },
    },
    'an introspector that is absent': {
      resource: 'audiences',
      spec: { ...specs.audiences!(778), introspectors: ['absent'] },
    },
  };
  describe.each(Object.keys(faults))('%s is not shown to who may not create it', (fault) => {
    const { resource, spec, first: before } = faults[fault]!;
    const { kind, nameSource, verbs } = kinds.find((kind) => kind.resource === resource)!;
    const send = (way: string, name: string): Pending =>
      nameSource
        ? lead.post(way === 'POST' ? resource : `${resource}?dryRun=All`, { spec })
        : creations[way]!(lead, resource, name, spec);
    const ways = Object.keys(creations).filter(
      (way) => !way.endsWith('apply') || (verbs.includes('patch') && !nameSource),
    );
    test.each(ways)('by %s', async (way) => {
      await before?.();
      const name = `taken${next()}`;
      const isTaken = fault === 'a name that is taken';
      if (isTaken) await operator.post(resource, { metadata: { name }, spec }).is(201);
      await forbid(
        `forbid (principal in Group::"leads", action in [Action::"create", Action::"update", Action::"patch"],
resource is ${kind}) when { resource != ${kind}::"*" };`,
      );
      await refused(send(way, name));
      await forbid(nothing);
      const answer = await send(way, name);
      if (isTaken && way.endsWith('apply')) {
        expect(answer.code).toBe(200);
      } else {
        expect([403, 409, 422]).toContain(answer.code);
      }
      expect(answer.bytes.toString()).not.toContain('Not this one.');
    });
  });

  test('the record of a creation names the object', async () => {
    await forbid(nothing);
    const name = `recorded${next()}`;
    await creations.POST!(lead, 'groups', name, specs.groups!(1)).is(201);
    const { body } = await operator.get('policydecisions?limit=500').is(200);
    const found = body.items.filter((item: any) => item.spec.resource?.name === name);
    expect(found.map((one: any) => [one.spec.action, one.status.allowed])).toEqual([
      ['create', true],
    ]);
  });

  describe('a change of address is a sign-up with the new one', () => {
    /** Asks for the change, and returns the answer to it. */
    const changeTo = (tab: Tab, email: string): Pending => new Pending(answerTo(tab, email));
    const answerTo = async (tab: Tab, email: string): Promise<Answer> => {
      await service.tab().delete('mockmessages').is(200);
      await tab.post('accounts/~/emailchallenge', { spec: { email } }).is(200);
      const { code } = await mailTo(service, email, [], (status) => status.code !== undefined);
      return tab.post('accounts/~/email', { spec: { code } });
    };
    const signUpIf = (condition: string) =>
      forbid(
        `forbid (principal, action == Action::"signUp", resource) unless { ${condition} || principal in Group::"operators" };`,
      );

    test.each([
      ['its domain', 'context.domain == "example.test"'],
      ['its domain, as a fact of the account', 'principal.emailDomain == "example.test"'],
      ['a guest list', 'principal in Group::"listed"'],
      ['an invitation', 'context.invited'],
      ['nothing at all', 'false'],
    ])('where sign-up needs %s', async (_, condition) => {
      await forbid(nothing);
      const { tab } = await signIn(service, `${next()}${leaver}`);
      const { body: before } = await tab.get('accounts/~').is(200);
      await signUpIf(condition);
      await changeTo(tab, `out${next()}@other.test`).fails(403, 'Forbidden');
      const { body: after } = await tab.get('accounts/~').is(200);
      expect(after.status.email).toEqual(before.status.email);
    });

    test('to an address that the rules accept', async () => {
      await forbid(nothing);
      const { tab } = await signIn(service, `${next()}${leaver}`);
      await signUpIf('context.domain == "example.test"');
      const address = `${next()}${staff}`;
      await changeTo(tab, address).is(200);
      await signUpIf('context.invited');
      const invited = `${next()}guest@other.test`;
      await operator
        .post('invitations', { metadata: { generateName: 'i-' }, spec: { email: invited } })
        .is(201);
      await changeTo(tab, invited).is(200);
    });

    test('also of an operator, whose group does not go along', async () => {
      await forbid(nothing);
      const spec = { displayName: 'Operators', members: ['op@example.test', leaver] };
      await operator.post('groups', { metadata: { name: 'operators' }, spec }).is(201);
      const { tab } = await signIn(service, leaver);
      await signUpIf('false');
      await changeTo(tab, 'operator@other.test').fails(403, 'Forbidden');
      await operator.delete('groups/operators').is(200);
    });
  });
});
