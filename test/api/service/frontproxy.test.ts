import { readFileSync } from 'node:fs';
import { createServer, request } from 'node:http';
import { Agent } from 'node:https';
import { type AddressInfo, createServer as createLine, connect as dial } from 'node:net';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { identityHeaderPattern, removeHeaders } from '../../../apiserver/requestheader/headers.js';
import type { CertificatePair } from '../../../cmd/vestibule/serve/tls/self-signed-certificate.js';
import { type DecisionObject, PolicyDecision } from '../../../kinds/policy/policy-decision.js';
import {
  authority,
  callerOf,
  certificate,
  type Fronted,
  master,
  proxyOf,
  saying,
  startFronted,
} from '../../support/cluster/frontproxy.js';
import { clientAuth, serverAuth } from '../../support/cluster/issue-certificate.js';
import { expectFor } from '../../support/expect-for.js';
import { Stream } from '../../support/network/stream.js';
import { until } from '../../support/patience.js';
import { begin, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, temporary } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const review = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
const plain = { plain: true } as const;
/** With bytes for a body: beside a text, node would send headers as UTF-8. */
const asking = { plain: true, body: Buffer.from('{}') } as const;
const whoami = async (tab: Tab): Promise<unknown> =>
  (await tab.post(review, undefined, asking).is(201)).body.status.userInfo;

