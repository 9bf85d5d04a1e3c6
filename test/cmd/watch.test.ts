import { readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { Keys } from '../../security/keyring.js';
import { Following, signedIn, stopFollowing, vestibule } from '../support/command.js';
import { testKeys } from '../support/keys.js';
import { signIn } from '../support/people/signin.js';
import type { Tab } from '../support/people/tab.js';
import {
  createClient,
  startTest,
  stopAll,
  type TestService,
  temporary,
} from '../support/service.js';
import { stores } from '../support/stores.js';

/** Each command is a process of its own, on a machine that may be busy. */
jest.setTimeout(120_000);

const keys = new Keys(testKeys());
let [directory, base]: string[] = [];
let service: TestService;
let tab: Tab;
let operator: { VESTIBULE_CONTEXTS: string };

const start = (port: string): Promise<TestService> =>
  startTest({
    directory: directory!,
    keys,
    flags: [
      '--operators',
      'op@example.test',
      '--limit-factor',
      '1000',
      '--port',
      port,
      '--base-url',
      base!,
    ],
  });
const make = (name: string) =>
  tab.post('groups', { metadata: { name }, spec: { displayName: 'First' } }).is(201);
const change = (name: string, displayName: string) =>
  tab.patch(`groups/${name}`, { spec: { displayName } }).is(200);
/** What was said, an object a line, as name and display name. */
const objects = (text: string): string[] =>
  text
    .trim()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
    .map(({ type, object, ...whole }) =>
      [type, (object ?? whole).metadata.name, (object ?? whole).spec.displayName]
        .filter(Boolean)
        .join(' '),
    );
/** Whether the command reports that it cannot reach the service and tries again. */
const lost = (text: string): boolean =>
  /^vestibule: http\S+ cannot be reached: .*; trying again$/m.test(text);

beforeAll(async () => {
  const probe = createServer();
  await new Promise<void>((resolve) => {
    probe.listen(0, '127.0.0.1', resolve);
  });
  base = `http://localhost:${(probe.address() as AddressInfo).port}`;
  await new Promise((resolve) => {
    probe.close(resolve);
  });
  directory = temporary();
  service = await start(new URL(base).port);
  await createClient(service, 'app');
  ({ tab } = await signIn(service, 'op@example.test'));
  operator = await signedIn(service, tab);
});
afterAll(async () => {
  await stopFollowing();
  await stopAll();
});

/** A service on that store with someone who may do all. */
async function signedInOn(store: 'embedded' | 'etcd') {
  const own = await startTest({
    store,
    flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
  });
  await createClient(own, 'app');
  const { tab } = await signIn(own, 'op@example.test');
  return { tab, operator: await signedIn(own, tab) };
}

test.each(stores)(
  'watch prints what there is, each change once, and ends with 130, on %s',
  async (store) => {
    const { tab, operator } = await signedInOn(store);
    const make = (name: string) =>
      tab.post('groups', { metadata: { name }, spec: { displayName: 'First' } }).is(201);
    for (const name of ['one', 'two']) await make(name);
    const table = new Following(
      ['watch', 'groups', '--field-selector=metadata.name=one'],
      operator,
    );
    const lines = new Following(
      ['get', 'groups', '-w', '-o', 'json', '--output-watch-events'],
      operator,
    );
    const single = new Following(['watch', 'group/one', '-o', 'json'], operator);
    await Promise.all([
      table.until((text) => text.includes('First')),
      lines.until((text) => text.includes('"two"')),
      single.until((text) => text.includes('First')),
    ]);
    await tab.patch('groups/one', { spec: { displayName: 'A much longer name' } }).is(200);
    await single.until((text) => text.includes('longer'));
    await tab.patch('groups/two', { spec: { displayName: 'Second' } }).is(200);
    await tab.delete('groups/one').is(200);
    await Promise.all([
      lines.until((text) => text.includes('DELETED')),
      single.until((text) => text.split('\n').length === 4),
      table.until((text) => text.split('\n').length === 5),
    ]);
    expect([await table.interrupt(), await lines.interrupt(), await single.interrupt()]).toEqual([
      130, 130, 130,
    ]);
    expect(objects(lines.text).filter((line) => !line.endsWith('operators'))).toEqual([
      'ADDED one First',
      'ADDED two First',
      'MODIFIED one A much longer name',
      'MODIFIED two Second',
      'DELETED one A much longer name',
    ]);
    expect(table.text).toMatch(
      /^NAME   DISPLAY-NAME   MEMBERS   AGE\none    First          0         \S+\none    A much longer name   0         \S+\none    A much longer name   0         \S+\n$/,
    );
    expect(objects(single.text)).toEqual([
      'one First',
      'one A much longer name',
      'one A much longer name',
    ]);
    expect(await vestibule(['watch', 'group', 'absent'], operator)).toEqual({
      code: 1,
      out: '',
      error: 'Error from server (NotFound): groups.id.vestibule.org "absent" not found\n',
    });
  },
);

test('watch goes on after a restart, without repeating', async () => {
  await make('stays');
  const lines = new Following(
    ['watch', 'groups', '-o', 'json', '--field-selector=metadata.name=stays'],
    operator,
  );
  await lines.until((text) => text.includes('First'));
  await service.stop();
  await lines.until(lost);
  service = await start(new URL(base!).port);
  await change('stays', 'Second');
  await lines.until((text) => text.includes('Second'));
  expect(await lines.interrupt()).toBe(130);
  expect(objects(lines.text)).toEqual(['stays First', 'stays Second']);
});

test('watch reports once what changed while its version became too old', async () => {
  for (const name of ['kept', 'moved', 'taken']) await make(name);
  const lines = new Following(['watch', 'groups', '-o', 'json', '--output-watch-events'], operator);
  await lines.until((text) => text.includes('taken'));
  await service.stop();
  await lines.until(lost);
  const elsewhere = await start('0');
  const held = JSON.parse(readFileSync(operator.VESTIBULE_CONTEXTS, 'utf8'));
  const file = join(directory!, 'elsewhere');
  writeFileSync(
    file,
    JSON.stringify({
      ...held,
      contexts: { test: { ...held.contexts.test, server: elsewhere.url } },
    }),
  );
  const there = (...args: string[]) => vestibule(args, { VESTIBULE_CONTEXTS: file });
  expect((await there('patch', 'group', 'moved', '-p', 'spec: { displayName: Moved }')).error).toBe(
    '',
  );
  expect((await there('delete', 'group', 'taken')).error).toBe('');
  await elsewhere.storage.compact((await elsewhere.storage.get('meta/none')).revision);
  await elsewhere.stop();
  const before = objects(lines.text).length;
  service = await start(new URL(base!).port);
  await lines.until((text) => text.includes('Moved') && text.includes('DELETED'));
  await make('later');
  await lines.until((text) => text.includes('later'));
  expect(await lines.interrupt()).toBe(130);
  expect(objects(lines.text).slice(before)).toEqual([
    'DELETED taken First',
    'MODIFIED moved Moved',
    'ADDED later First',
  ]);
});

test('watch ends where it is refused', async () => {
  const { tab: other } = await signIn(service, 'ada@example.test');
  const person = await signedIn(service, other);
  expect(await vestibule(['watch', 'groups'], person)).toMatchObject({
    code: 1,
    out: '',
    error: expect.stringMatching(/^Error from server \(Forbidden\)/),
  });
});
