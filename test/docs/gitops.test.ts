import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { master, saying, startFronted } from '../support/cluster/frontproxy.js';
import { exampleFile } from '../support/cluster/gitops-example.js';
import { signIn } from '../support/people/signin.js';
import { createClient, startTest, stopAll } from '../support/service.js';
import { blocksOf, indentedOf, root } from './pages.js';

const page = 'docs/how-to/gitops.md';
afterAll(stopAll);

test('the page shows the files of the example', () => {
  expect(
    blocksOf(page).flatMap(({ language, text }) => (language === 'yaml' ? [text] : [])),
  ).toEqual([exampleFile('flux/vestibule.yaml'), exampleFile('argo-cd/application.yaml')]);
  const shown = blocksOf(page).find(({ language }) => language === 'hcl')!.text;
  const [provider, ...resource] = shown.split('\n\n');
  expect(exampleFile('terraform/main.tf')).toContain(provider);
  expect(exampleFile('terraform/main.tf')).toContain(resource.join('\n\n'));
  const rule = indentedOf(page).find(({ text }) => text.startsWith('@id'))!.text;
  expect(exampleFile('rules.cedar')).toContain(rule);
});

test('the folder of the example is applied', async () => {
  const manifests = join(root, 'deploy/examples/gitops/objects');
  const service = await startTest({
    flags: ['--operators', 'op@example.test', '--manifests', manifests],
  });
  await createClient(service, 'app');
  const { tab } = await signIn(service, 'op@example.test');
  expect((await tab.get('groups/staff').is(200)).body.spec.displayName).toBe('Staff');
  expect((await tab.get('clients/wiki').is(200)).body.status.conditions).toContainEqual(
    expect.objectContaining({ type: 'Ready', status: 'True' }),
  );
});

test('the rules permit the controllers Clients and Groups, except the operators', async () => {
  const plain = { plain: true } as const;
  const front = await startFronted();
  const admin = front.caller(front.proxy, master);
  const staff = (name: string) => ({ metadata: { name }, spec: { displayName: 'Staff' } });
  await admin.post('groups', staff('operators'), plain).is(201);
  const { cedar } = (await admin.get('policies/p-1', plain).is(200)).body.spec;
  const text = `${cedar}\n${exampleFile('rules.cedar')}`;
  await admin.post('policies', { spec: { cedar: text } }, plain).is(201);
  for (const account of [
    'flux-system:kustomize-controller',
    'argocd:argocd-application-controller',
  ]) {
    const user = saying(`system:serviceaccount:${account}`, 'system:serviceaccounts');
    const controller = front.caller(front.proxy, user);
    const name = account.split(':')[1]!;
    await controller.post('groups', staff(name), plain).is(201);
    await controller.patch(`groups/${name}`, { spec: { displayName: 'All' } }, plain).is(200);
    await controller.delete(`groups/${name}`, plain).is(200);
    await controller.get('clients', plain).is(200);
    await controller.get('accounts', plain).fails(403, 'Forbidden');
    const names = (await controller.get('groups', plain).is(200)).body.items;
    expect(names).toEqual([]);
    await controller.post('groups', staff('operators'), plain).fails(403, 'Forbidden');
    await controller
      .patch('groups/operators', { spec: { members: ['eve@example.test'] } }, plain)
      .fails(404, 'NotFound');
    await controller.delete('groups/operators', plain).fails(404, 'NotFound');
  }
});