describe.each(stores)('a user of a cluster, on %s', (store) => {
  let front: Fronted;
  const audit = join(temporary(), 'audit.log');
  beforeAll(async () => {
    front = await startFronted({
      store,
      flags: [
        '--operators',
        'op@example.test',
        '--requestheader-uid-headers',
        'x-remote-uid',
        '--audit-log-path',
        audit,
      ],
    });
    await createClient(front.service, 'app');
  });

  test('is who the front proxy says: in policy, answers, records and the log', async () => {
    const root = front.caller(front.proxy, master);
    expect((await root.get('clients', plain).is(200)).body.items).toHaveLength(1);
    await root
      .post(
        'groups',
        { metadata: { name: 'staff' }, spec: { displayName: 'Staff', members: [] } },
        plain,
      )
      .is(201);
    const refused = await front
      .caller(front.proxy, saying('ada', 'system:authenticated', 'operators'))
      .delete('groups/staff', plain)
      .fails(404, 'NotFound');
    expect(refused.message).toBe('groups.id.vestibule.org "staff" not found');
    expect(
      (
        await front
          .caller(front.proxy, saying('ada@example.test'))
          .get('clients', plain)
          .fails(403, 'Forbidden')
      ).message,
    ).toMatch(
      /^clients\.id\.vestibule\.org is forbidden: User "ada@example\.test" cannot list resource "clients"/,
    );
    let found: string[] = [];
    await until(async () => {
      found = ((await front.service.store.reader(PolicyDecision).list()) as DecisionObject[]).map(
        ({ spec, status }) =>
          `${spec.principal} ${spec.action} ${spec.resource?.kind} ${status.allowed} ${spec.input.groups?.join()}`,
      );
      return found.length >= 3;
    });
    expect(found).toEqual(
      expect.arrayContaining([
        'ClusterUser::"root" create Group true system:masters,system:authenticated',
        'ClusterUser::"ada" delete Group false system:authenticated,operators',
        'ClusterUser::"ada@example.test" list Client false undefined',
      ]),
    );
    const lines = front.service.logs.map((line) => JSON.parse(line));
    expect(lines).toContainEqual(
      expect.objectContaining({
        message: 'request',
        user: 'root',
        verb: 'create',
        resource: 'groups',
        code: 201,
      }),
    );
    expect(lines).toContainEqual(
      expect.objectContaining({
        message: 'request',
        user: expect.stringMatching(/^address:[\da-f]{16}$/),
        method: 'GET',
        code: 403,
      }),
    );
    expect(front.service.logs.join('')).not.toContain('ada@');
    await until(() => readFileSync(audit, 'utf8').includes('"forbid"'));
    const events = readFileSync(audit, 'utf8');
    expect(
      events
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    ).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          verb: 'create',
          user: { username: 'root', groups: ['system:masters', 'system:authenticated'] },
        }),
        expect.objectContaining({
          verb: 'list',
          user: { username: expect.stringMatching(/^address:[\da-f]{16}$/), groups: [] },
        }),
      ]),
    );
    expect(events).not.toContain('ada@');
  });

  test('gets 403 for metadata that they may not read, there or not', async () => {
    const accept =
      'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json';
    const ada = front.caller(front.proxy, saying('ada', 'system:authenticated'));
    const messages = await Promise.all(
      ['app', 'absent'].map(async (name) =>
        (
          await ada
            .get(`clients/${name}`, { plain: true, headers: { accept } })
            .fails(403, 'Forbidden')
        )
          .message!.replaceAll(name, 'NAME')
          .replaceAll(/\bd-\w+/g, 'DECISION'),
      ),
    );
    expect(messages[0]).toBe(messages[1]);
    for (const name of ['app', 'absent']) {
      await ada.get(`clients/${name}`, plain).fails(404, 'NotFound');
    }
    await front
      .caller(front.proxy, master)
      .get('clients/absent', { plain: true, headers: { accept } })
      .fails(404, 'NotFound');
  });

  test('can read who they are, in full, and what they may do', async () => {
    const headers = {
      ...saying('Zoë', 'a, b', 'system:authenticated'),
      'X-REMOTE-UID': 'u-1',
      'X-Remote-Extra-Example.org%2fScopes': ['one', 'two'],
      'x-remote-extra-acme%zz': '3',
    };
    const latin1 = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        name === 'X-Remote-User' ? Buffer.from(String(value)).toString('latin1') : value,
      ]),
    );
    expect(await whoami(front.caller(front.proxy, latin1))).toEqual({
      username: 'Zoë',
      uid: 'u-1',
      groups: ['a, b', 'system:authenticated'],
      extra: { 'example.org/scopes': ['one', 'two'], 'acme%zz': ['3'] },
    });
    const may = async (headersOf: Record<string, string | string[]>) =>
      (
        await front
          .caller(front.proxy, headersOf)
          .post(
            '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
            {
              spec: {
                resourceAttributes: {
                  verb: 'create',
                  group: 'id.vestibule.org',
                  resource: 'policies',
                },
              },
            },
            plain,
          )
          .is(201)
      ).body.status.allowed;
    expect([await may(master), await may(saying('ada', 'operators'))]).toEqual([true, false]);
  });

  test('has neither cookies nor tokens, and opens no sign-in', async () => {
    const { tab } = await signIn(front.service, 'op@example.test');
    const { tab: browser, I } = await begin(front.service);
    const at = (who: Tab, headers = {}): Tab => {
      const one = front.caller(front.proxy, headers);
      one.cookies = who.cookies;
      return one;
    };
    await at(tab).get('accounts/~', plain).is(200);
    await at(browser).get(I, plain).is(200);
    await at(tab, saying('ada')).get('accounts/~', plain).fails(401, 'Unauthorized');
    await at(tab, saying('ada')).get('clients', plain).fails(403, 'Forbidden');
    await at(browser, master).get(I, plain).fails(404, 'NotFound');
    for (const authorization of ['Bearer bad', 'Basic eDp5', '']) {
      for (const path of ['clients', '/apis', '/apis/id.vestibule.org/v1beta1']) {
        await front
          .caller(front.proxy, master)
          .get(path, { plain: true, headers: { authorization } })
          .is(200);
      }
    }
    await front
      .caller(front.proxy, master)
      .get('clients', {
        plain: true,
        headers: { authorization: 'Bearer bad', origin: front.service.baseURL },
      })
      .is(200);
    await front
      .caller(front.proxy, saying('ada'))
      .get('clients', { plain: true, headers: { authorization: 'Bearer bad' } })
      .fails(403, 'Forbidden');
    await front
      .caller(front.proxy)
      .get('clients', { plain: true, headers: { authorization: 'Bearer bad' } })
      .fails(401, 'Unauthorized');
  });

  test('cannot impersonate anyone else', async () => {
    for (const path of ['clients', '/apis']) {
      expect(
        (
          await front
            .caller(front.proxy, { ...master, 'impersonate-user': 'ada' })
            .get(path, plain)
            .fails(403, 'Forbidden')
        ).message,
      ).toContain('impersonation is not served');
    }
  });

  test('has watches end once its front proxy is no longer one', async () => {
    const stream = await new Stream(front.caller(front.proxy, master), 'clients?watch=true').until(
      ({ events }) => events.length === 1,
    );
    await front.change(authority('another').cert);
    await stream.until(({ ended }) => ended, 30_000);
    expect(stream.clean).toBe(true);
    await front.change(front.authority.cert);
  });
});

