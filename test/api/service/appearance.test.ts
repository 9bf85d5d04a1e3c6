import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PNG } from 'pngjs';
import { apiVersion } from '../../../kinds/api-version.js';
import { chunk, png } from '../../kinds/appearance/images.js';
import { settles } from '../../support/patience.js';
import { begin, mailTo, signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import {
  createClient,
  startTest,
  stopAll,
  type TestService,
  temporary,
} from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const flags = ['--operators', 'op@example.test', '--limit-factor', '100'];
const comment = chunk('tEXt', Buffer.from('Comment\0<script>alert(1)</script>'));
const upload = png(64, 32, [comment]).toString('base64');

describe.each(stores)('the appearance of a service on %s', (store) => {
  let service: TestService;
  let op: Tab;
  let visitor: Tab;
  const change = async (spec: object): Promise<any> =>
    (await op.patch('appearances/default', { spec }).is(200)).body;
  beforeAll(async () => {
    service = await startTest({ store, flags });
    await createClient(service, 'app');
    op = (await signIn(service, 'op@example.test')).tab;
    visitor = service.tab();
  });

  test('can be read by anyone before anything was written', async () => {
    const { body } = await visitor.get('appearances/default').is(200);
    expect(body).toMatchObject({ kind: 'Appearance', metadata: { generation: 1 }, spec: {} });
    expect((await visitor.get('appearances').is(200)).body.items).toEqual([body]);
  });

  test('is one object: no other can be read, written, created or deleted', async () => {
    await visitor.get('appearances/other').fails(404, 'NotFound');
    await op.patch('appearances/other', { spec: { displayName: 'x' } }).fails(404, 'NotFound');
    const { body } = await op.get('appearances/default').is(200);
    await op
      .put('appearances/other', { ...body, metadata: { name: 'other' } })
      .fails(404, 'NotFound');
    await op
      .post('appearances', { metadata: { name: 'other' }, spec: {} })
      .fails(405, 'MethodNotAllowed');
    await op.delete('appearances/default').fails(405, 'MethodNotAllowed');
    await expect(
      service.store.change(service.store.systemCall(), (tx) =>
        tx.create(service.store.registry.kindOf('appearances')!, {
          metadata: { name: 'other' },
          spec: {},
        } as never),
      ),
    ).rejects.toThrow('metadata.name: Invalid value: must be default');
  });

  test('is written by operators only', async () => {
    const { tab: ada } = await signIn(service, 'ada@example.test');
    await ada
      .patch('appearances/default', { spec: { displayName: 'Ada’s' } })
      .fails(403, 'Forbidden');
    await visitor.patch('appearances/default', { spec: {} }).fails(401, 'Unauthorized');
  });

  test('has no accent colour that makes text unreadable, and says the ratio', async () => {
    const { message } = await op
      .patch('appearances/default', { spec: { accentColor: '#FFD400' } })
      .fails(422, 'Invalid', 'spec.accentColor');
    expect(message).toContain('at least 4.5:1');
    expect(message).toContain('(got 1.31:1)');
    expect((await change({ accentColor: '#0C6B62' })).spec.accentColor).toBe('#0c6b62');
  });

  test('has a style sheet, which the pages of the service load', async () => {
    await change({ accentColor: '#0c6b62', displayName: 'Harbour' });
    const linked = /href="(\/assets\/appearance-[0-9a-f]+\.css)"/;
    const found = await settles(
      async () =>
        linked.exec((await visitor.navigate('/account').is(200)).bytes.toString())?.[1] ?? '',
      Boolean,
    );
    for (const coding of ['br', 'gzip']) {
      expect(
        (await visitor.get('/policy', { headers: { 'accept-encoding': coding } }).is(200)).headers,
      ).toMatchObject({ 'content-encoding': coding });
    }
    const { bytes, headers } = await visitor.get(found).is(200);
    expect(headers).toMatchObject({
      'content-type': 'text/css; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
    });
    expect(bytes.toString()).toContain('--accent:#0c6b62');
    const { bytes: refused } = await visitor.navigate('/oauth2/auth?client_id=none').is(400);
    expect(refused.toString()).toMatch(linked);
    expect(refused.toString()).toContain('<bdi>Harbour</bdi>');
    expect(refused.toString()).toContain(' – Harbour</title>');
  });

  test('has a logo, encoded again and served as an image that can do nothing', async () => {
    const { spec } = await change({ logo: upload });
    expect(spec.logo).toMatch(/^\/assets\/logo-[0-9a-f]{32}\.png$/);
    const { bytes, headers } = await visitor.get(spec.logo).is(200);
    expect(headers).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=31536000, immutable',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
    });
    expect(bytes.includes('script')).toBe(false);
    expect(PNG.sync.read(bytes).width).toBe(64);
    const hash = createHash('sha256').update(bytes).digest('hex');
    expect(spec.logo).toBe(`/assets/logo-${hash.slice(0, 32)}.png`);
  });

  test('keeps its logo when what was read is written back, and loses it with the field', async () => {
    const { body } = await op.get('appearances/default').is(200);
    const { body: same } = await op.put('appearances/default', body).is(200);
    expect(same).toEqual(body);
    expect((await change({ logo: upload })).metadata).toEqual(body.metadata);
    await change({ logo: null });
    await settles(
      async () => (await visitor.get(body.spec.logo)).code,
      (code) => code === 404,
    );
    await op
      .patch('appearances/default', { spec: { logo: body.spec.logo } })
      .fails(422, 'Invalid', 'spec.logo');
  });

  test('has no copy of an upload in annotations, because every page reads the object', async () => {
    const annotation = 'kubectl.kubernetes.io/last-applied-configuration';
    const { body } = await op
      .patch('appearances/default', {
        metadata: {
          annotations: { [annotation]: JSON.stringify({ apiVersion, spec: { logo: upload } }) },
        },
        spec: { logo: upload },
      })
      .is(200);
    expect(JSON.parse(body.metadata.annotations[annotation])).toEqual({
      apiVersion,
      spec: { logo: body.spec.logo },
    });
  });

  test('names the service in discovery, to authenticators and in mails', async () => {
    await change({
      displayName: 'Harbour',
      accentColor: '#0c6b62',
      privacyPolicyURI: 'https://harbour.test/privacy',
      termsOfServiceURI: 'https://harbour.test/terms',
    });
    const document = await settles(
      async () => (await visitor.get('/.well-known/openid-configuration').is(200)).body,
      (body) => body.op_policy_uri !== undefined,
    );
    expect(document).toMatchObject({
      op_policy_uri: 'https://harbour.test/privacy',
      op_tos_uri: 'https://harbour.test/terms',
      claim_types_supported: ['normal'],
    });
    const { tab } = await signIn(service, 'grace@example.test');
    const { body } = await tab
      .post('accounts/~/passkeychallenge', { spec: { purpose: 'Register' } })
      .is(201);
    expect(body.status.options.rp).toEqual({ id: 'localhost', name: 'Harbour' });
    const { tab: mailed, name } = await begin(service);
    await mailed
      .post(`interactions/${name}/emailchallenge`, { spec: { email: 'mail@example.test' } })
      .is(200);
    const { text, html } = await mailTo(service, 'mail@example.test');
    expect(text).toContain('with Harbour (localhost');
    expect(html).toContain('background:#0c6b62;color:#ffffff');
  });

  test('loses what is set to null', async () => {
    const { spec } = await change({
      displayName: null,
      accentColor: null,
      privacyPolicyURI: null,
      termsOfServiceURI: null,
      logo: null,
    });
    expect(spec).toEqual({});
    await settles(
      async () => (await visitor.navigate('/account').is(200)).bytes,
      (bytes) => !bytes.includes('/assets/appearance-'),
    );
    await settles(
      async () => (await visitor.get('/.well-known/openid-configuration').is(200)).body,
      (body) => body.op_policy_uri === undefined && body.op_tos_uri === undefined,
    );
  });
});

