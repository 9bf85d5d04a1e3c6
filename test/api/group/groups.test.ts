import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { Group } from '../../../kinds/people/group/group.js';
import { Memberships } from '../../../kinds/people/group/membership-index.js';
import { signIn } from '../../support/people/signin.js';
import type { Tab } from '../../support/people/tab.js';
import {
  createClient,
  startTest,
  stopAll,
  type TestService,
  temporary,
} from '../../support/service.js';
import { Stopwatch } from '../../support/stopwatch.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

const flags = ['--operators', 'Op@Example.test', '--limit-factor', '100'];
const group = (name: string, members: string[], displayName = name) => ({
  metadata: { name },
  spec: { displayName, members },
});

/** Asks again and again until the answer has a code, a second at most. */
async function within(
  second: number,
  ask: () => PromiseLike<{ code: number }>,
  code: number,
): Promise<void> {
  for (const stopwatch = new Stopwatch(); ; ) {
    if ((await ask()).code === code) return;
    if (stopwatch.milliseconds > second * 1000) throw new Error(`no ${code} within ${second} s`);
  }
}

describe.each(stores)('who is an operator, over %s', (store) => {
  let service: TestService;
  let other: TestService;
  let op: Tab;
  let ada: Tab;

  test('is said by Group operators, or by the flag while it lists no one', async () => {
    service = await startTest({ store, flags });
    other = await service.replica();
    await createClient(service, 'app');
    op = (await signIn(service, 'op@example.test')).tab;
    ada = (await signIn(service, 'Ada@example.test')).tab;
    const elsewhere = other.tab();
    elsewhere.cookies = ada.cookies;
    await ada.get('clients').fails(403, 'Forbidden');
    await elsewhere.get('groups').fails(403, 'Forbidden');
    await op.post('groups', group('operators', ['aDa@exAmple.test'])).is(201);
    await ada.get('clients').is(200);
    await op.get('clients').fails(403, 'Forbidden');
    await within(1, () => elsewhere.get('clients'), 200);
    await ada.post('groups', group('staff', [])).is(201);
  });

  test('and a person who is taken out is none at once, and elsewhere within a second', async () => {
    const elsewhere = other.tab();
    elsewhere.cookies = ada.cookies;
    for (let round = 0; round < 20; round += 1) {
      await ada.patch('groups/operators', { spec: { members: [] } }).is(200);
      await ada.get('clients').fails(403, 'Forbidden');
      await within(1, () => elsewhere.get('clients'), 403);
      await op.patch('groups/operators', { spec: { members: ['ada@example.test'] } }).is(200);
      await ada.get('clients').is(200);
      await op.get('clients').fails(403, 'Forbidden');
      await within(1, () => elsewhere.get('clients'), 200);
    }
    await ada.delete('groups/operators').is(200);
    await ada.get('clients').fails(403, 'Forbidden');
    await within(1, () => elsewhere.get('clients'), 403);
    await op.get('groups').is(200);
  });

  test('people who are none learn nothing of groups', async () => {
    await ada.get('groups/staff').fails(404, 'NotFound');
    await ada.get('groups/nothing').fails(404, 'NotFound');
    await ada.post('groups', group('mine', [])).fails(403, 'Forbidden');
    await service.tab().get('groups').fails(401, 'Unauthorized');
    const { body } = await op.get('groups').is(200);
    expect(body.items.map((item: any) => item.metadata.name)).toEqual(['staff']);
  });
});

test('an index follows every change, and is right however little is known', async () => {
  const service = await startTest({ flags });
  const early = new Memberships(service.store, ['root@example.test']);
  expect(early.cachedGroupsOf('a@example.test')).toBeUndefined();
  const { tab } = await (async () => {
    await createClient(service, 'app');
    return signIn(service, 'op@example.test');
  })();
  await tab.post('groups', group('b', ['A@example.test', 'c@example.test'])).is(201);
  expect(await early.groupsOf('A@example.test')).toEqual(['b']);
  await early.start();
  await tab.post('groups', group('a', ['a@example.test', 'root@example.test'])).is(201);
  expect(await early.groupsOf('a@example.test')).toEqual(['a', 'b']);
  expect(await early.groupsOf('root@example.test')).toEqual(['a', 'operators']);
  await tab.patch('groups/b', { spec: { members: ['c@example.test'] } }).is(200);
  expect(await early.groupsOf('a@example.test')).toEqual(['a']);
  for (const [members, counting] of [
    [['A@example.test'], ['a@example.test']],
    [[], ['root@example.test']],
    [['Root@example.test'], ['root@example.test']],
  ] as const) {
    await service.store.change(service.store.systemCall(), async (tx) => {
      if (await tx.get(Group, 'operators')) {
        await tx.update(Group, 'operators', ({ spec }) => {
          spec.members = [...members];
        });
      } else {
        await tx.create(Group, {
          metadata: { name: 'operators' },
          status: {},
          spec: { displayName: 'Operators', members: [...members] },
        });
      }
    });
    for (const one of [early, new Memberships(service.store, ['root@example.test'])]) {
      expect((await one.members('operators')).map(({ address }) => address)).toEqual(counting);
      expect((await one.groupsOf('root@example.test')).includes('operators')).toBe(
        counting[0] === 'root@example.test',
      );
    }
  }
  await service.store.change(service.store.systemCall(), (tx) => tx.delete(Group, 'operators'));
  expect(await early.groupsOf('root@example.test')).toEqual(['a', 'operators']);
  await tab.delete('groups/a').is(200);
  expect(await early.groupsOf('a@example.test')).toEqual([]);
  expect(early.cachedGroupsOf('c@example.test')).toEqual(['b']);
  early.stop();
});

test('a manifest makes the first operators', async () => {
  const folder = join(temporary(), 'manifests');
  mkdirSync(folder);
  writeFileSync(
    join(folder, 'groups.yaml'),
    'apiVersion: id.vestibule.org/v1beta1\nkind: Group\nmetadata: { name: operators }\nspec: { displayName: Operators, members: [ada@example.test] }\n',
  );
  const service = await startTest({ flags: ['--manifests', folder] });
  await createClient(service, 'app');
  const { tab } = await signIn(service, 'ada@example.test');
  expect((await tab.get('groups/operators').is(200)).body.spec.members).toEqual([
    'ada@example.test',
  ]);
});
