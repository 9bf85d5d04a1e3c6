import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createSecure, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import {
  type ApiServer,
  type ApiServerOptions,
  createLog,
  kindsOf,
  type SubjectAccessReviewOptions,
  subjectAccessReviews,
} from '../../apiserver/library/index.js';
import { authority, proxyOf, saying } from '../support/cluster/frontproxy.js';
import { until } from '../support/patience.js';
import { stopAll } from '../support/service.js';
import { ask, Fishery, fischer, fischers, type Question, serving, watch } from './fishery.js';

const proxies = authority('proxies');
const proxy = proxyOf(proxies);
const secret = 'the-token-of-the-server';
const fishery = new Fishery('embedded');

/** What a kube-apiserver was asked, as `user verb resource/name`. */
const asked: string[] = [];
/** Its roles: what of `asked` is permitted. */
let permits: (question: string) => boolean = () => true;
/** Answers in another way, if it is set. */
let instead: ((respond: (code: number, body: string) => void) => void) | undefined;

const textOf = async (request: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const part of request) text += part;
  return text;
};

/** A server that speaks SubjectAccessReview of authorization.k8s.io/v1. */
const handle: Parameters<typeof createServer>[1] = async (request, response) => {
  const respond = (code: number, body: string): void =>
    void response.writeHead(code, { 'Content-Type': 'application/json' }).end(body);
  const review = JSON.parse(await textOf(request));
  if (request.headers.authorization !== `Bearer ${secret}`) return respond(401, '{}');
  if (
    request.url !== '/apis/authorization.k8s.io/v1/subjectaccessreviews' ||
    review.kind !== 'SubjectAccessReview' ||
    review.apiVersion !== 'authorization.k8s.io/v1'
  ) {
    return respond(404, '{}');
  }
  const { user, resourceAttributes, nonResourceAttributes } = review.spec;
  const { verb, group, version, resource, subresource, namespace, name } = resourceAttributes ?? {};
  const question = resourceAttributes
    ? `${user} ${verb} ${[resource, subresource].filter(Boolean).join('/')}${name ? ` ${name}` : ''}${namespace ? ` in ${namespace}` : ''}`
    : `${user} ${nonResourceAttributes.verb} ${nonResourceAttributes.path}`;
  asked.push(question);
  if (resourceAttributes) expect([group, version]).toEqual(['wardle.example.com', 'v1alpha1']);
  if (instead) return instead(respond);
  const allowed = permits(question);
  const status = { allowed, ...(!allowed && { reason: `no role permits "${question}"` }) };
  respond(201, JSON.stringify({ ...review, status }));
};

let kube: Server;
let address: string;
let now = 0;
const clock = performance.now;
beforeEach(async () => {
  kube = createSecure(serving, handle);
  await new Promise<void>((resolve) => kube.listen(0, '127.0.0.1', resolve));
  address = `https://localhost:${(kube.address() as AddressInfo).port}`;
});
afterEach(async () => {
  performance.now = clock;
  now = 0;
  asked.length = 0;
  permits = () => true;
  instead = undefined;
  await fishery.stop();
  kube.closeAllConnections();
  kube.close();
});
afterAll(stopAll);

/** Lets time pass for what is kept. */
const pass = (milliseconds: number): void => {
  now += milliseconds;
  performance.now = () => clock.call(performance) + now;
};

const lines: string[] = [];
const log = createLog('warn', { write: (line) => lines.push(String(line)) > 0 });
const start = (
  options: SubjectAccessReviewOptions = {},
  more: Partial<ApiServerOptions> = {},
): Promise<ApiServer> =>
  fishery.start({
    ...more,
    certificate: serving,
    requestHeader: { ca: proxies.cert },
    metrics: true,
    authorize: subjectAccessReviews({
      server: address,
      ca: serving.cert,
      token: secret,
      log,
      ...options,
    }),
  });

/** Someone whom a cluster's front proxy asserts. */
const as = (user: string): Question => ({ pair: proxy, headers: saying(user, 'staff') });

