import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type ApiServer,
  type ApiServerOptions,
  type AuthorizationAttributes,
  type Authorize,
  bearerToken,
  type Decision,
  unavailable,
} from '../../apiserver/library/index.js';
import { settles } from '../support/patience.js';
import { stopAll } from '../support/service.js';
import { stores } from '../support/stores.js';
import {
  type Answer,
  ask,
  Fischer,
  Fishery,
  fischer,
  fischers,
  type Question,
  watch,
} from './fishery.js';

afterAll(stopAll);

const tokenOf = (user: string): string => `the-token-of-${user}`;
const by = (user: string) => ({ headers: { Authorization: `Bearer ${tokenOf(user)}` } });
const authenticators: ApiServerOptions['authenticators'] = [
  ({ request }) => {
    const [, user = ''] = /^Bearer the-token-of-(\w+)$/.exec(request.headers.authorization!) ?? [];
    return { type: 'ClusterUser', user, groups: [] };
  },
];

/** Ada sees and changes what is in the north, and may do nothing else. */
const isPermitted = ({ caller, action, object, every }: AuthorizationAttributes): boolean => {
  if (action === 'discovery' || action === 'health') return true;
  if (caller.type !== 'ClusterUser' || caller.user !== 'ada' || every) return false;
  return object === undefined || (object.spec as { pond: string }).pond === 'north';
};
const decide = (attributes: AuthorizationAttributes): Decision => ({
  allowed: isPermitted(attributes),
  reasons: [{ rule: 'north', message: 'That is not in the north.' }],
});

/** The same rules by three functions; the chain must answer alike. */
const authorizers: Record<string, Authorize> = {
  'that answers at once': decide,
  'that waits': async (attributes) => {
    await new Promise(setImmediate);
    return decide(attributes);
  },
  'that waits at times': (attributes) =>
    attributes.action === 'get' || attributes.object === undefined
      ? decide(attributes)
      : Promise.resolve(decide(attributes)),
};

const merge = 'application/merge-patch+json';
const apply = 'application/apply-patch+yaml';
const applied = (name: string, pond: string) => ({
  apiVersion: 'wardle.example.com/v1alpha1',
  kind: 'Fischer',
  ...fischer(name, pond),
});
const canI = (resourceAttributes: object): Question => ({
  method: 'POST',
  body: { spec: { resourceAttributes: { group: 'wardle.example.com', ...resourceAttributes } } },
});
const reviews = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';

/** Every road on which the chain asks an authorizer, in order, with the answer. */
const roads: [title: string, path: string, question: Question, answer: unknown][] = [
  ['a list', fischers, {}, 'n1 n2'],
  ['a page', `${fischers}?limit=1`, {}, 'n1'],
  ['a list by a field', `${fischers}?fieldSelector=spec.pond=north`, {}, 'n1 n2'],
  ['a list of what is hidden', `${fischers}?fieldSelector=metadata.name=s1`, {}, ''],
  ['a get', `${fischers}/n1`, {}, 'n1'],
  ['a get of what is hidden', `${fischers}/s1`, {}, 404],
  ['a get of nothing', `${fischers}/none`, {}, 404],
  ['a fresh get', `${fischers}/n1?resourceVersion=1`, {}, 'n1'],
  ['a patch', `${fischers}/n1`, { method: 'PATCH', type: merge, body: {} }, 'n1'],
  [
    'a patch that takes it out of sight',
    `${fischers}/n1`,
    { method: 'PATCH', type: merge, body: { spec: { pond: 'south' } } },
    403,
  ],
  [
    'a patch of what is hidden',
    `${fischers}/s1`,
    { method: 'PATCH', type: merge, body: { spec: { pond: 'north' } } },
    404,
  ],
  ['a creation', fischers, { method: 'POST', body: fischer('n3') }, 'n3'],
  ['a refused creation', fischers, { method: 'POST', body: fischer('s3', 'south') }, 403],
  [
    'an apply that creates',
    `${fischers}/n4?fieldManager=test`,
    { method: 'PATCH', type: apply, body: applied('n4', 'north') },
    'n4',
  ],
  [
    'an apply that changes',
    `${fischers}/n4?fieldManager=test`,
    { method: 'PATCH', type: apply, body: applied('n4', 'north') },
    'n4',
  ],
  [
    'a refused apply',
    `${fischers}/s4?fieldManager=test`,
    { method: 'PATCH', type: apply, body: applied('s4', 'south') },
    403,
  ],
  ['a deletion', `${fischers}/n2`, { method: 'DELETE' }, 'Success'],
  ['a deletion of what is hidden', `${fischers}/s1`, { method: 'DELETE' }, 404],
  ['a review of a list', reviews, canI({ resource: 'fischers', verb: 'list' }), true],
  ['a review of a get', reviews, canI({ resource: 'fischers', verb: 'get', name: 's1' }), false],
  ['a deletion of all', fischers, { method: 'DELETE' }, 'n1 n3 n4'],
  ['a list of what is left', fischers, {}, ''],
];

