import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { ClaimsProvider } from '../../../kinds/apps/claims/claims-provider.js';
import { Client } from '../../../kinds/apps/client/client.js';
import { Group } from '../../../kinds/people/group/group.js';
import { Policy } from '../../../kinds/policy/policy.js';
import { Replica } from '../../../kinds/replica.js';
import { scrape } from '../../support/network/scrape.js';
import { until } from '../../support/patience.js';
import { startTest, stopAll, type TestService, temporary } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const apiVersion = 'id.vestibule.org/v1beta1';
const group = (name: string, displayName: string, more: object = {}): object => ({
  apiVersion,
  kind: 'Group',
  metadata: { name, ...more },
  spec: { displayName },
});

describe.each(stores)('manifests, on %s', (store) => {
  /** A folder with files, and what writes them. */
  function folderWith(files: Record<string, unknown>) {
    const path = join(temporary(), 'manifests');
    mkdirSync(path);
    const write = (name: string, ...objects: unknown[]): void => {
      const text = objects.map((object) =>
        typeof object === 'string' ? object : JSON.stringify(object),
      );
      writeFileSync(join(path, `.${name}.new`), text.join('\n---\n'));
      renameSync(join(path, `.${name}.new`), join(path, name));
    };
    for (const [name, object] of Object.entries(files)) write(name, object);
    return { path, write, remove: (name: string): void => rmSync(join(path, name)) };
  }
  const start = (path: string, options: Parameters<typeof startTest>[0] = {}) =>
    startTest({ store, ...options, flags: ['--manifests', path, '--metrics-port', '0'] });
  const read = (service: TestService, name: string) => service.store.reader(Group).get(name);
  const filesOf = async (service: TestService): Promise<Record<string, string>> => {
    const [replica] = await service.store.reader(Replica).list();
    return Object.fromEntries(
      (replica?.status.manifests ?? []).map(({ file, state }) => [file, state]),
    );
  };

  test('are applied at the start and when a file changes; others are deleted', async () => {
    const folder = folderWith({
      'a.yaml': group('staff', 'Staff', { labels: { team: 'a' } }),
      'b.yaml': group('readers', 'Readers'),
    });
    const service = await start(folder.path);
    expect(await filesOf(service)).toEqual({ 'a.yaml': 'Applied', 'b.yaml': 'Applied' });
    const staff = (await read(service, 'staff'))!;
    expect(staff.metadata.labels).toEqual({ team: 'a', 'id.vestibule.org/manifests': 'true' });
    expect(staff.metadata.managedFields).toMatchObject([
      { manager: 'manifests', operation: 'Apply' },
    ]);
    folder.write('a.yaml', group('staff', 'Everyone'));
    await until(async () => (await read(service, 'staff'))?.spec.displayName === 'Everyone');
    expect((await read(service, 'staff'))!.metadata.labels).toEqual({
      'id.vestibule.org/manifests': 'true',
    });
    folder.write('c.yaml', group('writers', 'Writers'));
    await until(async () => (await read(service, 'writers')) !== undefined);
    folder.remove('b.yaml');
    await until(async () => (await read(service, 'readers')) === undefined);
    const expected = JSON.stringify({ 'a.yaml': 'Applied', 'c.yaml': 'Applied' });
    await until(async () => JSON.stringify(await filesOf(service)) === expected);
  });

  test('a file with a fault is left out, and is applied once it is mended', async () => {
    const folder = folderWith({
      'a.yaml': group('one', 'One'),
      'b.yaml': group('two', 'Two'),
    });
    const service = await start(folder.path);
    folder.write('b.yaml', { ...group('two', 'Two'), spec: { displayName: '' } });
    folder.remove('a.yaml');
    folder.write('c.yaml', group('three', 'Three'));
    await until(async () => (await filesOf(service))['b.yaml'] === 'Faulty');
    await until(async () => (await read(service, 'three')) !== undefined);
    expect((await read(service, 'one'))?.spec.displayName).toBe('One');
    expect((await read(service, 'two'))?.spec.displayName).toBe('Two');
    const { text } = await scrape(service.metricsURL!);
    expect(text).toContain('vestibule_manifest_applied{file="b.yaml"} 0');
    expect(text).toContain('vestibule_manifest_applied{file="c.yaml"} 1');
    const [replica] = await service.store.reader(Replica).list();
    expect(replica!.status.manifests!.find(({ file }) => file === 'b.yaml')?.message).toContain(
      'spec.displayName',
    );
    folder.write('b.yaml', group('two', 'Second'));
    await until(async () => (await read(service, 'two'))?.spec.displayName === 'Second');
    await until(async () => (await read(service, 'one')) === undefined);
  });

  test('a start with a fault anywhere changes nothing and says all faults', async () => {
    const folder = folderWith({
      'a.yaml': group('fine', 'Fine'),
      'b.yaml': { ...group('wrong', 'x'), spec: {} },
      'c.yaml': 'kind: [',
      'd.yaml': group('fine', 'Again'),
    });
    const options = { directory: temporary() };
    await expect(start(folder.path, options)).rejects.toThrow(
      /b\.yaml: .*spec\.displayName[^]*c\.yaml: [^]*d\.yaml: Group fine is declared in \S+a\.yaml already/,
    );
    for (const name of ['b.yaml', 'c.yaml', 'd.yaml']) folder.remove(name);
    const service = await start(folder.path, options);
    const said = service.logs.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(
      said.find(({ message }) => message === 'manifests were tried on a dry run'),
    ).toMatchObject({
      created: ['Group/fine'],
      changed: [],
      pruned: [],
      unchanged: 0,
    });
  });

  test('declare fields by the names of the version that they say, and no others', async () => {
    const provider = (version: string, name: string, field: string): object => ({
      apiVersion: `id.vestibule.org/${version}`,
      kind: 'ClaimsProvider',
      metadata: { name },
      spec: {
        displayName: name,
        [field]: `https://${name}.example.test/`,
        scopes: [
          {
            name,
            title: 'Cards',
            description: 'For tests.',
            claims: [{ name: `${name}_claim`, title: 'Card', type: 'string' }],
          },
        ],
      },
    });
    const folder = folderWith({
      'new.yaml': provider('v1beta1', 'new', 'reviewURI'),
      'old.yaml': provider('v1alpha1', 'old', 'url'),
    });
    const service = await start(folder.path);
    for (const name of ['new', 'old']) {
      const declared = await service.store.reader(ClaimsProvider).get(name);
      expect(declared!.spec.reviewURI).toBe(`https://${name}.example.test/`);
    }
    folder.write('old.yaml', provider('v1alpha1', 'old', 'reviewURI'));
    const expected = JSON.stringify({ 'new.yaml': 'Applied', 'old.yaml': 'Faulty' });
    await until(async () => JSON.stringify(await filesOf(service)) === expected);
    expect(service.logs.join('')).toContain('of v1alpha1 has no field spec.reviewURI');
    await expect(start(folderWith({ 'a.yaml': provider('v9', 'a', 'url') }).path)).rejects.toThrow(
      'of id.vestibule.org/v1beta1 or id.vestibule.org/v1alpha1 can be loaded',
    );
  });

  test('an Audience may name Clients of any file as introspectors, and no one else', async () => {
    const audience = (...introspectors: string[]): object => ({
      apiVersion,
      kind: 'Audience',
      metadata: { name: 'billing' },
      spec: {
        identifier: 'https://billing.example.test',
        displayName: 'Billing',
        scopes: [{ name: 'read', title: 'Read', description: 'Read invoices.' }],
        introspectors,
      },
    });
    const client = {
      apiVersion,
      kind: 'Client',
      metadata: { name: 'billing-api' },
      spec: {
        displayName: 'Billing',
        redirectURIs: [],
        grantTypes: [],
        secretHashes: [`sha256:${'a'.repeat(64)}`],
      },
    };
    const folder = folderWith({ 'a.yaml': audience('billing-api', 'absent'), 'b.yaml': client });
    const options = { directory: temporary() };
    await expect(start(folder.path, options)).rejects.toThrow(
      /a\.yaml: .*spec\.introspectors\[\d\]: Invalid value: must be the name of a Client/,
    );
    folder.write('a.yaml', audience('billing-api'));
    const service = await start(folder.path, options);
    expect(await filesOf(service)).toEqual({ 'a.yaml': 'Applied', 'b.yaml': 'Applied' });
    folder.write('a.yaml', audience('billing-api', 'second-api'));
    await until(async () => (await filesOf(service))['a.yaml'] === 'Faulty');
    folder.write('c.yaml', { ...client, metadata: { name: 'second-api' } });
    await until(async () => (await filesOf(service))['a.yaml'] === 'Applied');
  });

  test('what others set stays; without a label nothing is deleted', async () => {
    const folder = folderWith({
      'a.yaml': group('shared', 'Shared'),
      'b.yaml': group('kept', 'K'),
    });
    const service = await start(folder.path);
    const change = (name: string, edit: Parameters<typeof edited>[2]) =>
      edited(service, name, edit);
    await change('shared', (next) => {
      next.spec.members = ['ada@example.test'];
    });
    await change('kept', ({ metadata }) => {
      delete metadata.labels;
    });
    folder.remove('b.yaml');
    folder.write('a.yaml', group('shared', 'Still shared'));
    await until(async () => (await read(service, 'shared'))?.spec.displayName === 'Still shared');
    expect((await read(service, 'shared'))!.spec.members).toEqual(['ada@example.test']);
    folder.remove('a.yaml');
    await until(async () => Object.keys(await filesOf(service)).length === 0);
    expect(await read(service, 'kept')).toBeDefined();
    expect(await read(service, 'shared')).toBeDefined();
  });

  test('a Policy in mode Shadow may stand beside the one in force', async () => {
    const first = await startTest({ store });
    const { cedar } = (await first.store.reader(Policy).get('p-1'))!.spec;
    const policy = (text: string, mode?: string) => ({
      apiVersion,
      kind: 'Policy',
      spec: { cedar: `${cedar}\n// ${text}\n`, ...(mode && { mode }) },
    });
    const folder = folderWith({
      'a.yaml': policy('in force'),
      'b.yaml': policy('next', 'Shadow'),
    });
    const service = await start(folder.path);
    const stateOf = async (name: string): Promise<string | undefined> => {
      const found = await service.store.reader(Policy).get(name);
      if (!found) return undefined;
      if (found.status.inForce) return 'in force';
      return found.status.supersededTimestamp ? 'over' : 'in trial';
    };
    expect([await stateOf('p-2'), await stateOf('s-1')]).toEqual(['in force', 'in trial']);
    const replica = await service.replica(); // finds both applied already
    expect(await stateOf('s-2')).toBeUndefined();
    await replica.stop();
    folder.write('a.yaml', policy('another'));
    await until(async () => (await stateOf('p-3')) === 'in force');
    expect(await stateOf('s-1')).toBe('over');
    await until(async () => (await stateOf('s-2')) === 'in trial');
    folder.write('c.yaml', policy('third', 'Shadow'));
    await until(async () => (await filesOf(service))['c.yaml'] === 'Faulty');
  });

  test('a folder that Kubernetes swaps is followed, by replicas together', async () => {
    const base = join(temporary(), 'mounted');
    mkdirSync(base);
    let version = 0;
    const mount = (...objects: object[]): void => {
      const data = join(base, `..${(version += 1)}`);
      mkdirSync(data);
      writeFileSync(
        join(data, 'all.yaml'),
        objects.map((object) => JSON.stringify(object)).join('\n---\n'),
      );
      symlinkSync(`..${version}`, join(base, '..data_tmp'));
      renameSync(join(base, '..data_tmp'), join(base, '..data'));
    };
    mount(group('alpha', 'Alpha'), {
      apiVersion,
      kind: 'Client',
      metadata: { name: 'app' },
      spec: { displayName: 'App', redirectURIs: ['https://app.example.test/cb'] },
    });
    symlinkSync('..data/all.yaml', join(base, 'all.yaml'));
    const service = await start(base);
    await service.replica();
    expect(await service.store.reader(Client).get('app')).toBeDefined();
    mount(group('alpha', 'Changed'), group('beta', 'Beta'));
    await until(async () => (await read(service, 'beta')) !== undefined);
    await until(async () => (await service.store.reader(Client).get('app')) === undefined);
    expect((await read(service, 'alpha'))!.spec.displayName).toBe('Changed');
  });
});

function edited(
  service: TestService,
  name: string,
  edit: (next: NonNullable<Awaited<ReturnType<typeof groupOf>>>) => void,
): Promise<unknown> {
  return service.store.change(service.store.systemCall(), (tx) => tx.update(Group, name, edit));
}

const groupOf = (service: TestService, name: string) => service.store.reader(Group).get(name);
