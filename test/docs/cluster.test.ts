import { afterAll, expect, test } from '@jest/globals';
import { master, saying, startFronted } from '../support/cluster/frontproxy.js';
import { stopAll } from '../support/service.js';
import { read } from './pages.js';

afterAll(stopAll);

test('the rules of the page permit the team all Clients, and changes of its own', async () => {
  const plain = { plain: true } as const;
  const rules = /^ +@id\("wiki-team-reads"\)[^]*?\n(?=\n\d\.)/m.exec(
    read('docs/how-to/cluster.md'),
  )![0];
  const front = await startFronted();
  const admin = front.caller(front.proxy, master);
  for (const name of ['wiki', 'wiki-preview', 'other']) {
    await admin
      .post(
        'clients',
        {
          metadata: { name },
          spec: {
            displayName: name,
            type: 'Public',
            redirectURIs: ['https://app.example.test/callback'],
          },
        },
        plain,
      )
      .is(201);
  }
  const { cedar } = (await admin.get('policies/p-1', plain).is(200)).body.spec;
  const ada = front.caller(front.proxy, saying('ada', 'wiki-team'));
  const bob = front.caller(front.proxy, saying('bob', 'system:authenticated'));
  const rename = { spec: { displayName: 'Renamed' } };
  await ada.patch('clients/wiki', rename, plain).fails(404, 'NotFound');

  await admin.post('policies', { spec: { cedar: `${cedar}\n${rules}` } }, plain).is(201);
  const { items } = (await ada.get('clients', plain).is(200)).body;
  expect(items.map(({ metadata }: any) => metadata.name)).toEqual([
    'other',
    'wiki',
    'wiki-preview',
  ]);
  for (const name of ['wiki', 'wiki-preview']) {
    await ada.patch(`clients/${name}`, rename, plain).is(200);
  }
  await ada.patch('clients/other', rename, plain).fails(403, 'Forbidden');
  await ada.delete('clients/other', plain).fails(403, 'Forbidden');
  await bob.patch('clients/wiki', rename, plain).fails(404, 'NotFound');
});

test('the rule of the page permits an operator its Client, and no other', async () => {
  const plain = { plain: true } as const;
  const [rule] = /^ +@id\("wiki-operator"\)[^]*?;\n/m.exec(read('docs/how-to/cluster.md'))!;
  const front = await startFronted();
  const admin = front.caller(front.proxy, master);
  const spec = {
    displayName: 'Wiki',
    type: 'Public',
    redirectURIs: ['https://app.example.test/callback'],
  };
  for (const name of ['wiki', 'other']) {
    await admin.post('clients', { metadata: { name }, spec }, plain).is(201);
  }
  const { cedar } = (await admin.get('policies/p-1', plain).is(200)).body.spec;
  await admin.post('policies', { spec: { cedar: `${cedar}\n${rule}` } }, plain).is(201);
  const operator = (name: string) =>
    front.caller(
      front.proxy,
      saying(`system:serviceaccount:wiki:${name}`, 'system:serviceaccounts'),
    );
  const rename = { spec: { displayName: 'Renamed' } };
  await operator('wiki-operator').patch('clients/wiki', rename, plain).is(200);
  await operator('wiki-operator').patch('clients/other', rename, plain).fails(404, 'NotFound');
  await operator('default').patch('clients/wiki', rename, plain).fails(404, 'NotFound');
});