/** What an answer says: names, the verdict of a review, or the code of an error. */
function summaryOf({ code, body }: Answer): unknown {
  if (code >= 400) return code;
  if (body.items) return body.items.map((one: any) => one.metadata.name).join(' ');
  return body.status?.allowed ?? body.metadata.name ?? body.status;
}

const fill = (server: ApiServer, ...all: [name: string, pond: string][]) =>
  server.store.systemCall().change(async (tx) => {
    for (const [name, pond] of all) {
      await tx.create(Fischer, { metadata: { name }, spec: { pond } });
    }
  });

describe.each(stores)('an authorizer on %s', (store) => {
  const fishery = new Fishery(store);
  afterAll(() => fishery.stop());

  describe.each(Object.entries(authorizers))('%s', (_, authorize) => {
    let server: ApiServer;
    beforeAll(async () => {
      server = await fishery.start({ authenticators, authorize });
      await fill(server, ['n1', 'north'], ['n2', 'north'], ['s1', 'south']);
    });

    test.each(roads)('decides about %s', async (_title, path, question, answer) => {
      const got = await ask(server.url + path, { ...question, headers: by('ada').headers });
      expect(summaryOf(got)).toEqual(answer);
      const refused = await ask(server.url + path, { ...question, headers: by('eve').headers });
      expect(summaryOf(refused)).toEqual(path === reviews ? false : expect.any(Number));
      if (path !== reviews) expect([403, 404]).toContain(refused.code);
    });

    test('decides about the events of a watch', async () => {
      const watched = await watch(`${server.url}${fischers}?watch=1`, by('ada'));
      await fill(server, ['w1', 'north'], ['w2', 'south']);
      await fill(server, ['w3', 'north']);
      await settles(
        async () => watched.events,
        ({ length }) => length === 2,
      );
      expect(watched.events).toEqual(['ADDED w1', 'ADDED w3']);
      watched.close();
      expect((await watch(`${server.url}${fischers}?watch=1`, by('eve'))).code).toBe(403);
    });
  });

  test.each([
    ['north', 200],
    ['south', 404],
  ])('decides again about an object that moved to the %s', async (pond, code) => {
    let move: (() => Promise<unknown>) | undefined;
    const server = await fishery.start({
      authenticators,
      authorize: async (attributes) => {
        const decision = decide(attributes);
        if (attributes.action === 'patch' && attributes.object) {
          const now = move;
          move = undefined;
          await now?.();
        }
        return decision;
      },
    });
    await fill(server, ['n1', 'north']);
    move = () =>
      server.store.systemCall().change((tx) =>
        tx.update(Fischer, 'n1', (next) => {
          next.spec.pond = pond;
          next.metadata.labels = { moved: 'yes' };
        }),
      );
    const body = { metadata: { labels: { patched: 'yes' } } };
    const question = { method: 'PATCH', type: merge, body, ...by('ada') };
    const answer = await ask(`${server.url}${fischers}/n1`, question);
    expect(answer.code).toBe(code);
    expect(move).toBeUndefined();
    if (code === 200) expect(answer.body.metadata.labels).toEqual({ moved: 'yes', patched: 'yes' });
  });

  test('that fails permits nothing', async () => {
    let failure: Error | undefined;
    const server = await fishery.start({
      authenticators,
      authorize: async (attributes) => {
        if (failure) throw failure;
        return decide(attributes);
      },
    });
    await fill(server, ['n1', 'north']);
    const watched = await watch(`${server.url}${fischers}?watch=1`, by('ada'));
    await settles(
      async () => watched.events,
      ({ length }) => length === 1,
    );
    for (const [error, code] of [
      [unavailable('the authorizer is away'), 503],
      [new Error('secret'), 500],
    ] as const) {
      failure = error;
      for (const [, path, question] of roads) {
        const answer = await ask(server.url + path, { ...question, headers: by('ada').headers });
        expect([path, answer.code]).toEqual([path, code]);
        expect(JSON.stringify(answer.body)).not.toContain('secret');
      }
    }
    await fill(server, ['n2', 'north']);
    await settles(
      async () => watched,
      ({ isOver }) => isOver,
    );
    expect(watched.events).toEqual(['ADDED n1']);
  });

  test('that refuses says why', async () => {
    const server = await fishery.start({ authenticators, authorize: authorizers['that waits']! });
    const body = fischer('s1', 'south');
    const refused = await ask(server.url + fischers, { method: 'POST', body, ...by('ada') });
    expect(refused).toMatchObject({
      code: 403,
      body: { message: expect.stringContaining('That is not in the north.') },
    });
  });
});

test('a token stands for its user beside other authenticators', async () => {
  const fishery = new Fishery('embedded');
  const known = bearerToken(tokenOf('ada'), { user: 'ada' });
  const server = await fishery.start({ authenticators: [known], authorize: decide });
  expect((await ask(server.url + fischers, by('ada'))).code).toBe(200);
  expect((await ask(server.url + fischers, by('eve'))).code).toBe(401);
  await fishery.stop();
});
