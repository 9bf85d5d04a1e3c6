import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ClaimsProvider } from '../../kinds/claimsprovider.js';
import { createClient, startTest, stopAll, type TestService } from '../support/service.js';
import { begin, signIn } from '../support/signin.js';
import type { Tab } from '../support/tab.js';

afterAll(stopAll);

const flags = ['--operators', 'op@example.test', '--limit-factor', '100'];
const scope = (name: string) => ({ name, title: `The ${name}`, description: 'For tests.', claims: [{ name: `${name}_claim`, title: 'Claim', type: 'string' }] });
const supplier = (name: string, ...scopes: string[]) => ({ metadata: { name }, spec: { displayName: name, url: 'https://supplier.example.test/', scopes: scopes.map(scope) } });

describe.each(['embedded', 'etcd'] as const)('who supplies claims, over %s', (store) => {
  let service: TestService;
  let other: TestService;
  let op: Tab;
  let ada: Tab;
  beforeAll(async () => {
    service = await startTest({ store, flags });
    other = await service.replica();
    await createClient(service, 'app', { scopes: [{ name: 'openid', required: true }, { name: 'card', required: false }] });
    op = (await signIn(service, 'op@example.test', { scope: 'openid' })).tab;
    ada = (await signIn(service, 'ada@example.test', { scope: 'openid' })).tab;
  });
  const supported = async (at: TestService): Promise<string[]> => (await at.tab().get('/.well-known/openid-configuration', { plain: true }).is(200)).body.scopes_supported;

  test('the built-in provider is shown, and nobody changes it', async () => {
    const { body } = await ada.get('claimsproviders/vestibule').is(200);
    expect(body.spec.scopes.map((one: any) => one.name)).toEqual(['openid', 'profile', 'email', 'groups', 'offline_access', 'api']);
    expect(body.spec).not.toHaveProperty('url');
    expect((await ada.get('claimsproviders').is(200)).body.items).toEqual([body]);
    await op.patch('claimsproviders/vestibule', { spec: { displayName: 'Mine' } }).fails(403, 'Forbidden');
    await op.patch('claimsproviders/vestibule', { metadata: { labels: { mine: 'yes' } } }).fails(403, 'Forbidden');
    await op.put('claimsproviders/vestibule', { ...body, spec: { ...body.spec, scopes: [] } }).fails(403, 'Forbidden');
    await op.delete('claimsproviders/vestibule').fails(403, 'Forbidden');
    await op.post('claimsproviders', supplier('vestibule', 'card')).fails(409, 'AlreadyExists');
    expect((await op.get('claimsproviders/vestibule').is(200)).body).toEqual(body);
  });

  test('operators declare others, people only read', async () => {
    await ada.post('claimsproviders', supplier('mine', 'mine')).fails(403, 'Forbidden');
    await service.tab().get('claimsproviders').fails(401, 'Unauthorized');
  });

  test('a scope has one provider: a second one is 409, until the first lets go of it', async () => {
    await op.post('claimsproviders', supplier('first', 'one', 'two')).is(201);
    await op.post('claimsproviders', supplier('second', 'three', 'two')).fails(409, 'AlreadyExists', 'scope');
    await op.post('claimsproviders', supplier('second', 'three', 'email')).fails(409, 'AlreadyExists', 'scope');
    const both = await Promise.all([op.post('claimsproviders', supplier('second', 'three')), op.post('claimsproviders', supplier('third', 'three'))]);
    expect(both.map(({ code }) => code).sort()).toEqual([201, 409]);
    const name = both.find(({ code }) => code === 201)!.body.metadata.name;
    await op.patch(`claimsproviders/${name}`, { spec: { scopes: [scope('three'), scope('one')] } }).fails(409, 'AlreadyExists', 'scope');
    await op.patch('claimsproviders/first', { spec: { scopes: [scope('two')] } }).is(200);
    await op.patch(`claimsproviders/${name}`, { spec: { scopes: [scope('three'), scope('one')] } }).is(200);
    await op.delete('claimsproviders/first').is(200);
    await op.patch(`claimsproviders/${name}`, { spec: { scopes: [scope('one'), scope('two')] } }).is(200);
    await op.delete(`claimsproviders/${name}`).is(200);
  });

  test('a Client may ask for it at once, and on every replica within a second', async () => {
    expect((await service.tab().navigate('/oauth2/auth?client_id=app').is(400)).code).toBe(400);
    await op.post('claimsproviders', supplier('cards', 'card')).is(201);
    expect(await supported(service)).toContain('card');
    const asked = performance.now();
    while (!(await supported(other)).includes('card')) expect(performance.now() - asked).toBeLessThan(1_000);
    const { tab, I } = await begin(other, { scope: 'openid card' });
    expect((await tab.get(I).is(200)).body.spec.scopes).toEqual(['openid', 'card']);
    await op.delete('claimsproviders/cards').is(200);
    expect(await supported(service)).not.toContain('card');
    while ((await supported(other)).includes('card')) expect(performance.now() - asked).toBeLessThan(4_000);
  });
});

test('an address that is not public is refused by its text alone (H1)', async () => {
  const declare = (at: TestService, url: string): Promise<unknown> => at.store.change(at.store.systemCall(), (tx) => tx.create(ClaimsProvider, { metadata: { generateName: 'p-' }, spec: { ...supplier('p').spec, url, timeoutMilliseconds: 1000, failurePolicy: 'Omit', scopes: [] } }));
  const strict = await startTest({ flags: ['--base-url', 'https://id.example.test', '--allow-mock-mail', '--allow-private-network', '10.1.0.0/16'] });
  for (const url of ['https://127.0.0.1/', 'https://169.254.169.254/', 'https://10.0.0.1/', 'https://[::1]/', 'https://[::ffff:10.0.0.1]/', 'https://2130706433/', 'https://localhost/', 'https://x.localhost/', 'http://localhost/', 'http://supplier.example.test/', 'https://supplier.example.test/#x', 'https://u@supplier.example.test/',
    'https://127.1/', 'https://0177.0.0.1/', 'https://0x7f000001/', 'https://0/', 'https://[::]/', 'https://[::ffff:7f00:1]/', 'https://[::ffff:a9fe:a9fe]/', 'https://[::127.0.0.1]/', 'https://[64:ff9b::a00:1]/', 'https://[2002:a00:1::]/', 'https://[fd00::1]/', 'https://[fe80::1]/', 'https://100.64.0.1/',
    'https://LOCALHOST./', 'https://127.0.0.1.:443/', 'https://supplier.example.test@127.0.0.1/', 'https://:p@supplier.example.test/', 'ftp://supplier.example.test/', 'file:///etc/passwd', 'javascript:alert(1)', 'supplier.example.test', ''])
    await expect(declare(strict, url)).rejects.toMatchObject({ reason: 'Invalid', details: { causes: [{ field: 'spec.url' }] } });
  for (const url of ['https://supplier.example.test/', 'https://10.1.2.3/claims']) await declare(strict, url);
  const local = await startTest({ flags });
  for (const url of ['http://localhost:7/', 'http://127.0.0.1:7/', 'https://[::1]/']) await declare(local, url);
  await expect(declare(local, 'http://10.0.0.1/')).rejects.toMatchObject({ reason: 'Invalid' });
});
