import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { allowed, methodOf } from '../../../apiserver/request/verbs.js';
import { Grant } from '../../../kinds/apps/grant.js';
import { actions, kinds } from '../../../kinds/index.js';
import { MockMessage } from '../../../kinds/mail/mock-message.js';
import { Session } from '../../../kinds/people/session/session.js';
import { expectFor } from '../../support/expect-for.js';
import { Stream } from '../../support/network/stream.js';
import { begin, mailTo, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { draw } from '../../support/random.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { stores } from '../../support/stores.js';

describe.each(stores)('paths, lists and watches, on %s', (store) => {
  let service: TestService;
  let operator: Tab;
  let person: Tab;
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--limit-factor', '10000', '--operators', 'op@example.test'],
    });
    await createClient(service, 'app');
    operator = (await signIn(service, 'op@example.test')).tab;
    person = (await signIn(service, 'person@example.test')).tab;
    for (let i = 0; i < 40; i += 1) await createClient(service, `c${String(i).padStart(2, '0')}`);
  });
  afterAll(stopAll);

  test('any spelling but the canonical one leads nowhere', async () => {
    for (const path of [
      'clients/%2e%2e',
      `clients/${'a'.repeat(254)}`,
      'clients/APP',
      '//api/v1beta1/clients',
      '/api/v1beta1//clients',
      '/api/v1beta1/clients/',
      '/API/v1beta1/clients',
      '/api/v1beta1/Clients',
      '/api/v1beta1/./clients',
      '/api/v1beta1/clients/%61pp',
      '/api/v1beta1/clients\\app',
      '/api/v2/clients',
      '/api/v1beta1/constructor',
      '/api/v1beta1/clients/app/constructor',
      '/api/v1beta1/clients/app/status',
      '/apis/x/y',
    ]) {
      await operator.get(path).fails(404, 'NotFound');
    }
    for (const path of ['/api/v1beta1/clients/%', '/api/v1beta1/clients/%zz']) {
      await operator.get(path).fails(400, 'BadRequest');
    }
  });

  test('an owner whose name begins another’s touches its own range alone', async () => {
    const account = (await person.get('accounts/~').is(200)).body.metadata.name;
    const grant = (owner: string, name: string) =>
      service.store.change(service.store.systemCall(), (tx) =>
        tx.create(Grant, {
          metadata: { name },
          spec: { scopes: ['openid'] },
          status: {
            account: owner,
            client: { name: 'app', displayName: 'x' },
            grantedTimestamp: '2026-01-01T00:00:00Z',
            disclosures: [],
          },
          internal: { decision: 1, rejected: [], clientUID: '', decided: 0 },
        }),
      );
    await grant(`${account}b`, `${account}b-app`);
    await grant(account.slice(0, -1), `${account.slice(0, -1)}-app`);
    const { body } = await person.get('grants').is(200);
    expect(body.items.map((item: any) => item.metadata.name)).toEqual([`${account}-app`]);
    await person.get(`grants/${account}b-app`).fails(404, 'NotFound');
    expect(
      (await operator.get(`grants?fieldSelector=status.account%3D${account}`).is(200)).body.items,
    ).toHaveLength(1);
  });

  test('nor do its watch and its deletion of all touch theirs', async () => {
    const { tab } = await signIn(service, `range${store}@example.test`);
    const own = (await tab.get('sessions/~').is(200)).body;
    const account = own.status.account;
    const neighbours = [`${account}b`, account.slice(0, -1), `${account}-b`.slice(0, -2)].filter(
      (name) => name !== account,
    );
    const make = (owner: string) =>
      service.store.change(service.store.systemCall(), (tx) =>
        tx.create(Session, {
          metadata: { name: `${owner}-x` },
          spec: {},
          status: { ...own.status, account: owner },
          internal: {
            recordKey: `oidc/Session/${owner}`,
            uidDigest: 'x',
            loginSeconds: 1,
            epoch: 0,
            expires: Date.now() + 3_600_000,
          },
        }),
      );
    const stream = await new Stream(tab, 'sessions?watch=true').until(
      ({ events }) => events.length === 1,
    );
    for (const owner of neighbours) await make(owner);
    await service.store.change(service.store.systemCall(), (tx) =>
      tx.update(Session, own.metadata.name, ({ metadata }) => {
        metadata.labels = { seen: 'yes' };
      }),
    );
    await stream.until(({ events }) => events.length > 1);
    expect(new Set(stream.events.map(({ object }) => object.metadata.name))).toEqual(
      new Set([own.metadata.name]),
    );
    stream.close();
    const { body } = await tab.delete('sessions').is(200);
    expect(body.items.map((item: any) => item.metadata.name)).toEqual([own.metadata.name]);
    for (const owner of neighbours) {
      expect(await service.store.reader(Session).get(`${owner}-x`)).toBeDefined();
    }
  });

  test('unlisted methods are 405 with Allow; HEAD is decided as GET', async () => {
    for (const kind of kinds) {
      for (const item of [false, true]) {
        const path = item ? `${kind.resource}/app` : kind.resource;
        const listed = allowed(kind, item);
        for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'OPTIONS', 'SEARCH']) {
          if (listed.includes(method)) continue;
          const { headers, message } = await operator
            .send(method, path, { headers: { 'x-secret-echo': 'echo' } })
            .fails(405, 'MethodNotAllowed');
          expect(headers.allow).toBe(listed.join(', '));
          expect(message).not.toContain('echo');
        }
        expect((await operator.send('HEAD', path)).code).toBe((await operator.get(path)).code);
      }
    }
    for (const action of actions) {
      for (const method of ['PUT', 'DELETE']) {
        expect(
          (await operator.send(method, `${action.of.resource}/app/${action.subresource}`)).headers
            .allow,
        ).toContain(methodOf(action));
      }
    }
    expect((await operator.send('HEAD', 'clients/app')).bytes).toHaveLength(0);
  });

  test('limits and tokens: odd ones are 400, and so are those of another caller', async () => {
    for (const query of [
      'limit=-1',
      'limit=abc',
      'limit=1&limit=2',
      'limit=1e3',
      'limit=4294967296',
      'continue=xxxx',
      'labelSelector=%3D%3D',
      'fieldSelector=spec.x%3D1',
      'resourceVersion=x',
    ]) {
      expectFor(query, (await operator.get(`clients?${query}`)).code).toEqual(400);
    }
    const { body: first } = await operator.get('clients?limit=7').is(200);
    expect(first.items).toHaveLength(7);
    const token = encodeURIComponent(first.metadata.continue);
    await operator.get(`grants?limit=7&continue=${token}`).fails(400, 'BadRequest');
    await operator
      .get(`clients?limit=7&labelSelector=a&continue=${token}`)
      .fails(400, 'BadRequest');
    await operator.get(`clients?limit=7&continue=${token}x`).fails(400, 'BadRequest');
    const second = (await signIn(service, 'op@example.test')).tab;
    expect((await second.get(`clients?limit=7&continue=${token}`).is(200)).body.items).toHaveLength(
      7,
    );
    expect((await operator.get('clients?limit=1000000').is(200)).body.items).toHaveLength(41);
    const grants = (await operator.get('grants?limit=1').is(200)).body.metadata.continue;
    await person
      .get(`grants?limit=1&continue=${encodeURIComponent(grants)}`)
      .fails(400, 'BadRequest');
    await service
      .tab()
      .get(`mockmessages?limit=1&continue=${encodeURIComponent(grants)}`)
      .fails(400, 'BadRequest');
  });

  test('a long list that is repeated shows each change, in the form that is asked for', async () => {
    const path = 'clients?limit=33';
    const asMetadata = {
      headers: { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' },
    };
    for (let i = 0; i < 6; i += 1) {
      if (i === 3) await operator.patch('clients/c05', { spec: { displayName: 'new' } }).is(200);
      const { body } = await operator.get(path).is(200);
      const found = body.items.find((item: any) => item.metadata.name === 'c05');
      expectFor(i, found).toEqual((await operator.get('clients/c05').is(200)).body);
      expect([body.items.length, body.metadata.remainingItemCount]).toEqual([33, 8]);
      const { items } = (await operator.get(path, asMetadata).is(200)).body;
      expect([items.length, new Set(items.map((item: any) => item.kind))]).toEqual([
        33,
        new Set(['PartialObjectMetadata']),
      ]);
    }
  });

  test('a continue token can be neither read nor made up', async () => {
    const token = Buffer.from(
      (await operator.get('clients?limit=7').is(200)).body.metadata.continue,
      'base64url',
    );
    expect([
      token.toString('latin1').includes('objects'),
      token.toString('latin1').includes('c05'),
    ]).toEqual([false, false]);
    for (const made of ['{}', '{"r":1,"k":"objects/clients/","q":"[\\"\\",\\"\\"]"}']) {
      await operator
        .get(`clients?limit=7&continue=${Buffer.from(made).toString('base64url')}`)
        .fails(400, 'BadRequest');
    }
    for (let bit = 0; bit < token.length * 8; bit += 97) {
      const turned = Buffer.from(token);
      turned[bit >> 3]! ^= 1 << (bit & 7);
      await operator
        .get(`clients?limit=7&continue=${turned.toString('base64url')}`)
        .fails(400, 'BadRequest');
    }
  });

  test('a page has at most 500 objects; a list without a limit has all of them', async () => {
    const sent = new Date().toISOString().slice(0, 19);
    for (let from = 0; from < 520; from += 40) {
      await service.store.change(service.store.systemCall(), async (tx) => {
        for (let i = from; i < from + 40; i += 1) {
          await tx.create(MockMessage, {
            metadata: { name: `m${String(i).padStart(4, '0')}` },
            spec: {},
            status: {
              to: 'a',
              from: 'b',
              subject: 'c',
              text: 'd',
              html: 'e',
              sentTimestamp: `${sent}Z`,
            },
          });
        }
      });
    }
    const all = (await operator.get('mockmessages').is(200)).body;
    expect([all.items.length >= 520, all.metadata.continue]).toEqual([true, undefined]);
    const { body } = await operator.get('mockmessages?limit=1000000').is(200);
    expect([body.items.length, body.metadata.remainingItemCount]).toEqual([
      500,
      all.items.length - 500,
    ]);
    const rest = (
      await operator
        .get(`mockmessages?limit=1000000&continue=${encodeURIComponent(body.metadata.continue)}`)
        .is(200)
    ).body;
    expect([...body.items, ...rest.items].map((one: any) => one.metadata.name)).toEqual(
      all.items.map((item: any) => item.metadata.name),
    );
    await service.tab().delete('mockmessages').is(200);
  });

  test('pages read one revision, in order, and say how many follow', async () => {
    const names: string[] = [];
    let token: string | undefined;
    let version: string | undefined;
    do {
      const { body } = await operator
        .get(
          `clients?limit=${1 + draw(12)}${token ? `&continue=${encodeURIComponent(token)}` : ''}`,
        )
        .is(200);
      version ??= body.metadata.resourceVersion;
      expect(body.metadata.resourceVersion).toBe(version);
      names.push(...body.items.map((item: any) => item.metadata.name));
      token = body.metadata.continue;
      expect(body.metadata.remainingItemCount).toBe(token ? 41 - names.length : undefined);
      await createClient(service, `later-${names.length}-${draw(1e9)}`);
    } while (token);
    expect(names).toEqual([...names].sort());
    expect(names).toHaveLength(41);
    for (const item of (await operator.get('clients').is(200)).body.items) {
      if (item.metadata.name.startsWith('later-')) {
        await operator.delete(`clients/${item.metadata.name}`).is(200);
      }
    }
  });

  test('a watch begins with the objects that exist, then sends each change once', async () => {
    const own = new Stream(
      operator,
      'clients?watch=true&labelSelector=w%3Dyes&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
    );
    await own.until(({ events }) => events.some(({ type }) => type === 'BOOKMARK'));
    expect(own.events[0]!.object.metadata.annotations).toEqual({
      'k8s.io/initial-events-end': 'true',
    });
    await operator.patch('clients/c00', { metadata: { labels: { w: 'yes' } } }).is(200);
    await operator.patch('clients/c00', { spec: { displayName: 'changed' } }).is(200);
    await operator.patch('clients/c00', { metadata: { labels: { w: 'no' } } }).is(200);
    await operator.patch('clients/c00', { spec: { displayName: 'unseen' } }).is(200);
    await operator.patch('clients/c00', { metadata: { labels: { w: 'yes' } } }).is(200);
    await operator.delete('clients/c00').is(200);
    await own.until(({ events }) => events.length >= 6);
    expect(own.events.slice(1).map(({ type, object }) => [type, object.spec?.displayName])).toEqual(
      [
        ['ADDED', 'c00 app'],
        ['MODIFIED', 'changed'],
        ['DELETED', 'changed'],
        ['ADDED', 'unseen'],
        ['DELETED', 'unseen'],
      ],
    );
    const versions = own.events.map(({ object }) => Number(object.metadata.resourceVersion));
    expect(versions).toEqual([...versions].sort((a, b) => a - b));
    own.close();
    await createClient(service, 'c00');
  });

  test('a watch resumes from a version without gap or repetition', async () => {
    const { body } = await operator.get('clients').is(200);
    for (let i = 0; i < 10; i += 1) {
      await operator.patch('clients/c01', { spec: { displayName: `n${i}` } }).is(200);
    }
    const resumed = await new Stream(
      operator,
      `clients?watch=true&resourceVersion=${body.metadata.resourceVersion}`,
    ).until(({ events }) => events.length >= 10);
    expect(resumed.events.map(({ object }) => object.spec.displayName)).toEqual(
      Array.from({ length: 10 }, (_, i) => `n${i}`),
    );
    resumed.close();
  });

  test('an interaction’s watch moves on by itself, on either replica', async () => {
    const replica = await service.replica();
    const { tab, I, name } = await begin(service);
    const elsewhere = replica.tab();
    elsewhere.cookies = tab.cookies;
    const stream = await new Stream(elsewhere, `${I}?watch=true`).until(
      ({ events }) => events.length === 1,
    );
    await begin(service);
    await tab
      .post(`${I}/emailchallenge`, { spec: { email: `watch${store}@example.test` } })
      .is(200);
    const mail = await mailTo(service, `watch${store}@example.test`);
    await tab.post(`${I}/login`, { spec: { method: 'EmailLink', token: mail.token } }).is(200);
    await stream.until(({ events }) => events.at(-1)!.object.status.phase === 'Authenticated');
    expect(new Set(stream.events.map(({ object }) => object.metadata.name))).toEqual(
      new Set([name]),
    );
    expect(JSON.stringify(stream.events)).not.toContain('returnTo');
    await service.tab().get(`${I}?watch=true`).fails(404, 'NotFound');
    stream.close();
  });

  test('a person’s watch ends within 5 s of their sign-out and never shows another’s', async () => {
    const leaving = (await signIn(service, `leaving${store}@example.test`)).tab;
    const stream = await new Stream(leaving, 'sessions?watch=true').until(
      ({ events }) => events.length === 1,
    );
    await signIn(service, 'someone@example.test');
    await leaving.delete('sessions/~').is(200);
    await stream.until(({ ended }) => ended, 6_000);
    expect(new Set(stream.events.map(({ object }) => object.status.account)).size).toBe(1);
  });

  test('the 21st watch of a session is 429; one that ended frees its place', async () => {
    const many = Array.from({ length: 20 }, () => new Stream(person, 'grants?watch=true'));
    await Promise.all(many.map((one) => one.until(({ code }) => code === 200)));
    await person.get('grants?watch=true').fails(429, 'TooManyRequests');
    many[0]!.close();
    let again: Stream;
    do {
      again = await new Stream(person, 'grants?watch=true').until(({ code }) => code !== 0);
    } while (again.code !== 200);
    for (const one of [...many, again]) one.close();
  });

  test('watches of sign-ins are counted by network too, however many sign-ins there are', async () => {
    const begun = await Promise.all(Array.from({ length: 11 }, () => begin(service)));
    const open = begun
      .slice(0, 10)
      .flatMap(({ tab, I }) =>
        Array.from({ length: 20 }, () => new Stream(tab, `${I}?watch=true`)),
      );
    await Promise.all(open.map((one) => one.until(({ code }) => code === 200, 20_000)));
    const { tab, I } = begun[10]!;
    await tab.get(`${I}?watch=true`).fails(429, 'TooManyRequests');
    open[0]!.close();
    let again: Stream;
    do {
      again = await new Stream(tab, `${I}?watch=true`).until(({ code }) => code !== 0);
    } while (again.code !== 200);
    const others = await new Stream(person, 'grants?watch=true').until(({ code }) => code === 200);
    for (const one of [...open, again, others]) one.close();
  });

  test('history that is gone is 410 for a watch and for a page', async () => {
    const { body } = await operator.get('clients?limit=1').is(200);
    for (let i = 0; i < 3; i += 1) {
      await operator.patch('clients/c03', { spec: { displayName: `compacted ${i}` } }).is(200);
    }
    const now = Number(
      (await operator.get('clients?limit=1').is(200)).body.metadata.resourceVersion,
    );
    await service.storage.compact(now);
    const replica = (await service.replica()).tab();
    replica.cookies = operator.cookies;
    for (const version of [1, now + 1_000_000]) {
      const stream = await new Stream(
        replica,
        `clients?watch=true&resourceVersion=${version}`,
      ).until(({ ended }) => ended);
      expectFor(version, [
        stream.code,
        stream.events.map(({ type, object }) => [type, object.code, object.reason]),
      ]).toEqual([200, [['ERROR', 410, 'Expired']]]);
    }
    await operator
      .get(`clients?limit=1&continue=${encodeURIComponent(body.metadata.continue)}`)
      .fails(410, 'Expired');
  });

  test('50 patches of distinct labels all stand; 50 with one version, one wins', async () => {
    const labels = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        operator.patch('clients/c02', { metadata: { labels: { [`l${i}`]: 'x' } } }).is(200),
      ),
    );
    const versions = labels.map(({ body }) => Number(body.metadata.resourceVersion));
    expect(new Set(versions).size).toBe(50);
    const { body } = await operator.get('clients/c02').is(200);
    expect(Object.keys(body.metadata.labels)).toHaveLength(50);
    const raced = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        operator.patch('clients/c02', {
          metadata: { resourceVersion: body.metadata.resourceVersion },
          spec: { displayName: `race ${i}` },
        }),
      ),
    );
    expect(raced.filter(({ code }) => code === 200)).toHaveLength(1);
    expect(raced.filter(({ code }) => code === 409)).toHaveLength(49);
  });

  test('another’s session does not exist, and no cookie’s value stands anywhere', async () => {
    const { body } = await operator.get('sessions/~').is(200);
    await person.get(`sessions/${body.metadata.name}`).fails(404, 'NotFound');
    await person.delete(`sessions/${body.metadata.name}`).fails(404, 'NotFound');
    const value = operator.cookie('vestibule-session')!;
    expect(JSON.stringify((await operator.get('sessions').is(200)).body)).not.toContain(value);
    const stream = await new Stream(operator, 'sessions?watch=true').until(({ events }) =>
      events.some(({ object }) => object.metadata.name === body.metadata.name),
    );
    expect(JSON.stringify([body, stream.events])).not.toContain(value);
    stream.close();
    expect(service.logs.join('')).not.toContain(value);
  });
});
