import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { apiVersion } from '../../../kinds/api-version.js';
import { ClaimsProvider } from '../../../kinds/apps/claims/claims-provider.js';
import { Client } from '../../../kinds/apps/client/client.js';
import { makeCertificate } from '../../support/cluster/issue-certificate.js';
import { Stream } from '../../support/network/stream.js';
import { begin, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import { createClient, startTest, stopAll, type TestService } from '../../support/service.js';
import { Stopwatch } from '../../support/stopwatch.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const flags = ['--operators', 'op@example.test', '--limit-factor', '100'];
const scope = (name: string) => ({
  name,
  title: `The ${name}`,
  description: 'For tests.',
  claims: [{ name: `${name}_claim`, title: 'Claim', type: 'string' }],
});
const supplier = (name: string, ...scopes: string[]) => ({
  metadata: { name },
  spec: {
    displayName: name,
    reviewURI: 'https://supplier.example.test/',
    scopes: scopes.map(scope),
  },
});

describe.each(stores)('who supplies claims, over %s', (store) => {
  let service: TestService;
  let other: TestService;
  let op: Tab;
  let ada: Tab;
  beforeAll(async () => {
    service = await startTest({ store, flags });
    other = await service.replica();
    await createClient(service, 'app', {
      scopes: [
        { name: 'openid', required: true },
        { name: 'card', required: false },
      ],
    });
    op = (await signIn(service, 'op@example.test', { scope: 'openid' })).tab;
    ada = (await signIn(service, 'ada@example.test', { scope: 'openid' })).tab;
  });
  const supported = async (at: TestService): Promise<string[]> =>
    (await at.tab().get('/.well-known/openid-configuration', { plain: true }).is(200)).body
      .scopes_supported;

  test('a long list that is repeated is made for who asks, in the form they ask for', async () => {
    const names = Array.from({ length: 35 }, (_, i) => `many-${i + 10}`);
    for (const name of names) await op.post('claimsproviders', supplier(name, name)).is(201);
    const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
    for (let i = 0; i < 3; i += 1) {
      for (const [tab, shows] of [
        [op, true],
        [ada, false],
      ] as const) {
        const { body } = await tab.get('claimsproviders?limit=36').is(200);
        expect(body.items.map((item: any) => item.metadata.name)).toEqual([...names, 'vestibule']);
        expect(
          new Set(body.items.slice(0, -1).map((item: any) => 'reviewURI' in item.spec)),
        ).toEqual(new Set([shows]));
        const table = await tab.get('claimsproviders?limit=36', { headers: { accept } }).is(200);
        expect([table.body.kind, table.body.rows.length]).toEqual(['Table', 36]);
      }
    }
    for (const name of names) await op.delete(`claimsproviders/${name}`).is(200);
  });

  test('the built-in provider is shown, and no one changes it', async () => {
    const { body } = await ada.get('claimsproviders/vestibule').is(200);
    expect(body.spec.scopes.map((scope: any) => scope.name)).toEqual([
      'openid',
      'profile',
      'email',
      'groups',
      'offline_access',
      'api',
    ]);
    expect(body.spec).not.toHaveProperty('reviewURI');
    expect((await ada.get('claimsproviders').is(200)).body.items).toEqual([body]);
    await op
      .patch('claimsproviders/vestibule', { spec: { displayName: 'Mine' } })
      .fails(403, 'Forbidden');
    await op
      .patch('claimsproviders/vestibule', { metadata: { labels: { mine: 'yes' } } })
      .fails(403, 'Forbidden');
    await op
      .put('claimsproviders/vestibule', { ...body, spec: { ...body.spec, scopes: [] } })
      .fails(403, 'Forbidden');
    await op.delete('claimsproviders/vestibule').fails(403, 'Forbidden');
    await op.post('claimsproviders', supplier('vestibule', 'card')).fails(409, 'AlreadyExists');
    const { status, ...seen } = (await op.get('claimsproviders/vestibule').is(200)).body;
    expect({ ...seen, status: {} }).toEqual(body);
    expect(status.conditions).toMatchObject([
      { type: 'Available', status: 'True', reason: 'BuiltIn' },
    ]);
  });

  test('operators declare others, people only read', async () => {
    await ada.post('claimsproviders', supplier('mine', 'mine')).fails(403, 'Forbidden');
    await service.tab().get('claimsproviders').fails(401, 'Unauthorized');
  });

  test('where they are and whom they trust is shown to operators alone', async () => {
    const manifest = {
      'kubectl.kubernetes.io/last-applied-configuration': `{"apiVersion":"${apiVersion}","spec":{"reviewURI":"https://hidden.example.test/"}}`,
      note: 'kept',
    };
    const { cert } = makeCertificate(['hidden.example.test'], Date.now());
    const spec = {
      ...supplier('hidden', 'hidden').spec,
      reviewURI: 'https://hidden.example.test/',
      caBundle: cert,
    };
    const asTable = { headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' } };
    const asMetadata = {
      headers: { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' },
    };
    const watching = [
      new Stream(ada, 'claimsproviders?watch=true&resourceVersion=0'),
      new Stream(ada, 'claimsproviders?watch=true&resourceVersion=0', asTable.headers.accept),
    ];
    await op
      .post('claimsproviders', { metadata: { name: 'hidden', annotations: manifest }, spec })
      .is(201);
    await op.patch('claimsproviders/hidden', { spec: { displayName: 'Changed' } }).is(200);
    const seen: string[] = [];
    const mine = (await ada.get('claimsproviders/hidden').is(200)).body;
    expect(mine.spec).toEqual({
      displayName: 'Changed',
      timeoutMilliseconds: 2000,
      failurePolicy: 'Omit',
      scopes: [{ ...spec.scopes[0], sensitive: false }],
    });
    expect(mine.metadata.annotations).toEqual({
      'kubectl.kubernetes.io/last-applied-configuration': `{"apiVersion":"${apiVersion}","spec":{}}\n`,
      note: 'kept',
    });
    for (const path of [
      'claimsproviders',
      'claimsproviders?limit=1',
      'claimsproviders/hidden',
      'claimsproviders?includeObject=Object',
    ]) {
      for (const how of [
        {},
        asTable,
        asMetadata,
        { headers: { accept: asMetadata.headers.accept.replace('List', '') } },
      ]) {
        const answer = await ada.get(path, how);
        if (answer.code !== 406) seen.push((await ada.get(path, how).is(200)).bytes.toString());
      }
    }
    await op.delete('claimsproviders/hidden').is(200);
    for (const stream of watching) {
      await stream.until(({ events }) => events.some(({ type }) => type === 'DELETED'));
      seen.push(JSON.stringify(stream.events));
      stream.close();
    }
    for (const text of seen) expect(text).not.toMatch(/hidden\.example\.test|BEGIN CERTIFICATE/);
    expect(seen.length).toBeGreaterThan(8);
    await op
      .post('claimsproviders', { metadata: { name: 'hidden', annotations: manifest }, spec })
      .is(201);
    const theirs = (await op.get('claimsproviders/hidden').is(200)).body;
    expect([theirs.spec.reviewURI, theirs.spec.caBundle, theirs.metadata.annotations]).toEqual([
      spec.reviewURI,
      cert,
      manifest,
    ]);
    expect((await op.get('claimsproviders', asTable).is(200)).bytes.toString()).toContain(
      'https://hidden.example.test/',
    );
    await op.delete('claimsproviders/hidden').is(200);
  });

  test('a scope has one provider: a second one is 409, until the first lets go of it', async () => {
    await op.post('claimsproviders', supplier('first', 'one', 'two')).is(201);
    await op
      .post('claimsproviders', supplier('second', 'three', 'two'))
      .fails(409, 'AlreadyExists', 'scope');
    await op
      .post('claimsproviders', supplier('second', 'three', 'email'))
      .fails(409, 'AlreadyExists', 'scope');
    const both = await Promise.all([
      op.post('claimsproviders', supplier('second', 'three')),
      op.post('claimsproviders', supplier('third', 'three')),
    ]);
    expect(both.map(({ code }) => code).sort()).toEqual([201, 409]);
    const name = both.find(({ code }) => code === 201)!.body.metadata.name;
    await op
      .patch(`claimsproviders/${name}`, { spec: { scopes: [scope('three'), scope('one')] } })
      .fails(409, 'AlreadyExists', 'scope');
    await op.patch('claimsproviders/first', { spec: { scopes: [scope('two')] } }).is(200);
    await op
      .patch(`claimsproviders/${name}`, { spec: { scopes: [scope('three'), scope('one')] } })
      .is(200);
    await op.delete('claimsproviders/first').is(200);
    await op
      .patch(`claimsproviders/${name}`, { spec: { scopes: [scope('one'), scope('two')] } })
      .is(200);
    await op.delete(`claimsproviders/${name}`).is(200);
  });

  test('a Client may ask for it at once, and on every replica within a second', async () => {
    expect((await service.tab().navigate('/oauth2/auth?client_id=app').is(400)).code).toBe(400);
    await op.post('claimsproviders', supplier('cards', 'card')).is(201);
    expect(await supported(service)).toContain('card');
    const stopwatch = new Stopwatch();
    while (!(await supported(other)).includes('card')) {
      expect(stopwatch.milliseconds).toBeLessThan(1_000);
    }
    const { tab, I } = await begin(other, { scope: 'openid card' });
    expect((await tab.get(I).is(200)).body.spec.scopes).toEqual(['openid', 'card']);
    await op.delete('claimsproviders/cards').is(200);
    expect(await supported(service)).not.toContain('card');
    while ((await supported(other)).includes('card')) {
      expect(stopwatch.milliseconds).toBeLessThan(4_000);
    }
  });
});

/** Addresses that this service never calls, by their text. */
const closed = [
  'https://127.0.0.1/',
  'https://169.254.169.254/',
  'https://10.0.0.1/',
  'https://[::1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://2130706433/',
  'https://localhost/',
  'https://x.localhost/',
  'http://localhost/',
  'http://supplier.example.test/',
  'https://supplier.example.test/#x',
  'https://u@supplier.example.test/',
  'https://127.1/',
  'https://0177.0.0.1/',
  'https://0x7f000001/',
  'https://0/',
  'https://[::]/',
  'https://[::ffff:7f00:1]/',
  'https://[::ffff:a9fe:a9fe]/',
  'https://[::127.0.0.1]/',
  'https://[64:ff9b::a00:1]/',
  'https://[2002:a00:1::]/',
  'https://[fd00::1]/',
  'https://[fe80::1]/',
  'https://100.64.0.1/',
  'https://LOCALHOST./',
  'https://127.0.0.1.:443/',
  'https://supplier.example.test@127.0.0.1/',
  'https://:p@supplier.example.test/',
  'ftp://supplier.example.test/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'supplier.example.test',
  '',
];

test.each(['jwksURI', 'backchannelLogoutURI'])(
  'a Client’s %s is judged as a supplier’s address is, when it is written',
  async (field) => {
    const declare = (at: TestService, name: string, uri: string): Promise<unknown> =>
      at.store.change(at.store.systemCall(), (tx) =>
        tx.create(Client, { metadata: { name }, spec: { ...spec, [field]: uri } as never }),
      );
    const spec = {
      displayName: 'x',
      type: 'Confidential',
      ...(field === 'jwksURI' && { tokenEndpointAuthMethod: 'private_key_jwt' }),
    };
    const strict = await startTest({
      flags: [
        '--base-url',
        'https://id.example.test',
        '--allow-mock-mail',
        '--allow-private-network',
        '10.1.0.0/16',
      ],
    });
    for (const uri of closed) {
      await expect(declare(strict, 'closed', uri)).rejects.toMatchObject({
        reason: 'Invalid',
        details: { causes: [{ field: `spec.${field}` }] },
      });
    }
    for (const [i, uri] of ['https://client.example.test/x', 'https://10.1.2.3/x'].entries()) {
      await declare(strict, `open-${i}`, uri);
    }
    const change = (uri: string) =>
      strict.store.change(strict.store.systemCall(), (tx) =>
        tx.update(Client, 'open-0', (next) => {
          Object.assign(next.spec, { [field]: uri });
        }),
      );
    await expect(change('https://169.254.169.254/x')).rejects.toMatchObject({
      reason: 'Invalid',
      code: 422,
      details: { causes: [{ field: `spec.${field}` }] },
    });
    const local = await startTest({ flags });
    for (const [i, uri] of [
      'http://localhost:7/',
      'http://127.0.0.1:7/',
      'https://[::1]/',
    ].entries()) {
      await declare(local, `open-${i}`, uri);
    }
    await expect(declare(local, 'closed', 'http://10.0.0.1/')).rejects.toMatchObject({
      reason: 'Invalid',
    });
  },
);

test('an address that is not public is refused by its text alone', async () => {
  const declare = (at: TestService, url: string): Promise<unknown> =>
    at.store.change(at.store.systemCall(), (tx) =>
      tx.create(ClaimsProvider, {
        metadata: { generateName: 'p-' },
        spec: {
          ...supplier('p').spec,
          reviewURI: url,
          timeoutMilliseconds: 1000,
          failurePolicy: 'Omit',
          scopes: [],
        },
      }),
    );
  const strict = await startTest({
    flags: [
      '--base-url',
      'https://id.example.test',
      '--allow-mock-mail',
      '--allow-private-network',
      '10.1.0.0/16',
    ],
  });
  for (const url of closed) {
    await expect(declare(strict, url)).rejects.toMatchObject({
      reason: 'Invalid',
      details: { causes: [{ field: 'spec.reviewURI' }] },
    });
  }
  for (const url of ['https://supplier.example.test/', 'https://10.1.2.3/claims']) {
    await declare(strict, url);
  }
  const local = await startTest({ flags });
  for (const url of ['http://localhost:7/', 'http://127.0.0.1:7/', 'https://[::1]/']) {
    await declare(local, url);
  }
  await expect(declare(local, 'http://10.0.0.1/')).rejects.toMatchObject({ reason: 'Invalid' });
});