test.each<[title: string, path: string, question: Question, code: number, reviews: string[]]>([
  ['a list', fischers, {}, 200, ['ada list fischers']],
  ['a creation', fischers, { method: 'POST', body: fischer('f2') }, 201, ['ada create fischers']],
  ['a get', `${fischers}/f1`, {}, 200, ['ada get fischers f1']],
  ['a list of one', `${fischers}?fieldSelector=metadata.name=f1`, {}, 200, ['ada list fischers']],
  [
    'a patch',
    `${fischers}/f1`,
    { method: 'PATCH', type: 'application/merge-patch+json', body: { spec: { pond: 'south' } } },
    200,
    ['ada get fischers f1', 'ada patch fischers f1'],
  ],
  [
    'a patch of status',
    `${fischers}/f1/status`,
    { method: 'PATCH', type: 'application/merge-patch+json', body: { status: { caught: 2 } } },
    200,
    ['ada get fischers/status f1', 'ada patch fischers/status f1'],
  ],
  [
    'a deletion',
    `${fischers}/f1`,
    { method: 'DELETE' },
    200,
    ['ada delete fischers f1', 'ada get fischers f1'],
  ],
  ['a deletion of all', fischers, { method: 'DELETE' }, 200, ['ada deletecollection fischers']],
  ['metrics', '/metrics', {}, 200, ['ada get /metrics']],
  ['discovery', '/apis', {}, 200, []],
  ['a health check', '/readyz', {}, 200, []],
])('%s is reviewed as in Kubernetes', async (_, path, question, code, reviews) => {
  const server = await start();
  await ask(server.url + fischers, { method: 'POST', body: fischer('f1'), ...as('root') });
  asked.length = 0;
  expect((await ask(server.url + path, { ...question, ...as('ada') })).code).toBe(code);
  expect([...asked].sort()).toEqual(reviews);
  asked.length = 0;
  await ask(server.url + path, { ...question, ...as('ada') });
  expect(asked).toEqual([]);
});

test('a role for one name permits that name alone', async () => {
  permits = (question) => question.startsWith('root') || question.endsWith(' f1');
  const server = await start();
  for (const name of ['f1', 'f2']) {
    await ask(server.url + fischers, { method: 'POST', body: fischer(name), ...as('root') });
  }
  const codes = await Promise.all(
    [
      `${fischers}/f1`,
      `${fischers}/f2`,
      fischers,
      `${fischers}?fieldSelector=metadata.name=f1`,
      `${fischers}?fieldSelector=metadata.name=f2`,
    ].map(async (path) => (await ask(server.url + path, as('ada'))).code),
  );
  expect(codes).toEqual([200, 404, 403, 200, 403]);
});

test('a review has the namespace, and a role in one permits nothing in others', async () => {
  const Pond = kindsOf({ group: 'wardle.example.com', version: 'v1alpha1' })({
    kind: 'Pond',
    resource: 'ponds',
    scope: 'Namespaced',
    description: 'Where fish are.',
    verbs: ['get', 'list', 'create'],
    spec: z.object({}),
    status: z.object({}),
    columns: {},
  });
  permits = (question) => question.endsWith(' in north');
  const { url } = await start({}, { kinds: [Pond] });
  const root = `${url}/apis/wardle.example.com/v1alpha1`;
  const body = { metadata: { name: 'n' }, spec: {} };
  const send = async (path: string, question: Question = {}): Promise<number> =>
    (await ask(`${root}/${path}`, { ...question, ...as('ada') })).code;
  const codes = [
    await send('namespaces/north/ponds', { method: 'POST', body }),
    await send('namespaces/north/ponds'),
    await send('namespaces/north/ponds/n'),
    await send('namespaces/south/ponds', { method: 'POST', body }),
    await send('namespaces/south/ponds'),
    await send('namespaces/south/ponds/n'),
    await send('ponds'),
  ];
  expect(codes).toEqual([201, 200, 200, 403, 403, 404, 403]);
  expect(asked).toContain('ada get ponds n in north');
  expect(asked).toContain('ada list ponds in south');
  expect(asked).toContain('ada list ponds');
});

test('a refusal has the reason of the cluster', async () => {
  permits = () => false;
  const { url } = await start();
  const { code, body } = await ask(url + fischers, as('ada'));
  expect([code, body.message]).toEqual([
    403,
    expect.stringContaining('no role permits "ada list fischers"'),
  ]);
});

test('a stranger and a user of no cluster are refused without a review', async () => {
  const { url } = await start();
  expect((await ask(url + fischers)).code).toBe(401);
  const authorize = subjectAccessReviews({ server: address, ca: serving.cert, token: secret });
  const caller = { type: 'System' } as const;
  expect(await authorize({ caller, action: 'list' })).toMatchObject({ allowed: false });
  expect(asked).toEqual([]);
});

