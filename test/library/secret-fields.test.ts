import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import {
  type ApiServer,
  createLog,
  defineAction,
  hasSecret,
  type KindObject,
  kindsOf,
  openSecret,
  openStorage,
  secret,
  secretMatches,
  setList,
  startApiServer,
} from '../../apiserver/library/index.js';
import { Registry } from '../../registry/store/registry.js';
import { Keys } from '../../security/keyring.js';
import { allKeys } from '../../storage/snapshot/layout.js';
import type { Storage } from '../../storage/storage.js';
import { type EtcdServer, startEtcd } from '../storage/etcd-server.js';
import { expectFor } from '../support/expect-for.js';
import { testKeys } from '../support/keys.js';
import { stopAll, temporary } from '../support/service.js';
import { stores } from '../support/stores.js';

const defineKind = kindsOf({ group: 'relays.example.com', version: 'v1alpha1' });
const Relay = defineKind({
  kind: 'Relay',
  resource: 'relays',
  description: 'A mail relay with two secrets.',
  verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
  spec: z.object({
    host: z.string().max(200).default('mail.example.test').describe('The host.'),
    hook: secret(z.string().max(100), 'Hashed').optional().describe('What callers present.'),
    login: z
      .object({
        user: z.string().max(100).optional().describe('The user.'),
        password: secret(z.string().max(100), 'Sealed').optional().describe('The password.'),
      })
      .optional()
      .describe('How it signs in.'),
  }),
  status: z.object({ changes: z.number().optional().describe('How often it changed.') }),
  columns: { Host: ({ spec }) => spec.host },
});
const touch = defineAction({
  of: Relay,
  subresource: 'touch',
  verb: 'create',
  kind: 'RelayTouch',
  description: 'Changes the status alone.',
  spec: z.object({}),
  run: (call, { metadata: { name } }) =>
    call.change((tx) =>
      tx.update(Relay, name, ({ status }) => {
        status.changes = (status.changes ?? 0) + 1;
      }),
    ),
});

const apiVersion = 'relays.example.com/v1alpha1';
const base = `/apis/${apiVersion}/relays`;
const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
const file = testKeys();
const keys = new Keys(file);

afterAll(stopAll);

let count = 0;
/** A new pair of secrets. */
const pair = () => {
  count += 1;
  return { hook: `hook-secret-${count}-x9q`, password: `pass-secret-${count}-z7k` };
};
const specWith = ({ hook, password }: { hook: string; password: string }) => ({
  hook,
  login: { user: 'ada', password },
});
/** A manifest as `kubectl apply` sends it: with a copy of itself. */
const manifest = (name: string, spec: object) => {
  const object = { apiVersion, kind: 'Relay', metadata: { name, annotations: {} }, spec };
  const applied = `${JSON.stringify(object)}\n`;
  return { ...object, metadata: { name, annotations: { [annotation]: applied } } };
};

