import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { signIn } from '../support/people/signin.js';
import { createClient, startTest, stopAll, temporary } from '../support/service.js';
import { stores } from '../support/stores.js';

afterAll(stopAll);

/** A folder with Group `operators`. */
function manifests(...members: string[]): string {
  const folder = join(temporary(), 'manifests');
  mkdirSync(folder);
  writeFileSync(
    join(folder, 'operators.yaml'),
    `apiVersion: id.vestibule.org/v1beta1
kind: Group
metadata: { name: operators }
spec: { displayName: Operators, members: [${members.join(', ')}] }
`,
  );
  return folder;
}

describe.each(stores)('--operators beside a Group with members, on %s', (store) => {
  test.each<[string, string[], string, string[]]>([
    ['no one', [], 'op@example.test', []],
    ['another', ['ada@example.test'], 'op@example.test', ['op@example.test']],
    ['the same', ['Op@example.test'], 'op@example.test', []],
    ['one of two', ['a@example.test'], 'a@example.test,b@example.test', ['b@example.test']],
  ])('that lists %s', async (_, members, flag, unused) => {
    const flags = ['--operators', flag, '--manifests', manifests(...members)];
    const { logs, stop } = await startTest({ store, flags });
    await stop();
    const warned = logs
      .map((line) => JSON.parse(line))
      .filter(({ message = '' }) => message.startsWith('addresses of --operators'));
    expect(warned.map(({ level, operators }) => [level, operators])).toEqual(
      unused.length === 0 ? [] : [['warn', unused]],
    );
  });

  test('is a Warning of the change that gives the Group members', async () => {
    const service = await startTest({ store, flags: ['--operators', 'op@example.test'] });
    await createClient(service, 'app');
    const { tab } = await signIn(service, 'op@example.test');
    const group = (members: string[]) => ({
      metadata: { name: 'operators' },
      spec: { displayName: 'Operators', members },
    });
    const harmless = await tab.post('groups?dryRun=All', group(['op@example.test'])).is(201);
    const { headers } = await tab.post('groups?dryRun=All', group(['ada@example.test'])).is(201);
    expect([harmless.headers['warning'], headers['warning']]).toEqual([
      undefined,
      expect.stringContaining('op@example.test of --operators'),
    ]);
  });
});
