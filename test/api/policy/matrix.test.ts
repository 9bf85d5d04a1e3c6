import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ClaimsReview } from '../../../kinds/apps/claims/claims-review.js';
import { HourlyCount, hourName } from '../../../kinds/hourly-count.js';
import { actions, kinds } from '../../../kinds/index.js';
import { type DecisionObject, PolicyDecision } from '../../../kinds/policy/policy-decision.js';
import { type Engine, openEngine } from '../../../policy/engine/engine.js';
import type { Caller } from '../../../registry/kind.js';
import { toTimestamp } from '../../../registry/schema/timestamp.js';
import { type Fronted, saying, startFronted } from '../../support/cluster/frontproxy.js';
import { expectFor } from '../../support/expect-for.js';
import { Stream } from '../../support/network/stream.js';
import { signedInByPasskey } from '../../support/people/passkeys.js';
import { begin, mailTo, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

type Subject = 'visitor' | 'browser' | 'owner' | 'other' | 'operator';
const subjects: readonly Subject[] = ['visitor', 'browser', 'owner', 'other', 'operator'];
const [reading, own] = ['get list watch', 'get list watch delete deletecollection'];
const everything = `${reading} create patch update delete`;
const anyone = (verbs: string): Record<Subject, string> => ({
  visitor: verbs,
  browser: verbs,
  owner: verbs,
  other: verbs,
  operator: verbs,
});

/**
 * The default policy (docs/design/api.md#default-policy) for what is served (`-own`: of what is
 * theirs alone), objects of `owner`, the interaction of `browser`; lists are everybody's own.
 */
const table: Record<string, Partial<Record<Subject, string>>> = {
  interactions: {
    browser:
      'get delete interactions/emailchallenge interactions/login interactions/account interactions/consent interactions/passkeychallenge interactions/passkeys',
    operator: 'list watch',
  },
  sessions: { owner: own, other: 'list watch deletecollection', operator: own },
  accounts: {
    owner: `${reading} patch update delete accounts/emailchallenge accounts/email accounts/passkeychallenge accounts/export accounts/apps accounts/recovery`,
    other: 'list watch',
    operator: `${reading} create patch update delete accounts/disable accounts/enable accounts/recovery`,
  },
  passkeys: {
    owner: `${everything}`,
    other: 'list watch create',
    operator: 'get list watch create-own delete',
  },
  recoveries: {
    ...anyone('recoveries/cancel'),
    owner: `${reading} delete recoveries/cancel`,
    other: 'list watch recoveries/cancel',
    operator: `${reading} delete recoveries/cancel`,
  },
  grants: {
    owner: `${own} patch update`,
    other: 'list watch deletecollection',
    operator: `${own} patch update`,
  },
  accessrequests: {
    owner: `${reading} create delete`,
    other: 'list watch create',
    operator: `${reading} create-own delete accessrequests/approve accessrequests/deny`,
  },
  policydecisions: { owner: reading, other: 'list watch', operator: reading },
  policies: { ...anyone(reading), operator: `${reading} create` },
  claimsreviews: { owner: reading, other: 'list watch', operator: reading },
  mockmessages: anyone(`${reading} delete deletecollection`),
  clients: { operator: `${everything} clients/secret` },
  claimsproviders: { owner: reading, other: reading, operator: everything },
  invitations: {
    owner: 'invitations/accept',
    other: 'invitations/accept',
    operator: `${reading} create delete invitations/mail invitations/accept-own`,
  },
  appearances: { ...anyone(reading), operator: `${reading} update patch appearances/mails` },
  settings: { operator: `${reading} update patch` },
  replicas: { operator: reading },
  hourlycounts: { operator: reading },
};

/** Returns the row of a resource: what is not said is the right of operators alone. */
const rowOf = (resource: string): Partial<Record<Subject, string>> =>
  table[resource] ?? { operator: everything };

const noCounts = {
  signIns: [],
  signInsFailed: [],
  mails: [],
  refusedByRule: [],
  refusedByLimit: [],
};

/** What an operator creates for the requests below, by resource. */
const created: Record<string, { metadata: { name: string }; spec: object }> = {
  groups: { metadata: { name: 'staff' }, spec: { displayName: 'Staff', members: [] } },
  claimsproviders: {
    metadata: { name: 'cards' },
    spec: { displayName: 'Cards', reviewURI: 'https://cards.example.test/', scopes: [] },
  },
  audiences: {
    metadata: { name: 'billing' },
    spec: {
      identifier: 'https://billing.example.test',
      displayName: 'Billing',
      scopes: [{ name: 'read', title: 'Read', description: 'Read invoices.' }],
    },
  },
  invitations: { metadata: { name: 'sample' }, spec: { email: 'guest@example.test' } },
};

type ClusterUser = Extract<Caller, { type: 'ClusterUser' }>;

interface Asked {
  readonly resource: string;
  readonly verb: string;
  readonly method?: string;
}

const collective = new Set(['list', 'watch', 'create', 'deletecollection']);
function permits(row: string | undefined, { verb }: Asked): boolean {
  const words = row?.split(' ') ?? [];
  if (verb === 'watchone') return words.includes('get') && !words.includes('watch-own');
  return words.includes(verb) || words.includes(`${verb}-own`);
}

/** A row for those who own nothing. */
const forMachines = (row: string | undefined, { verb }: Asked): string | undefined =>
  verb === 'watchone' ? row : row?.replaceAll(/\S+-own/g, '');

/**
 * What is answered to anyone who is refused: 404 for what they may not know of, 401 to no one, else
 * 403 (docs/design/api.md#refusals).
 */
function refusal(subject: Subject, { resource, verb }: Asked): number {
  if (resource === 'interactions' && !collective.has(verb)) return 404;
  if (subject === 'visitor' || subject === 'browser') return 401;
  return collective.has(verb) || permits(rowOf(resource)[subject], { resource, verb: 'get' })
    ? 403
    : 404;
}

describe.each(stores)('who may do what, by the default policy, on %s', (store) => {
  let service: TestService;
  let front: Fronted;
  let matrix: Asked[];
  const tabs = {} as Record<Subject, Tab>;
  const objects: Record<string, string> = {
    policies: 'p-1',
    clients: 'app',
    appearances: 'default',
    settings: 'default',
  };

  beforeAll(async () => {
    front = await startFronted({ store, flags: ['--operators', 'op@example.test'] });
    ({ service } = front);
    await createClient(service, 'app');
    const owner = await signedInByPasskey(service, 'owner@example.test');
    tabs.owner = owner.tab;
    for (const [subject, address] of [
      ['other', 'other@example.test'],
      ['operator', 'op@example.test'],
    ] as const) {
      tabs[subject] = (await signIn(service, address)).tab;
    }
    tabs.visitor = service.tab();
    const { tab, I, name } = await begin(service);
    tabs.browser = tab;
    objects.interactions = name;
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'mail@example.test' } }).is(200);
    await mailTo(service, 'mail@example.test');
    const account = (objects.accounts = (
      await tabs.owner.get('accounts/~').is(200)
    ).body.metadata.name);
    for (const resource of ['sessions', 'grants']) {
      objects[resource] = (await tabs.owner.get(resource).is(200)).body.items[0].metadata.name;
    }
    objects.passkeys = owner.name;
    objects.recoveries = (
      await tabs.owner.post('accounts/~/recovery', { spec: {} }).is(201)
    ).body.metadata.name;
    objects.accessrequests = (
      await tabs.owner
        .post('accessrequests', {
          spec: { group: 'staff', reason: 'Why.', until: toTimestamp(Date.now() + 86_400_000) },
        })
        .is(201)
    ).body.metadata.name;
    objects.mockmessages = (
      await tabs.visitor.get('mockmessages').is(200)
    ).body.items[0].metadata.name;
    objects.replicas = (await tabs.operator.get('replicas').is(200)).body.items[0].metadata.name;
    // The service writes the counts of this hour itself.
    const yesterday = Date.now() - 86_400_000;
    objects.hourlycounts = hourName(yesterday);
    await service.store.change(service.store.systemCall(), (tx) =>
      tx.create(HourlyCount, {
        metadata: { name: objects.hourlycounts! },
        spec: {},
        status: { ...noCounts, startTimestamp: toTimestamp(yesterday) },
      }),
    );
    for (const [resource, object] of Object.entries(created)) {
      await tabs.operator.post(resource, object).is(201);
      objects[resource] = object.metadata.name;
    }
    objects.claimsreviews = `${account}-review`;
    await service.store.change(service.store.systemCall(), (tx) =>
      tx.create(ClaimsReview, {
        metadata: { name: objects.claimsreviews! },
        spec: { account, client: 'app', provider: 'cards', scopes: ['card'], purpose: 'Preview' },
        status: {
          outcome: 'Answered',
          claims: ['number'],
          durationMilliseconds: 1,
          timestamp: toTimestamp(Date.now()),
        },
      }),
    );
    objects.policydecisions = await signUpOf(service, account);
    matrix = generated((await tabs.visitor.get('/api/v1beta1').is(200)).body.resources);
  });

  /** The request that asks for a verb and, where it is permitted, changes nothing. */
  function ask(tab: Tab, { resource, verb, method }: Asked): PromiseLike<{ code: number }> {
    const at = `${resource}/${objects[resource]}`;
    const strict = '?fieldValidation=Strict'; // a program's unknown field is a warning otherwise
    switch (verb) {
      case 'list':
        return tab.get(resource);
      case 'watch':
        return watched(tab, resource);
      case 'watchone':
        return watched(tab, at);
      case 'get':
        return tab.get(at);
      case 'create':
        return tab.post(`${resource}${strict}`, { spec: { bogus: 1 } });
      case 'patch':
        return tab.patch(`${at}${strict}`, { spec: { bogus: 1 } });
      case 'update':
        return tab.put(at, { spec: {} });
      case 'delete':
        return tab.delete(`${at}?dryRun=All`);
      case 'deletecollection':
        return tab.delete(`${resource}?dryRun=All`);
      default:
        return method === 'get'
          ? tab.get(`${at}/${verb.split('/')[1]}`)
          : tab[method as 'patch' | 'post'](`${at}/${verb.split('/')[1]}${strict}`, {
              spec: { bogus: 1 },
            });
    }
  }

  test('every row is about a resource that is served', () => {
    expect(matrix.map(({ resource }) => resource)).toEqual(
      expect.arrayContaining(Object.keys(table)),
    );
    expect(matrix.length).toBeGreaterThan(50);
  });

  test.each(subjects)('every request of the %s is answered as its row says', async (subject) => {
    const differing: string[] = [];
    for (const asked of matrix) {
      const { code } = await ask(tabs[subject], asked);
      const right = permits(rowOf(asked.resource)[subject], asked)
        ? ![401, 403, 404].includes(code)
        : code === refusal(subject, asked);
      if (!right || code >= 500) differing.push(`${asked.verb} ${asked.resource}: ${code}`);
    }
    expect(differing).toEqual([]);
  });

  test('the browser of one sign-in has no part in another', async () => {
    const { tab, name } = await begin(service);
    for (const asked of matrix.filter(
      ({ resource, verb }) => resource === 'interactions' && !collective.has(verb),
    )) {
      const { code } = await ask(tab, asked);
      expect(`${asked.verb}: ${code}`).toBe(`${asked.verb}: 404`);
    }
    await tab.get(`interactions/${name}`).is(200);
  });

  describe('machines', () => {
    const none: ClusterUser = {
      type: 'ClusterUser',
      user: 'ada',
      groups: ['system:authenticated', 'operators'],
    };
    const machines: readonly [string, ClusterUser, 'operator' | 'visitor', boolean][] = [
      [
        'an operator of the cluster',
        { type: 'ClusterUser', user: 'root', groups: ['system:masters', 'system:authenticated'] },
        'operator',
        false,
      ],
      ['a user of the cluster', none, 'visitor', false],
      [
        'one that calls itself an account',
        { type: 'ClusterUser', user: 'owner@example.test', groups: [] },
        'visitor',
        false,
      ],
      [
        'the garbage collector',
        {
          type: 'ClusterUser',
          user: 'system:serviceaccount:kube-system:generic-garbage-collector',
          groups: ['system:serviceaccounts'],
        },
        'visitor',
        true,
      ],
      [
        'the controller manager',
        { type: 'ClusterUser', user: 'system:kube-controller-manager', groups: [] },
        'visitor',
        true,
      ],
    ];
    let engine: Engine;
    beforeAll(async () => {
      engine = await openEngine(kinds, actions);
      await engine.activate(
        'p-1',
        (await tabs.visitor.get('policies/p-1').is(200)).body.spec.cedar,
      );
    });

    test.each(machines)('%s', (_, caller, row, collects) => {
      const differing: string[] = [];
      for (const asked of matrix) {
        for (const metadataOnly of [false, true]) {
          const kind = kinds.find(({ resource }) => resource === asked.resource)!;
          const action = asked.verb === 'watchone' ? 'watch' : asked.verb;
          const name = collective.has(asked.verb) ? undefined : objects[asked.resource]!;
          const collected =
            collects &&
            (action === 'delete'
              ? kind.owner !== undefined && kind.owner !== 'metadata.name'
              : metadataOnly &&
                reading.split(' ').includes(action) &&
                kind.verbs.includes('delete'));
          const { allowed } = engine.decide({
            caller,
            action,
            kind,
            ...(name && { name }),
            facts: { metadataOnly },
          });
          const permitted = permits(forMachines(rowOf(asked.resource)[row], asked), {
            ...asked,
            verb: action,
          }); // that an interaction is its browser's is no rule of the policy
          if (allowed !== (permitted || collected)) {
            differing.push(
              `${asked.verb} ${asked.resource}, ${metadataOnly ? 'metadata' : 'whole'}: ${allowed}`,
            );
          }
        }
      }
      expect(differing).toEqual([]);
    });

    /**
     * The same asked through the front proxy, of whole objects or of their metadata alone, where
     * there is such a form.
     */
    test.each(machines)('%s, by request', async (_, { user, groups }, row, collects) => {
      const differing: string[] = [];
      for (const asked of matrix) {
        for (const metadataOnly of [false, true]) {
          const isRead = reading
            .split(' ')
            .includes(asked.verb === 'watchone' ? 'watch' : asked.verb);
          if (metadataOnly && !isRead) continue;
          const kind = kinds.find(({ resource }) => resource === asked.resource)!;
          const tab = front.caller(front.proxy, {
            ...saying(user, ...groups),
            ...(metadataOnly && {
              accept: `application/json;as=PartialObjectMetadata${asked.verb === 'list' ? 'List' : ''};v=v1;g=meta.k8s.io`,
            }),
          });
          const { code } = await ask(tab, asked);
          const collected = (verb: string): boolean =>
            collects &&
            (verb === 'delete'
              ? kind.owner !== undefined && kind.owner !== 'metadata.name'
              : metadataOnly && kind.verbs.includes('delete'));
          const may = (verb: string): boolean =>
            permits(forMachines(rowOf(asked.resource)[row], { ...asked, verb }), {
              ...asked,
              verb,
            }) ||
            ((verb === 'delete' || isRead) && collected(verb));
          const bound = asked.resource === 'interactions' && !collective.has(asked.verb);
          const owned = asked.verb === 'deletecollection' && kind.owner !== undefined; // whose, is asked first: they own nothing
          const isRight = (): boolean => {
            if (bound) return code === 404;
            if (owned) return code === 400;
            if (may(asked.verb)) return ![401, 403, 404].includes(code);
            const forbidden =
              collective.has(asked.verb) || may('get') || (metadataOnly && asked.verb === 'get');
            return code === (forbidden ? 403 : 404); // metadata alone: never 404, which would mean gone
          };
          if (!isRight() || code >= 500) {
            differing.push(
              `${asked.verb} ${asked.resource}, ${metadataOnly ? 'metadata' : 'whole'}: ${code}`,
            );
          }
        }
      }
      expect(differing).toEqual([]);
    });

    test('reach all that is no object', async () => {
      const machine = front.caller(front.proxy, saying('system:kube-aggregator', 'system:masters'));
      for (const { action, path, code } of open) {
        expectFor(
          path,
          (await (action === 'page' ? machine.navigate(path) : machine.get(path, { plain: true })))
            .code,
        ).toEqual(code);
      }
      for (const [, caller] of machines) {
        for (const { action, path } of open) {
          expectFor(path, engine.decide({ caller, action, facts: { path } }).allowed).toEqual(true);
        }
      }
    });
  });

  /** What is no object, and what each of it answers to a request without anything. */
  const open: { action: string; path: string; code: number }[] = [
    ...[
      '/api',
      '/api/v1beta1',
      '/api/openapi/v3',
      '/apis',
      '/apis/id.vestibule.org',
      '/apis/id.vestibule.org/v1beta1',
      '/openapi/v3',
      '/openapi/v3/apis/id.vestibule.org/v1beta1',
      '/openapi/v2',
      '/version',
    ].map((path) => ({ action: 'discovery', path, code: 200 })),
    ...['/livez', '/readyz', '/healthz', '/readyz/policy'].map((path) => ({
      action: 'health',
      path,
      code: 200,
    })),
    { action: 'page', path: '/', code: 303 },
    ...['/mailbox', `/interaction/${'a'.repeat(32)}`].map((path) => ({
      action: 'page',
      path,
      code: 200,
    })),
    ...['/.well-known/openid-configuration', '/oauth2/jwks', '/oauth2/logout'].map((path) => ({
      action: 'provider',
      path,
      code: 200,
    })),
    { action: 'provider', path: '/oauth2/auth?client_id=none', code: 400 },
  ];

  test('what is open to everyone is open until a policy closes it', async () => {
    const page = (await tabs.visitor.navigate('/mailbox').is(200)).bytes.toString();
    const all = [
      ...open,
      { action: 'asset', path: /"(\/assets\/[^"]+)"/.exec(page)![1]!, code: 200 },
    ];
    const answers = async (subject: Subject) => {
      const found: string[] = [];
      for (const { path, action } of all) {
        found.push(
          `${path} ${(await (action === 'page' ? tabs[subject].navigate(path) : tabs[subject].get(path, { plain: true }))).code}`,
        );
      }
      return found;
    };
    for (const subject of subjects) {
      expectFor(subject, await answers(subject)).toEqual(
        all.map(({ path, code }) => `${path} ${code}`),
      );
    }
    const former = (await tabs.visitor.get('policies/p-1').is(200)).body.spec.cedar;
    const closing =
      'forbid (principal, action in [Action::"page", Action::"asset"], resource);\nforbid (principal, action == Action::"provider", resource == Path::"/oauth2/jwks");\n';
    await tabs.operator.post('policies', { spec: { cedar: former + closing } }).is(201);
    const closed = ({ action, path }: { action: string; path: string }): boolean =>
      action === 'page' || action === 'asset' || path === '/oauth2/jwks';
    for (const subject of subjects) {
      expectFor(subject, await answers(subject)).toEqual(
        all.map((one) => `${one.path} ${closed(one) ? 403 : one.code}`),
      );
    }
    await tabs.operator.post('policies', { spec: { cedar: former } }).is(201);
  });

  test('lists, counts and continue tokens hold nothing of others', async () => {
    for (const resource of ['sessions', 'grants', 'accounts', 'policydecisions', 'claimsreviews']) {
      const all = (await tabs.operator.get(resource).is(200)).body.items;
      const mine = (await tabs.other.get('accounts/~').is(200)).body.metadata.name;
      const { body } = await tabs.other.get(`${resource}?limit=1`).is(200);
      expect(body.items.every((item: any) => item.metadata.name.startsWith(mine))).toBe(true);
      expect((body.metadata.remainingItemCount ?? 0) + body.items.length).toBeLessThanOrEqual(
        all.filter((one: any) => one.metadata.name.startsWith(mine)).length + 1,
      );
    }
  });
});

