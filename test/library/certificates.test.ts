import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ApiServer, AuthorizationAttributes } from '../../apiserver/library/index.js';
import { authority, certificate, proxyOf, saying } from '../support/cluster/frontproxy.js';
import { clientAuth } from '../support/cluster/issue-certificate.js';
import { stopAll } from '../support/service.js';
import { stores } from '../support/stores.js';
import { type Answer, ask, Fishery, fischers, type Question, serving } from './fishery.js';

afterAll(stopAll);

const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const hour = 3_600_000;
const clients = authority('clients');
const proxies = authority('proxies');
const user = (name: string, organizations: readonly string[] = [], wish = {}) =>
  certificate(name, clients, { usages: [clientAuth], organizations, ...wish });

/** Everyone who fishes may do everything. */
const authorize = ({ caller, action }: AuthorizationAttributes) => ({
  allowed:
    ['discovery', 'health'].includes(action) ||
    (caller.type === 'ClusterUser' && caller.groups.includes('fishers')),
  reasons: [],
});

/** Certificates of an authority that changes. */
class ChangingAuthority {
  ca: string;
  readonly #listeners: (() => void)[] = [];

  constructor(ca: string) {
    this.ca = ca;
  }
  onChange = (listener: () => void): void => void this.#listeners.push(listener);
  change(ca: string): void {
    this.ca = ca;
    for (const listener of this.#listeners) listener();
  }
}

describe.each(stores)('a server with front proxies and client certificates, on %s', (store) => {
  const fishery = new Fishery(store);
  const clientCA = new ChangingAuthority(clients.cert);
  let server: ApiServer;
  beforeAll(async () => {
    server = await fishery.start({
      certificate: serving,
      token: 'a-token-of-enough-characters',
      requestHeader: { ca: proxies.cert, allowedNames: ['front-proxy-client'] },
      clientCA,
      authorize,
    });
  });
  afterAll(() => fishery.stop());

  const whoami = (question: Question): Promise<Answer> =>
    ask(server.url + review, { method: 'POST', body: {}, ...question });

  const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
  const everyone = ['system:authenticated'];
  test.each<[who: string, question: Question, code: number, user?: object]>([
    [
      'the user that a proxy asserts',
      { pair: proxyOf(proxies), headers: saying('ada', 'fishers') },
      201,
      { username: 'ada', groups: ['fishers'] },
    ],
    [
      'the user of a certificate, in its organizations',
      { pair: user('grace', ['fishers', 'staff']) },
      201,
      { username: 'grace', groups: ['fishers', 'staff', ...everyone] },
    ],
    [
      'the user of a certificate, not one whom they assert',
      { pair: user('grace'), headers: saying('root', 'system:masters') },
      201,
      { username: 'grace', groups: everyone },
    ],
    [
      'the user of a certificate, not of a token',
      { pair: user('grace'), headers: bearer('a-token-of-enough-characters') },
      201,
      { username: 'grace', groups: everyone },
    ],
    [
      'the user of a token, where a certificate counts for nothing',
      { pair: certificate('eve'), headers: bearer('a-token-of-enough-characters') },
      201,
      { username: 'operator', groups: everyone },
    ],
    ['no one without a certificate', { headers: saying('root', 'system:masters') }, 401],
    ['no one by a certificate of another authority', { pair: certificate('eve') }, 401],
    [
      'no one by an expired certificate',
      { pair: user('grace', [], { from: Date.now() - 2 * hour, until: Date.now() - hour }) },
      401,
    ],
    [
      'no one by a proxy of another name',
      {
        pair: proxyOf(proxies, { name: 'another' }),
        headers: saying('root', 'system:masters'),
      },
      401,
    ],
    [
      'no user by a certificate of the proxies’ authority',
      { pair: certificate('eve', proxies, { usages: [clientAuth] }) },
      401,
    ],
    [
      'no proxy by a certificate of the users’ authority',
      { pair: user('front-proxy-client'), headers: saying('root', 'system:masters') },
      201,
      { username: 'front-proxy-client', groups: everyone },
    ],
  ])('knows %s', async (_, question, ...[code, userInfo]) => {
    const answer = await whoami(question);
    expect(answer.code).toBe(code);
    if (userInfo) expect(answer.body.status.userInfo).toEqual(userInfo);
  });

  test('authorizes both by their groups', async () => {
    const codes = await Promise.all(
      [
        { pair: user('grace', ['fishers']) },
        { pair: user('grace') },
        { pair: proxyOf(proxies), headers: saying('ada', 'fishers') },
        { pair: proxyOf(proxies), headers: saying('ada') },
        { pair: certificate('eve') },
        {},
      ].map(async (question) => (await ask(server.url + fischers, question)).code),
    );
    expect(codes).toEqual([200, 403, 200, 403, 401, 401]);
  });

  test('serves documents to everyone whose certificate counts for nothing', async () => {
    expect((await ask(`${server.url}/apis`, { pair: certificate('eve') })).code).toBe(200);
    expect((await ask(`${server.url}/readyz`, { pair: certificate('eve') })).code).toBe(200);
  });

  test('follows changes of the authority, and keeps it if the new one cannot be used', async () => {
    const next = authority('next');
    const pair = certificate('lin', next, { usages: [clientAuth] });
    expect((await whoami({ pair })).code).toBe(401);
    clientCA.change('nothing');
    expect((await whoami({ pair: user('grace') })).code).toBe(201);
    clientCA.change(next.cert);
    expect((await whoami({ pair })).body.status.userInfo.username).toBe('lin');
    expect((await whoami({ pair: user('grace') })).code).toBe(401);
    clientCA.change(clients.cert);
    expect((await whoami({ pair: user('grace') })).code).toBe(201);
  });
});

describe('options that contradict each other', () => {
  const fishery = new Fishery('embedded');
  afterAll(() => fishery.stop());

  test.each<[why: string, options: Parameters<Fishery['start']>[0]]>([
    ['requestHeader needs certificate', { requestHeader: { ca: proxies.cert }, authorize }],
    ['clientCA needs certificate', { clientCA: { ca: clients.cert }, authorize }],
    [
      'requestHeader needs authorize',
      { requestHeader: { ca: proxies.cert }, certificate: serving },
    ],
    ['clientCA needs authorize', { clientCA: { ca: clients.cert }, certificate: serving }],
    [
      'clientCA.ca cannot be used: it contains no PEM certificate',
      { clientCA: { ca: 'nothing' }, certificate: serving, authorize },
    ],
    [
      'requestHeader: Cookie would replace cookie',
      {
        requestHeader: { ca: proxies.cert, usernameHeaders: ['Cookie'] },
        certificate: serving,
        authorize,
      },
    ],
    ['a health check has a name of its own', { checks: [{ name: 'storage', run() {} }] }],
    ['a health check has a name of its own', { checks: [{ name: 'Pond/1', run() {} }] }],
  ])('are refused at start: %s', async (why, options) => {
    await expect(fishery.start(options)).rejects.toThrow(why);
  });
});