describe('a certificate', () => {
  let front: Fronted;
  let others: Record<string, CertificatePair | undefined>;
  const day = 86_400_000;
  const bundle = (leaf: CertificatePair, ...rest: CertificatePair[]): CertificatePair => ({
    key: leaf.key,
    cert: [leaf, ...rest].map(({ cert }) => cert).join(''),
  });

  beforeAll(async () => {
    front = await startFronted(
      {},
      ['--requestheader-allowed-names', 'front-proxy-client,second'],
      authority('front-proxy', undefined, { authority: { below: 1 } }),
    );
    const signer = front.authority;
    const [below, bare, forServers, late] = [
      authority('below', signer),
      authority('bare', signer),
      authority('servers', signer, { usages: [serverAuth] }),
      authority('late', signer, { until: Date.now() - 1_000 }),
    ];
    const deeper = authority('deeper', below);
    const leaf = certificate('front-proxy-client', signer, { usages: [clientAuth] });
    others = {
      'yes: for clients': front.proxy,
      'yes: for clients and servers, of another name that is allowed': certificate(
        'second',
        signer,
        { usages: [serverAuth, clientAuth] },
      ),
      'yes: for anything': certificate('front-proxy-client', signer),
      'yes: by an authority below': bundle(proxyOf(below), below),
      'yes: with what is no part of it': bundle(front.proxy, bare, below),
      'none at all': undefined,
      'of another authority': proxyOf(authority('elsewhere')),
      'of another authority by the same name': proxyOf(authority('front-proxy')),
      'of another authority, which it brings along': (() => {
        const one = authority('elsewhere');
        return bundle(proxyOf(one), one);
      })(),
      'of an authority below that is kept back': proxyOf(below),
      'of an authority too far below': bundle(proxyOf(deeper), deeper, below),
      'of an authority for servers': bundle(proxyOf(forServers), forServers),
      'of an authority that is over': bundle(proxyOf(late), late),
      'that is over': proxyOf(signer, { until: Date.now() - 1_000 }),
      'that is not good yet': proxyOf(signer, {
        from: Date.now() + day,
        until: Date.now() + 2 * day,
      }),
      'for servers': proxyOf(signer, { usages: [serverAuth] }),
      'of a name that is not allowed': certificate('mallory', signer, { usages: [clientAuth] }),
      'signed by another proxy': bundle(proxyOf(leaf), leaf),
      'that proves itself': proxyOf(certificate('x')),
    };
  });

  test('is a front proxy’s only by that authority, in time, by an allowed name', async () => {
    const wrong: string[] = [];
    for (const [which, pair] of Object.entries(others)) {
      const { code } = await front.caller(pair, master).get('clients', plain);
      if (code !== (which.startsWith('yes') ? 200 : 401)) wrong.push(`${which}: ${code}`);
      for (const path of ['/apis/id.vestibule.org/v1beta1', '/livez', 'policies']) {
        await front.caller(pair, master).get(path, plain).is(200);
      }
      await front.caller(pair).get('clients', plain).fails(401, 'Unauthorized');
    }
    expect(wrong).toEqual([]);
    const said = front.service.logs.filter((line) => line.includes('ignored identity headers'));
    for (const why of [
      'has expired or is not yet valid',
      'is not issued by a front proxy CA',
      'allowed-names does not list',
    ]) {
      expect(said.join('')).toContain(why);
    }
    expect(said.join('')).not.toContain('mallory');
  });

  test('counts by any name where none is listed', async () => {
    const open = await startFronted({}, []);
    await open
      .caller(certificate('anyone', open.authority, { usages: [clientAuth] }), master)
      .get('clients', plain)
      .is(200);
    await open
      .caller(certificate('anyone', authority('elsewhere'), { usages: [clientAuth] }), master)
      .get('clients', plain)
      .fails(401, 'Unauthorized');
  });

  test('is verified again by the authorities of now, on open connections', async () => {
    const [next, agent] = [
      authority('front-proxy-2'),
      new Agent({ keepAlive: true, maxSockets: 1, ca: front.ca, ...front.proxy }),
    ];
    const [later, laterAgent] = [
      proxyOf(next),
      new Agent({ keepAlive: true, maxSockets: 1, ca: front.ca, ...proxyOf(next) }),
    ];
    const ports = new Set<number>();
    const through = async (by: Agent): Promise<number> => (await kept(front, by, ports)).code;
    expect([await through(agent), await through(laterAgent)]).toEqual([200, 401]);
    await front.change(front.authority.cert + next.cert);
    expect([await through(agent), await through(laterAgent)]).toEqual([200, 200]);
    await front.change(next.cert);
    expect([
      await through(agent),
      await through(laterAgent),
      (await front.caller(front.proxy, master).get('clients', plain)).code,
      (await front.caller(later, master).get('clients', plain)).code,
    ]).toEqual([401, 200, 401, 200]);
    await front.change('nothing of use');
    expect([await through(agent), await through(laterAgent)]).toEqual([401, 200]);
    await front.change(front.authority.cert);
    expect([await through(agent), await through(laterAgent)]).toEqual([200, 401]);
    expect(ports.size).toBe(2);
    agent.destroy();
    laterAgent.destroy();
  });

  test('is verified by a handshake again where an authority below it is trusted later', async () => {
    const next = authority('front-proxy-3');
    const below = authority('below', next);
    const agent = new Agent({
      keepAlive: true,
      maxSockets: 1,
      ca: front.ca,
      ...bundle(proxyOf(below), below),
    });
    const ports = new Set<number>();
    const through = async (): Promise<number> => (await kept(front, agent, ports)).code;
    expect([await through(), ports.size]).toEqual([401, 0]);
    await front.change(front.authority.cert + next.cert);
    expect([await through(), await through(), ports.size]).toEqual([200, 200, 1]);
    await front.change(front.authority.cert);
    expect([await through(), ports.size]).toEqual([401, 1]);
    await front.change(next.cert + front.authority.cert);
    expect([await through(), ports.size]).toEqual([200, 1]);
    await front.change(below.cert);
    expect([await through(), ports.size]).toEqual([200, 1]);
    agent.destroy();
    await front.change(front.authority.cert);
  });

  test('lives on under no authority that did not sign for it', async () => {
    const [first, second] = [authority('front-proxy-4'), authority('front-proxy-5')];
    const forged = authority('front-proxy-4', { cert: second.cert, key: authority('x').key });
    await front.change(first.cert + second.cert);
    const agent = new Agent({
      keepAlive: true,
      maxSockets: 1,
      ca: front.ca,
      ...bundle(proxyOf(first), forged),
    });
    const ports = new Set<number>();
    const through = async (): Promise<number> => (await kept(front, agent, ports)).code;
    expect(await through()).toBe(200);
    await front.change(second.cert);
    expect([await through(), ports.size]).toEqual([401, 1]);
    await front.change(front.authority.cert);
    agent.destroy();
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'is good where authorities share a name, by %s',
    async (version) => {
      const [first, second] = [authority('of-one-name'), authority('of-one-name')];
      await front.change(first.cert + second.cert + front.authority.cert);
      const codes: string[] = [];
      for (let turn = 0; turn < 20; turn += 1) {
        for (const signer of [first, second, front.authority]) {
          codes.push((await atOnce(front, proxyOf(signer), version)).code);
        }
      }
      expect(new Set(codes)).toEqual(new Set(['200']));
      await front.change(front.authority.cert);
    },
  );

  test('runs out on a connection that stands', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: front.ca, ...front.proxy });
    const ports = new Set<number>();
    expect((await kept(front, agent, ports)).code).toBe(200);
    const now = Date.now;
    Date.now = () => now() + 2 * day;
    try {
      expect((await kept(front, agent, ports)).code).toBe(401);
    } finally {
      Date.now = now;
    }
    expect([(await kept(front, agent, ports)).code, ports.size]).toEqual([200, 1]);
    agent.destroy();
  });

  test.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'is shown again by a client that comes back, by %s',
    async (version) => {
      const pair = others['yes: by an authority below']!;
      let session: Buffer | undefined;
      for (let turn = 0; turn < 2; turn += 1) {
        const { code, reused, session: next } = await atOnce(front, pair, version, session);
        session = next;
        expectFor(turn, [code, reused, session !== undefined]).toEqual(['200', false, true]);
      }
    },
  );
});

