import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { decodeRow } from '../../registry/store/outbox-row.js';
import { openEtcd } from '../../storage/etcd/etcd.js';
import { prefixRange, type Storage } from '../../storage/storage.js';
import { type EtcdServer, startEtcd } from '../storage/etcd-server.js';
import { Endpoint } from '../support/network/endpoint.js';
import { Stream } from '../support/network/stream.js';
import { settles } from '../support/patience.js';
import { authorizationPath, proceed, redeem, signIn } from '../support/people/signin.js';
import type { Answer, Tab } from '../support/people/tab.js';
import { stopAll, temporary } from '../support/service.js';
import { Served } from './served.js';

const rounds = 10;

/** A Client that no one uses offline, as an operator declares it. */
const clientManifest = (
  name: string,
  backchannelLogoutURI?: string,
): string => `apiVersion: id.vestibule.org/v1beta1
kind: Client
metadata: { name: ${name} }
spec:
  displayName: The one that is ${name}
  type: Public
  redirectURIs: [https://app.example.test/callback]
  scopes: [{ name: openid, required: true }, { name: email, required: true }]
${backchannelLogoutURI ? `  backchannelLogoutURI: ${backchannelLogoutURI}\n` : ''}`;

describe('two processes on one etcd', () => {
  let etcd: EtcdServer;
  let storage: Storage;
  let replicas: readonly Served[];
  const endpoint = new Endpoint();
  beforeAll(async () => {
    [etcd] = await Promise.all([startEtcd(), endpoint.open()]);
    storage = await openEtcd({ servers: [etcd.endpoint], prefix: '/vestibule/' });
    replicas = await Served.replicas(
      2,
      temporary(),
      etcd.endpoint,
      [clientManifest('bound'), clientManifest('notified-app', endpoint.uri)].join('---\n'),
    );
  });
  afterAll(async () => {
    for (const replica of replicas ?? []) await replica.end();
    endpoint.close();
    await storage?.close();
    await etcd?.stop();
    await stopAll();
  });

  /** The same browser, as it reaches a process. */
  const at = (served: Served, { cookies }: Tab): Tab =>
    Object.assign(served.tab(), { cookies: [...cookies] });
  const userinfo = (served: Served, token: string) =>
    served
      .tab()
      .get('/oauth2/userinfo', { plain: true, headers: { authorization: `Bearer ${token}` } });
  const refreshed = (served: Served, token: string) =>
    served.tab().send('POST', '/oauth2/token', {
      plain: true,
      body: new URLSearchParams({
        grant_type: 'refresh_token',
        refresh_token: token,
        client_id: 'app',
      }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });

  /**
   * Someone who is signed in to two Clients and uses one of them offline; once a round, now by the
   * one process and now by the other.
   */
  async function* turns(address: string): AsyncGenerator<{
    here: Served;
    there: Served;
    tab: Tab;
    bound: string;
    access: string;
    refresh: string;
  }> {
    for (let round = 0; round < rounds; round += 1) {
      const [here, there] = round % 2 ? [replicas[1]!, replicas[0]!] : [replicas[0]!, replicas[1]!];
      const signedIn = await signIn(here, address, {
        scope: 'openid email offline_access',
        parameters: { prompt: 'consent' },
      });
      const { tab } = signedIn;
      const verifier = randomBytes(32).toString('base64url');
      const callback = await proceed(tab, authorizationPath('bound', 'openid email', verifier));
      const { access_token: bound } = (await redeem(there, { callback, verifier, client: 'bound' }))
        .body;
      const { access_token: access, refresh_token: refresh } = (await redeem(there, signedIn)).body;
      for (const replica of replicas) {
        await at(replica, tab).get('accounts/~').is(200);
        for (const token of [bound, access]) await userinfo(replica, token).is(200);
      }
      yield { here, there, tab, bound, access, refresh };
    }
  }

  /**
   * How long it took until something was refused, in milliseconds, and how many requests were
   * answered until then.
   */
  interface Refusal {
    readonly took: number;
    readonly answered: number;
  }

  /** Asks again and again until it is refused so. */
  async function refusal(ask: () => PromiseLike<Answer>, code: number): Promise<Refusal> {
    const from = performance.now();
    for (let answered = 0; ; answered += 1) {
      const answer = await ask();
      const took = performance.now() - from;
      if (answer.code === code) return { took, answered };
      if (answer.code !== 200 || took > 20_000) {
        throw new Error(
          `${answer.code} after ${took} ms: ${answer.bytes.toString().slice(0, 300)}`,
        );
      }
    }
  }

  const tell = (what: string, refusals: readonly Refusal[]): void => {
    const times = refusals.map(({ took }) => took).sort((a, b) => a - b);
    const atOnce = refusals.filter(({ answered }) => answered === 0).length;
    process.stderr.write(
      `${what}: refused by the other process at the very next request in ${atOnce} of ${times.length} rounds, after ${times[times.length >> 1]!.toFixed(0)} ms (median), ${times.at(-1)!.toFixed(0)} ms (longest)\n`,
    );
  };

  test('a session that ends at one: its cookie and access token end at the other', async () => {
    const [cookies, tokens]: Refusal[][] = [[], []];
    for await (const { here, there, tab, bound, access, refresh } of turns(
      'session@example.test',
    )) {
      const held = at(there, tab);
      await tab.delete('sessions/~').is(200);
      const [cookie, token] = await Promise.all([
        refusal(() => at(there, held).get('accounts/~'), 401),
        refusal(() => userinfo(there, bound), 401),
      ]);
      cookies!.push(cookie);
      tokens!.push(token);
      await at(here, held).get('accounts/~').fails(401, 'Unauthorized');
      await userinfo(there, access).is(200);
      await refreshed(there, refresh).is(200);
    }
    tell('the cookie of an ended session', cookies!);
    tell('the access token of an ended session', tokens!);
  }, 120_000);

  test('a grant revoked at one: its tokens end at the other, the session does not', async () => {
    const [tokens, refreshes]: Refusal[][] = [[], []];
    for await (const { here, there, tab, access, refresh } of turns('grant@example.test')) {
      const { name } = (await tab.get('accounts/~').is(200)).body.metadata;
      await tab.delete(`grants/${name}-app`).is(200);
      let latest = refresh;
      const renewed = async (): Promise<Answer> => {
        const answer = await refreshed(there, latest);
        latest = answer.body.refresh_token ?? latest;
        return answer;
      };
      const [token, again] = await Promise.all([
        refusal(() => userinfo(there, access), 401),
        refusal(renewed, 400),
      ]);
      tokens!.push(token);
      refreshes!.push(again);
      for (const one of [here, there]) {
        expect((await refreshed(one, latest).is(400)).body.error).toBe('invalid_grant');
      }
      await at(there, tab).get('accounts/~').is(200);
    }
    tell('the access token of a revoked grant', tokens!);
    tell('the refresh token of a revoked grant', refreshes!);
  }, 120_000);

  test('a Client that is down delays no one, and is notified by another replica', async () => {
    const [one, two] = replicas as [Served, Served];
    const { tab } = await signIn(one, 'h5@example.test', { client: 'notified-app' });
    const { tab: elsewhere } = await signIn(two, 'h5@example.test');
    const path = `sessions/${(await tab.get('sessions/~').is(200)).body.metadata.name}`;
    const watch = await new Stream(elsewhere, 'sessions?watch=true').until(
      ({ code }) => code === 200,
    );
    endpoint.state = 'Down';
    const from = performance.now();
    const { body } = await at(one, elsewhere).delete(path).is(200);
    process.stderr.write(
      `a session whose Client is down is ended in ${(performance.now() - from).toFixed(0)} ms\n`,
    );
    expect(body.status.signOut.clients).toEqual([{ name: 'notified-app', state: 'Retrying' }]);
    await settles(
      async () =>
        (await storage.list(prefixRange('outbox/logout/'))).entries.map(
          ({ value }) => decodeRow(value).head,
        ),
      ([row]) => row!.attempt > 0 && row!.claimed === undefined,
    );
    await one.end();
    try {
      await settles(
        () => at(two, tab).get('accounts/~'),
        ({ code }) => code === 401,
      );
      expect((await elsewhere.get(path).is(200)).body.status.signOut.clients).toEqual([
        { name: 'notified-app', state: 'Retrying' },
      ]);
      const before = endpoint.tokens.length;
      endpoint.state = 'Up';
      await watch.until(
        ({ events }) =>
          events.some(
            ({ type, object }) => type === 'DELETED' && path.endsWith(object.metadata.name),
          ),
        120_000,
      );
      expect(
        watch.events.slice(-2).map(({ type, object }) => [type, object.status.signOut.clients]),
      ).toEqual(
        ['MODIFIED', 'DELETED'].map((type) => [
          type,
          [{ name: 'notified-app', state: 'Notified' }],
        ]),
      );
      expect(endpoint.tokens.length).toBe(before + 1);
      await elsewhere.get(path).fails(404, 'NotFound');
    } finally {
      watch.close();
      await one.again();
    }
  }, 180_000);
});