test('a manifest sets the appearance with a logo, again only when its file changes', async () => {
  const folder = join(temporary(), 'manifests');
  mkdirSync(folder);
  const manifest = (displayName: string): void =>
    writeFileSync(
      join(folder, 'appearance.yaml'),
      `apiVersion: id.vestibule.org/v1beta1\nkind: Appearance\nmetadata: { name: default }\nspec:\n  displayName: ${displayName}\n  logo: ${upload}\n`,
    );
  manifest('Harbour');
  const options = { directory: temporary(), flags: [...flags, '--manifests', folder] };
  const service = await startTest(options);
  await createClient(service, 'app');
  const { body } = await service.tab().get('appearances/default').is(200);
  expect(body.spec).toMatchObject({ displayName: 'Harbour', logo: expect.stringMatching(/png$/) });
  expect(JSON.stringify(body).length).toBeLessThan(2_000);
  const { tab: op } = await signIn(service, 'op@example.test');
  await op.patch('appearances/default', { spec: { logo: null } }).is(200);
  await service.stop();
  const again = await startTest(options);
  const { body: same } = await again.tab().get('appearances/default').is(200);
  expect(same.spec).toEqual({ displayName: 'Harbour' });
  manifest('Haven');
  await again.stop();
  const third = await startTest(options);
  const { body: after } = await third.tab().get('appearances/default').is(200);
  expect(after.spec).toEqual({ displayName: 'Haven', logo: body.spec.logo });
});

test.each(['logo: 5', 'accentColor: 7', 'logo: aGFyYm91cg=='])(
  'a manifest with the wrong %s is refused with the field',
  async (line) => {
    const folder = join(temporary(), 'manifests');
    mkdirSync(folder);
    writeFileSync(
      join(folder, 'appearance.yaml'),
      `apiVersion: id.vestibule.org/v1beta1\nkind: Appearance\nmetadata: { name: default }\nspec: { ${line} }\n`,
    );
    await expect(startTest({ flags: [...flags, '--manifests', folder] })).rejects.toThrow(
      `appearance.yaml: Appearance.id.vestibule.org "default" is invalid: spec.${line.split(':')[0]}`,
    );
  },
);