describe.each(stores)('secrets of a kind, on %s', (store) => {
  let server: ApiServer;
  let storage: Storage;
  let etcd: EtcdServer | undefined;
  const emitted: string[] = [];
  const watchEnd = new AbortController();
  let watching: Promise<void>;

  beforeAll(async () => {
    etcd = store === 'etcd' ? await startEtcd() : undefined;
    storage = await openStorage(
      etcd ? { servers: [etcd.endpoint], prefix: '/secrets/' } : { directory: temporary() },
    );
    const log = createLog('trace', { write: (line) => emitted.push(String(line)) > 0 });
    server = await startApiServer({ kinds: [Relay], actions: [touch], storage, keys, log });
    watching = follow();
  });
  afterAll(async () => {
    watchEnd.abort();
    await watching;
    await server.stop();
    await etcd?.stop();
  });

  /** Keeps what a watch of all says. */
  async function follow(): Promise<void> {
    const response = await fetch(`${server.url}${base}?watch=true`, { signal: watchEnd.signal });
    try {
      for await (const part of response.body!) emitted.push(Buffer.from(part).toString());
    } catch {
      // Ended by the test.
    }
  }

  /** One request; keeps all of the answer. */
  async function send(
    method: string,
    path: string,
    body?: unknown,
    type = 'application/json',
  ): Promise<{ code: number; body: any }> {
    const response = await fetch(`${server.url}${base}${path}`, {
      method,
      headers: { 'content-type': type },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    emitted.push(JSON.stringify([...response.headers]), text);
    return { code: response.status, body: JSON.parse(text) };
  }

  const stored = async (name: string): Promise<KindObject> =>
    (await server.store.reader(Relay).get(name))!;
  const of = (object: KindObject, field: string) => ({ of: Relay, object, field });
  async function holds(name: string, { hook, password }: ReturnType<typeof pair>): Promise<void> {
    const object = await stored(name);
    expect(secretMatches(of(object, 'hook'), hook, keys)).toBe(true);
    expect(secretMatches(of(object, 'hook'), password, keys)).toBe(false);
    expect(openSecret(of(object, 'login.password'), keys)).toBe(password);
    expect(object.spec).toEqual({ host: 'mail.example.test', login: { user: 'ada' } });
  }

  /** Every way to write the spec of an object, which exists unless the way creates it. */
  const ways: Record<string, (name: string, spec: object) => Promise<{ code: number; body: any }>> =
    {
      POST: (name, spec) => send('POST', '', manifest(name, spec)),
      PUT: async (name, spec) => {
        const { metadata } = (await send('POST', '', { metadata: { name }, spec: {} })).body;
        const given = manifest(name, spec);
        return send('PUT', `/${name}`, { ...given, metadata: { ...metadata, ...given.metadata } });
      },
      'a merge patch': async (name, spec) => {
        await send('POST', '', { metadata: { name }, spec: {} });
        return send('PATCH', `/${name}`, manifest(name, spec), 'application/merge-patch+json');
      },
      'a JSON patch': async (name, spec) => {
        await send('POST', '', { metadata: { name }, spec: {} });
        const value = manifest(name, spec).metadata.annotations;
        const patch = [
          { op: 'replace', path: '/spec', value: spec },
          { op: 'add', path: '/metadata/annotations', value },
        ];
        return send('PATCH', `/${name}`, patch, 'application/json-patch+json');
      },
      'an apply that creates': (name, spec) =>
        send(
          'PATCH',
          `/${name}?fieldManager=a`,
          manifest(name, spec),
          'application/apply-patch+yaml',
        ),
      'an apply that changes': async (name, spec) => {
        await send('POST', '', { metadata: { name }, spec: {} });
        return send(
          'PATCH',
          `/${name}?fieldManager=a&force=true`,
          manifest(name, spec),
          'application/apply-patch+yaml',
        );
      },
    };

  const written: ReturnType<typeof pair>[] = [];
  test.each(Object.keys(ways))(
    'are kept by %s, and kept again unless they are sent',
    async (way) => {
      const name = `r${(count += 1)}`;
      const one = pair();
      written.push(one);
      const { code, body } = await ways[way]!(name, specWith(one));
      expect([200, 201]).toContain(code);
      expect(body.spec).toEqual({ host: 'mail.example.test', login: { user: 'ada' } });
      expect(JSON.parse(body.metadata.annotations[annotation]).spec).toEqual({
        login: { user: 'ada' },
      });
      await holds(name, one);
      await send(
        'PATCH',
        `/${name}`,
        { metadata: { labels: { a: 'b' } } },
        'application/merge-patch+json',
      );
      await send('POST', `/${name}/touch`, { spec: {} });
      const { body: read } = await send('GET', `/${name}`);
      await send('PUT', `/${name}`, read);
      await holds(name, one);
    },
  );

  test.each([
    ['POST', '', 'json'],
    ['PATCH', '/dry', 'merge-patch+json'],
    ['PATCH', '/dry', 'apply-patch+yaml'],
    ['PATCH', '/never', 'apply-patch+yaml'],
  ])('are neither kept nor shown by a dry run: %s %s %s', async (method, path, type) => {
    const one = pair();
    written.push(one);
    await send('POST', '', { metadata: { name: 'dry' }, spec: {} });
    const query = `?dryRun=All&fieldManager=a${type.startsWith('apply') ? '&force=true' : ''}`;
    const body = manifest(path.slice(1) || 'never', specWith(one));
    const answer = await send(method, path + query, body, `application/${type}`);
    expect([200, 201]).toContain(answer.code);
    expect(answer.body.spec.login).toEqual({ user: 'ada' });
    expect(hasSecret(await stored('dry'), 'hook')).toBe(false);
    expect(await server.store.reader(Relay).get('never')).toBeUndefined();
  });

  test('sent again are no change, and another one is a change of the spec', async () => {
    const name = `s${(count += 1)}`;
    const [one, other] = [pair(), pair()];
    written.push(one, other);
    const { body: first } = await send('POST', '', manifest(name, specWith(one)));
    const apply = (spec: object) =>
      send('PATCH', `/${name}`, manifest(name, spec), 'application/merge-patch+json');
    const { body: same } = await apply(specWith(one));
    expect(same.metadata.resourceVersion).toBe(first.metadata.resourceVersion);
    const { body: changed } = await apply(specWith(other));
    expect(changed.metadata.generation).toBe(first.metadata.generation + 1);
    await holds(name, other);
    await apply({ hook: '' });
    expect(hasSecret(await stored(name), 'hook')).toBe(false);
    expect(openSecret(of(await stored(name), 'login.password'), keys)).toBe(other.password);
  });

  const apply = (name: string, manager: string, spec: object, query = '') =>
    send(
      'PATCH',
      `/${name}?fieldManager=${manager}${query}`,
      { apiVersion, kind: 'Relay', metadata: { name }, spec },
      'application/apply-patch+yaml',
    );

  test('have owners as other fields do', async () => {
    const name = `o${(count += 1)}`;
    const [one, other] = [pair(), pair()];
    written.push(one, other);
    await apply(name, 'first', specWith(one));
    const { code, body } = await apply(name, 'second', specWith(other));
    expect(code).toBe(409);
    expect(body.details.causes.map(({ field }: any) => field)).toEqual([
      '.spec.hook',
      '.spec.login.password',
    ]);
    await holds(name, one);
    const shared = await apply(name, 'second', specWith(one));
    expect(shared.code).toBe(200);
    const owners = shared.body.metadata.managedFields.map((entry: any) => [
      entry.manager,
      entry.fieldsV1['f:spec']['f:hook'],
      entry.fieldsV1['f:spec']['f:login']['f:password'],
    ]);
    expect(owners).toEqual([
      ['first', {}, {}],
      ['second', {}, {}],
    ]);
    expect((await apply(name, 'second', specWith(other), '&force=true')).code).toBe(200);
    await holds(name, other);
    expect((await apply(name, 'first', specWith(one))).code).toBe(409);
    const { body: updated } = await send(
      'PATCH',
      `/${name}?fieldManager=third`,
      { spec: { hook: one.hook } },
      'application/merge-patch+json',
    );
    expect(
      updated.metadata.managedFields.find(({ manager }: any) => manager === 'third').fieldsV1,
    ).toEqual({ 'f:spec': { 'f:hook': {} } });
  });

  test('go with the object that they are in', async () => {
    const name = `p${(count += 1)}`;
    const one = pair();
    written.push(one);
    await send('POST', '', manifest(name, specWith(one)));
    const { body } = await send(
      'PATCH',
      `/${name}`,
      { spec: { login: null } },
      'application/merge-patch+json',
    );
    expect(body.metadata.generation).toBe(2);
    expect(hasSecret(await stored(name), 'login.password')).toBe(false);
    expect(hasSecret(await stored(name), 'hook')).toBe(true);
  });

  test.each([
    ['a member that a second one hides', (text: string) => `{"hook":${text},"hook":null}`],
    ['an object that a second one hides', (text: string) => `{"hook":${text}},"spec":{}`],
    ['a name with an escape', (text: string) => `{"h\\u006fok":${text}}`],
    ['what is not JSON', (text: string) => `{"hook":${text}`],
  ])('are not kept where kubectl keeps a copy, in %s', async (_, spec) => {
    const name = `k${(count += 1)}`;
    const one = pair();
    written.push(one);
    const copy = `{"apiVersion":"${apiVersion}","kind":"Relay","spec":${spec(JSON.stringify(one.hook))}}`;
    const metadata = { name, annotations: { [annotation]: copy } };
    const { code } = await send('POST', '', { metadata, spec: { hook: one.hook } });
    expect(code).toBe(201);
    expect(JSON.stringify(await stored(name))).not.toContain(one.hook);
  });

  test('move to the newest key when they are sent again, without a change of the spec', async () => {
    const name = `m${(count += 1)}`;
    const one = pair();
    written.push(one);
    const { body: first } = await send('POST', '', manifest(name, specWith(one)));
    const next = testKeys();
    const sealing = [...next.sealing, ...file.sealing];
    keys.replace({ ...file, sealing, hmac: [...next.hmac, ...file.hmac] });
    await holds(name, one);
    const { body: again } = await send(
      'PATCH',
      `/${name}`,
      { spec: specWith(one) },
      'application/merge-patch+json',
    );
    expect(again.metadata.generation).toBe(first.metadata.generation);
    keys.replace({ ...file, sealing: next.sealing, hmac: next.hmac });
    await holds(name, one);
    keys.replace(file);
  });

  test('are refused with their field and without their text', async () => {
    const one = { hook: `hook-secret-${'x'.repeat(100)}`, password: pair().password };
    written.push(one);
    const { code, body } = await send('POST', '', manifest('long', specWith(one)));
    expect([code, body.details.causes[0].field]).toEqual([422, 'spec.hook']);
    for (const given of [7, null, ['a'], { a: 'b' }]) {
      expect((await send('POST', '', manifest('odd', { hook: given }))).code).toBe(422);
    }
  });

  test('are nowhere in what is said, logged, stored or saved', async () => {
    for (const way of Object.values(ways)) {
      const one = pair();
      written.push(one);
      await way(`n${(count += 1)}`, specWith(one));
    }
    await send('GET', '');
    await send('GET', '?limit=2');
    emitted.push(
      await (
        await fetch(`${server.url}${base}`, {
          headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
        })
      ).text(),
    );
    await send('DELETE', '/dry');
    const everything: string[] = [];
    const { entries } = await storage.list(allKeys);
    for (const { key, value } of entries) everything.push(key, value.toString('latin1'));
    await send('DELETE', '');
    const all = [...emitted, ...everything].join('\n');
    expect(entries.length).toBeGreaterThan(5);
    expect(written.length).toBeGreaterThan(5);
    for (const { hook, password } of written) {
      for (const text of [hook, password]) {
        for (const form of [
          text,
          Buffer.from(text).toString('base64').replaceAll('=', '').slice(0, -2),
        ]) {
          expectFor(form, all.includes(form)).toEqual(false);
        }
      }
    }
  });

  test('are writeOnly in the documents', async () => {
    const document = (await (await fetch(`${server.url}/api/openapi/v3`)).json()) as any;
    const { properties } = document.components.schemas.Relay.properties.spec;
    expect(properties.hook.writeOnly).toBe(true);
    expect(properties.login.properties.password.writeOnly).toBe(true);
    expect(properties.host.writeOnly).toBeUndefined();
  });

  test('open only where they were stored', async () => {
    const one = pair();
    await send('POST', '', manifest('opened', specWith(one)));
    const object = await stored('opened');
    expect(() =>
      openSecret({ of: { kind: 'Other' }, object, field: 'login.password' }, keys),
    ).toThrow();
    expect(secretMatches({ of: { kind: 'Other' }, object, field: 'hook' }, one.hook, keys)).toBe(
      false,
    );
    expect(secretMatches(of(object, 'none'), '', keys)).toBe(false);
    expect(openSecret(of(object, 'none'), keys)).toBeUndefined();
  });
});

test.each([
  ['required', z.object({ a: secret(z.string(), 'Hashed').describe('A.') }), 'must be optional'],
  [
    'in a list',
    z.object({ a: z.array(secret(z.string(), 'Hashed')).optional().describe('A.') }),
    'list',
  ],
  [
    'in a set',
    z.object({
      a: setList(z.array(secret(z.string(), 'Sealed')))
        .optional()
        .describe('A.'),
    }),
    'list',
  ],
  [
    'in a map',
    z.object({ a: z.record(z.string(), secret(z.string(), 'Sealed')).optional().describe('A.') }),
    'map',
  ],
  [
    'in an object of a list',
    z.object({
      a: z
        .array(z.object({ b: secret(z.string(), 'Sealed').optional().describe('B.') }))
        .optional()
        .describe('A.'),
    }),
    'list',
  ],
])('a secret that is %s is refused at the start', (_, spec, message) => {
  const kind = defineKind({
    kind: 'Odd',
    resource: 'odds',
    description: 'Odd.',
    verbs: ['get'],
    spec,
    status: z.object({}),
    columns: {},
  });
  expect(() => new Registry([kind], [])).toThrow(message);
});