/** One request of a master on a connection of its own, sent along with the end of the handshake. */
async function atOnce(
  front: Fronted,
  pair: CertificatePair,
  version: 'TLSv1.2' | 'TLSv1.3',
  session?: Buffer,
): Promise<{ code: string; reused: boolean; session: Buffer | undefined }> {
  return new Promise((resolve, reject) => {
    const socket: TLSSocket = connect({
      port: Number(new URL(front.service.secureURL!).port),
      servername: 'localhost',
      ca: front.ca,
      ...pair,
      minVersion: version,
      maxVersion: version,
      ...(session && { session }),
    });
    let [said, reused, next] = ['', true, undefined as Buffer | undefined];
    socket
      .on('secureConnect', () => {
        reused = socket.isSessionReused();
      })
      .on('session', (one: Buffer) => {
        next = one;
      })
      .on('error', reject)
      .on('data', (chunk: Buffer) => {
        said += chunk.toString();
      })
      .on('close', () => resolve({ code: said.slice(9, 12), reused, session: next }));
    socket.write(
      'GET /api/v1beta1/clients HTTP/1.1\r\nHost: localhost\r\nX-Remote-User: root\r\nx-remote-group: system:masters\r\nConnection: close\r\n\r\n',
    );
  });
}

/** What a server says in the clear, from the first byte to the end of a handshake by TLS 1.2. */
async function handshake(front: Fronted): Promise<Buffer> {
  const heard: Buffer[] = [];
  const line = createLine((near) => {
    const far = dial(Number(new URL(front.service.secureURL!).port), '127.0.0.1');
    far.on('data', (chunk) => heard.push(chunk));
    near.pipe(far).pipe(near);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => {
    line.once('listening', resolve);
  });
  const socket = connect({
    port: (line.address() as AddressInfo).port,
    servername: 'localhost',
    ca: front.ca,
    maxVersion: 'TLSv1.2',
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('secureConnect', resolve).once('error', reject);
  });
  socket.destroy();
  await new Promise((resolve) => {
    line.close(resolve);
  });
  return Buffer.concat(heard);
}

test('a client that connects is asked for a certificate of the current authorities', async () => {
  const front = await startFronted({}, [], authority('the-first-authority'));
  const asks = async (): Promise<string[]> => {
    const said = (await handshake(front)).toString('latin1');
    return ['the-first-authority', 'the-second-authority', 'vestibule'].filter((one) =>
      said.includes(one),
    );
  };
  expect(await asks()).toEqual(['the-first-authority', 'vestibule']); // the last is the service's own name
  await front.change(authority('the-second-authority').cert);
  expect(await asks()).toEqual(['the-second-authority', 'vestibule']);
});

test('headers that claim leave a request in every form that node keeps of them', async () => {
  const [seen, pattern] = [
    [] as unknown[],
    identityHeaderPattern({
      usernameHeaders: ['x-who'],
      groupHeaders: [],
      uidHeaders: [],
      extraHeaderPrefixes: ['x.more-'],
    }),
  ];
  const server = createServer((req, res) => {
    seen.push(
      removeHeaders(req, pattern),
      [...Object.keys(req.headers), ...Object.keys(req.headersDistinct), ...req.rawHeaders].filter(
        (one) => /who|remote|more|root|ada/i.test(one),
      ),
      req.headers['x-whose'],
      req.headersDistinct['xxmore-k'],
      req.rawHeaders.length % 2,
    );
    res.end();
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => {
    server.once('listening', resolve);
  });
  const headers = {
    'X-Whose': 'kept',
    'X-WHO': ['ada', 'root'],
    'x-remote-user': 'ada',
    'X-Remote-Anything': 'root',
    'xxmore-k': 'kept',
    'X.More-K': '1',
  };
  await new Promise((resolve) => {
    request({ port: (server.address() as AddressInfo).port, headers, agent: false }, (res) =>
      res.resume().on('end', resolve),
    ).end();
  });
  server.close();
  expect(seen).toEqual([
    [
      ['x-who', 'ada'],
      ['x-who', 'root'],
      ['x-remote-user', 'ada'],
      ['x-remote-anything', 'root'],
      ['x.more-k', '1'],
    ],
    ['x-whose', 'xxmore-k', 'x-whose', 'xxmore-k', 'X-Whose', 'xxmore-k'],
    'kept',
    ['kept'],
    0,
  ]);
});

/** One request of a master on a connection that is kept. */
async function kept(front: Fronted, agent: Agent, ports: Set<number>): Promise<{ code: number }> {
  const tab = front.caller(undefined, master);
  tab.tls = { agent };
  const answer = await tab.get('clients', plain);
  for (const socket of Object.values(agent.freeSockets).flat()) ports.add(socket!.localPort!);
  return answer;
}

describe('what a front proxy says of a user', () => {
  let front: Fronted;
  beforeAll(async () => {
    front = await startFronted({}, [
      '--requestheader-username-headers',
      'X-User,x-remote-user',
      '--requestheader-group-headers',
      'X-Roles',
      '--requestheader-extra-headers-prefix',
      'X-More-,X-Even-',
    ]);
  });
  const by = (headers: Record<string, string | string[]>): Tab =>
    front.caller(front.proxy, headers);

  test('is read from the headers of the settings, however they are spelt', async () => {
    expect(
      await whoami(
        by({
          'X-USER': 'ada',
          'x-remote-user': 'root',
          'x-roles': ['a', 'b', ''],
          'X-Remote-Group': 'c',
          'x-even-k': '2',
          'x-more-k': '1',
        }),
      ),
    ).toEqual({ username: 'ada', groups: ['a', 'b'], extra: { k: ['1', '2'] } });
    expect(
      await whoami(by({ 'X-User': '', 'x-remote-user': 'root', 'x-remote-uid': '1' })),
    ).toEqual({ username: 'root', groups: [] });
    expect(await whoami(by({ 'x-user': 'ada', 'x-more-__proto__': 'x' }))).toEqual(
      JSON.parse('{"username":"ada","groups":[],"extra":{"__proto__":["x"]}}'),
    );
  });

  test('names one user, in letters that are seen, or no one', async () => {
    for (const user of [
      ['ada', 'root'],
      '',
      'a\u0080b',
      Buffer.from('\u202Eroot').toString('latin1'),
      'caf\u00e9',
    ]) {
      await by({ 'x-user': user }).post(review, undefined, asking).fails(401, 'Unauthorized');
    }
    await by({ 'x-user': 'ada', 'x-roles': Buffer.from('a\u202Eb').toString('latin1') })
      .post(review, undefined, asking)
      .fails(401, 'Unauthorized');
    await by({ 'x-roles': 'system:masters' }).get('clients', plain).fails(401, 'Unauthorized');
    expect(await whoami(by({ 'x-user': ['ada', 'ada'] }))).toMatchObject({ username: 'ada' });
  });

  test('counts as fields of the request as before', async () => {
    await by({ 'x-user': 'ada', 'x-roles': Array.from({ length: 150 }, (_, i) => `group-${i}`) })
      .get('policies', plain)
      .is(200);
    await by({ 'x-user': 'ada', 'x-roles': Array.from({ length: 220 }, (_, i) => `g${i}`) })
      .get('policies', plain)
      .fails(431, 'RequestHeaderFieldsTooLarge');
  });

  test('is ignored on the other port, without a certificate, and from no front proxy', async () => {
    const off = await startTest({ flags: ['--secure-port', '0'] });
    await createClient(front.service, 'app');
    const { tab } = await signIn(front.service, 'ada@example.test');
    const me = (await tab.get('accounts/~').is(200)).body;
    expect(
      (await tab.get('accounts/~', { headers: { ...master, 'x-user': 'root' } }).is(200)).body,
    ).toEqual(me);
    await front.service
      .tab()
      .get('clients', {
        plain: true,
        headers: { ...master, 'x-user': 'root', 'x-roles': 'system:masters' },
      })
      .fails(401, 'Unauthorized');
    await front
      .caller(undefined, { 'x-user': 'root', 'x-roles': 'system:masters' })
      .get('clients', plain)
      .fails(401, 'Unauthorized');
    const stranger = callerOf(off, '', front.proxy, master);
    stranger.tls = { ...front.proxy, rejectUnauthorized: false };
    await stranger.get('clients', plain).fails(401, 'Unauthorized');
    await stranger.get('/apis', plain).is(200);
  });
});
