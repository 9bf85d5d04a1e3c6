import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { openEtcd } from '../../../storage/etcd/etcd.js';
import { type Storage, UnavailableError } from '../../../storage/storage.js';
import { freePorts } from '../../storage/etcd-server.js';
import { Endpoint } from '../../support/network/endpoint.js';
import { scrape } from '../../support/network/scrape.js';
import { settles } from '../../support/patience.js';
import { redeem, signIn } from '../../support/people/signin.js';
import type { Answer, Tab } from '../../support/people/tab.js';
import { operator as address, pause, Quorum, tell } from './quorum.js';

jest.setTimeout(180_000);

let quorum: Quorum;
let storage: Storage;
let metrics: number;
const client = new Endpoint();
beforeAll(async () => {
  [metrics] = (await freePorts(1)) as [number];
  await client.open();
  const manifest = `apiVersion: id.vestibule.org/v1beta1
kind: Client
metadata: { name: notified-app }
spec:
  displayName: One that is notified
  type: Public
  redirectURIs: [https://app.example.test/callback]
  scopes: [{ name: openid, required: true }, { name: email, required: true }]
  backchannelLogoutURI: ${client.uri}
`;
  quorum = await Quorum.start({
    etcd: ['--quota-backend-bytes=4194304'],
    manifest,
    flags: (i) => (i === 0 ? ['--metrics-port', String(metrics)] : []),
  });
  storage = await openEtcd({
    servers: quorum.members.map(({ endpoint }) => endpoint),
    prefix: '/filler/',
  });
});
afterAll(async () => {
  client.close();
  await storage?.close();
  await quorum?.end();
});

const at = (replica: number, { cookies }: Tab): Tab =>
  Object.assign(quorum.replicas[replica]!.tab(), { cookies: [...cookies] });