/**
 * Every verb of every resource and every action on one, as discovery says; a watch of a collection
 * and one of an object apart.
 */
function generated(resources: readonly { name: string; verbs: readonly string[] }[]): Asked[] {
  return resources.flatMap(({ name, verbs }) => {
    const [resource, subresource] = name.split('/') as [string, string?];
    if (subresource) {
      return verbs.map((verb) => ({
        resource,
        verb: name,
        method: verb === 'create' ? 'post' : verb,
      }));
    }
    return [...verbs, ...(verbs.includes('watch') ? ['watchone'] : [])].map((verb) => ({
      resource,
      verb,
    }));
  });
}

/** The answer to a watch, which is then left. */
async function watched(tab: Tab, path: string): Promise<{ code: number }> {
  const stream = await new Stream(tab, `${path}?watch=true`).until(({ code }) => code !== 0);
  stream.close();
  return { code: stream.code };
}

/** The decision that let an account be made, once it is there. */
async function signUpOf(service: TestService, account: string): Promise<string> {
  for (let i = 0; i < 6_000; i += 1) {
    const found = ((await service.store.reader(PolicyDecision).list()) as DecisionObject[]).find(
      ({ spec }) => spec.account === account && spec.action === 'signUp',
    );
    if (found) return found.metadata.name;
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
  }
  throw new Error('no sign-up was recorded');
}