test('a permission counts for five minutes and a refusal for thirty seconds', async () => {
  permits = (question) => question.startsWith('ada');
  const authorize = subjectAccessReviews({ server: address, ca: serving.cert, token: secret });
  const reviewed = async (user: string): Promise<boolean> => {
    const before = asked.length;
    const caller = { type: 'ClusterUser', user, groups: [] } as const;
    await authorize({ caller, action: 'metrics', facts: { path: '/metrics' } });
    return asked.length > before;
  };
  expect([await reviewed('ada'), await reviewed('bob')]).toEqual([true, true]);
  expect([await reviewed('ada'), await reviewed('bob')]).toEqual([false, false]);
  pass(31_000);
  expect([await reviewed('ada'), await reviewed('bob')]).toEqual([false, true]);
  pass(301_000);
  expect([await reviewed('ada'), await reviewed('bob')]).toEqual([true, true]);
});

test('equal questions at one time are one review', async () => {
  const { url } = await start();
  const all = await Promise.all(Array.from({ length: 5 }, () => ask(url + fischers, as('ada'))));
  expect(all.map(({ code }) => code)).toEqual([200, 200, 200, 200, 200]);
  expect(asked).toEqual(['ada list fischers']);
});

test.each<[title: string, options: SubjectAccessReviewOptions, answer?: typeof instead]>([
  ['rejects the token', { token: 'another' }],
  ['answers with an error', {}, (respond) => respond(500, '{}')],
  ['answers with something else', {}, (respond) => respond(201, '{"status":{"allowed":"yes"}}')],
  ['answers with no JSON', {}, (respond) => respond(201, 'yes')],
  ['answers too much', {}, (respond) => respond(201, ' '.repeat(2 << 20))],
  ['redirects', {}, (respond) => respond(302, '')],
  ['does not answer', { timeoutMs: 200 }, () => {}],
  ['has a certificate of another authority', { ca: proxies.cert }],
])('nothing is permitted if the cluster %s', async (_, ...[options, answer]) => {
  lines.length = 0;
  instead = answer;
  const { url } = await start(options);
  for (let i = 0; i < 2; i += 1) {
    const { code, body, headers } = await ask(url + fischers, as('ada'));
    expect([code, body.message]).toEqual([
      503,
      expect.stringContaining('the authorizer cannot be asked'),
    ]);
    expect(headers['retry-after']).toBe('1');
  }
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0]!)).toMatchObject({ message: 'access reviews fail' });
  expect(lines[0]).not.toContain(secret);
});

test('a review is tried again once', async () => {
  const { url } = await start();
  instead = (respond) => {
    instead = undefined;
    respond(503, '{}');
  };
  expect((await ask(url + fischers, as('ada'))).code).toBe(200);
  expect(asked).toEqual(['ada list fischers', 'ada list fischers']);
});

test('a token that is renewed is read again', async () => {
  let token = 'former';
  const { url } = await start({ token: () => token });
  expect((await ask(url + fischers, as('ada'))).code).toBe(503);
  token = `${secret}\n`;
  expect((await ask(url + fischers, as('ada'))).code).toBe(200);
});

test('a watch ends when a role is taken away', async () => {
  const plain = createServer(handle);
  await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
  const server = await fishery.start({
    token: 'a-token-of-enough-characters',
    authorize: subjectAccessReviews({
      server: `http://127.0.0.1:${(plain.address() as AddressInfo).port}`,
      token: secret,
      allowedMs: 0,
    }),
  });
  const by = { headers: { Authorization: 'Bearer a-token-of-enough-characters' } };
  const watched = await watch(`${server.url}${fischers}?watch=1`, by);
  await ask(server.url + fischers, { method: 'POST', body: fischer('f1'), ...by });
  await until(() => watched.events.length === 1);
  permits = (question) => !question.includes(' watch ');
  await ask(server.url + fischers, { method: 'POST', body: fischer('f2'), ...by });
  await until(() => watched.isOver);
  expect(watched.events).toEqual(['ADDED f1']);
  plain.closeAllConnections();
  plain.close();
});

test('the address must keep the token secret, and outside of a pod it must be given', () => {
  expect(() => subjectAccessReviews({ server: 'http://10.0.0.1' })).toThrow('must be an https URL');
  expect(() => subjectAccessReviews()).toThrow('set `server`');
});