const token = (path: string, fields: Record<string, string>): PromiseLike<Answer> =>
  quorum.replicas[0]!.tab().send('POST', path, {
    plain: true,
    body: new URLSearchParams({ client_id: 'app', ...fields }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
const userinfo = (replica: number, access: string): PromiseLike<Answer> =>
  quorum.replicas[replica]!.tab().get('/oauth2/userinfo', {
    plain: true,
    headers: { authorization: `Bearer ${access}` },
  });

/** Writes beside the service until nothing more goes in; what was written. */
async function fill(): Promise<string[]> {
  const keys: string[] = [];
  for (let failures = 0; failures < 3; ) {
    const key = `k${keys.length}`;
    try {
      await storage.commit([], [{ put: key, value: Buffer.alloc(50_000) }]);
      keys.push(key);
      failures = 0;
    } catch (error) {
      if (error instanceof UnavailableError && error.full) failures += 1;
    }
  }
  return keys;
}

const quorumWide = async (path: string, body: object): Promise<void> => {
  for (const { endpoint } of quorum.members) {
    await (
      await fetch(`${endpoint}/v3/maintenance/${path}`, {
        method: 'POST',
        body: JSON.stringify(body),
      })
    ).text();
  }
};

test('etcd is out of space: sign-out and revocation go on, all else is 503', async () => {
  const operator = (await signIn(quorum.replicas[0]!, address)).tab;
  const signedIn = async (name: string) => {
    const one = await signIn(quorum.replicas[0]!, `${name}@example.test`, {
      scope: 'openid email offline_access',
      parameters: { prompt: 'consent' },
    });
    return {
      tab: one.tab,
      tokens: (await redeem(quorum.replicas[0]!, one)).body as {
        access_token: string;
        refresh_token: string;
      },
    };
  };
  const [leaving, revoking, using] = [
    await signedIn('leaving'),
    await signedIn('revoking'),
    await signedIn('using'),
  ];
  const notified = (
    await signIn(quorum.replicas[0]!, 'notified-app@example.test', { client: 'notified-app' })
  ).tab;
  await operator
    .post('groups', { metadata: { name: 'before' }, spec: { displayName: 'x' } })
    .is(201);
  const keys = await fill();
  const full = performance.now();

  for (const replica of [0, 1]) {
    const { headers } = await at(replica, operator)
      .post('groups', { metadata: { name: 'one-more' }, spec: { displayName: 'x' } })
      .fails(503, 'ServiceUnavailable');
    expect(headers['retry-after']).toBe('1');
    await at(replica, operator)
      .patch('groups/before', { spec: { displayName: 'y' } })
      .fails(503, 'ServiceUnavailable');
  }
  expect(
    (
      await token('/oauth2/token', {
        grant_type: 'refresh_token',
        refresh_token: using.tokens.refresh_token,
      })
    ).code,
  ).toBe(503);

  await at(0, leaving.tab).delete('sessions/~').is(200);
  await settles(
    () =>
      Promise.all(
        [0, 1].map((replica) =>
          at(replica, leaving.tab)
            .get('accounts/~')
            .then(({ code }) => code),
        ),
      ),
    (codes) => codes.every((code) => code === 401),
  );
  const session = (await notified.get('sessions/~').is(200)).body.metadata.name;
  const ended = (await at(1, notified).delete('sessions/~').is(200)).body;
  expect(ended.status.signOut.clients).toEqual([{ name: 'notified-app', state: 'GaveUp' }]);
  for (const replica of [0, 1]) {
    await at(replica, notified).get('accounts/~').fails(401, 'Unauthorized');
  }
  await at(0, operator).get(`sessions/${session}`).fails(404, 'NotFound');

  const { name } = (await revoking.tab.get('accounts/~').is(200)).body.metadata;
  await at(1, revoking.tab).delete(`grants/${name}-app`).is(200);
  await settles(
    () =>
      Promise.all(
        [0, 1].map((replica) =>
          userinfo(replica, revoking.tokens.access_token).then(({ code }) => code),
        ),
      ),
    (codes) => codes.every((code) => code === 401),
  );
  expect((await token('/oauth2/revoke', { token: using.tokens.refresh_token })).code).toBe(200);
  await at(0, operator).delete('groups/before').is(200);

  const seen = await scrape(`http://127.0.0.1:${metrics}`);
  const alarms = await Promise.all(
    quorum.members.map(async ({ endpoint }) =>
      (await fetch(`${endpoint}/v3/maintenance/alarm`, { method: 'POST', body: '{}' })).text(),
    ),
  );
  expect([
    seen.sum('vestibule_commits_total', { result: 'refused' }) > 0,
    alarms.every((text) => text.includes('NOSPACE')),
  ]).toEqual([true, true]);
  while (performance.now() - full < 12_000) await pause(100);
  for (const replica of quorum.replicas) {
    await replica.tab().get('/readyz', { plain: true }).is(200);
  }

  while (keys.length > 0) {
    await storage.commit(
      [],
      keys.splice(0, 90).map((key) => ({ delete: key })),
    );
  }
  await quorum.compact();
  const freed = performance.now();
  await settles(
    async () => {
      await quorumWide('defragment', {});
      for (const { alarms: raised = [] } of await Promise.all(
        quorum.members.map(
          async ({ endpoint }) =>
            (
              await fetch(`${endpoint}/v3/maintenance/alarm`, { method: 'POST', body: '{}' })
            ).json() as Promise<{ alarms?: { memberID: string }[] }>,
        ),
      )) {
        for (const { memberID } of raised) {
          await quorumWide('alarm', { action: 'DEACTIVATE', memberID, alarm: 'NOSPACE' });
        }
      }
      return at(0, operator)
        .post('groups', { metadata: { name: 'room' }, spec: { displayName: 'x' } })
        .then(({ code }) => code);
    },
    (code) => code === 201 || code === 409,
  );
  tell(
    `etcd out of space at 4 MiB, ${quorum.about}: sign-out, revocation and readiness go on; with room again after ${(performance.now() - freed).toFixed(0)} ms`,
  );
  await signIn(quorum.replicas[1]!, 'later@example.test');
  expect(
    (
      await token('/oauth2/token', {
        grant_type: 'refresh_token',
        refresh_token: using.tokens.refresh_token,
      })
    ).body.error,
  ).toBe('invalid_grant');
  for (const replica of [0, 1]) {
    await at(replica, leaving.tab).get('accounts/~').fails(401, 'Unauthorized');
  }
  expect(client.tokens).toEqual([]);
});
