import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Account } from '../../kinds/people/account/account.js';
import { Group } from '../../kinds/people/group/group.js';
import { signedIn, vestibule } from '../support/command.js';
import { signIn } from '../support/people/signin.js';
import {
  createClient,
  startTest,
  stopAll,
  type TestService,
  temporary,
} from '../support/service.js';
import { stores } from '../support/stores.js';

afterAll(stopAll);

describe.each(stores)('vestibule import, on %s', (store) => {
  let service: TestService;
  let environment: NodeJS.ProcessEnv;
  beforeAll(async () => {
    service = await startTest({
      store,
      flags: ['--operators', 'op@example.test', '--limit-factor', '1000'],
    });
    await createClient(service, 'app');
    const { tab } = await signIn(service, 'op@example.test');
    environment = await signedIn(service, tab);
    const fullMembers = Array.from({ length: 999 }, (_, i) => `m${i}@example.test`);
    await service.store.change(service.store.systemCall(), async (tx) => {
      await tx.create(Group, {
        metadata: { name: 'staff' },
        spec: { displayName: 'Staff', members: ['Ada@example.test'] },
      });
      await tx.create(Group, {
        metadata: { name: 'almost-full' },
        spec: { displayName: 'Almost full', members: fullMembers },
      });
    });
  });
  const run = async (text: string | Buffer, ...flags: string[]) => {
    const file = join(temporary(), 'people.csv');
    writeFileSync(file, text);
    const { error, ...rest } = await vestibule(['import', file, ...flags], environment);
    return { ...rest, error: error.replaceAll(file, 'people.csv') };
  };
  const addresses = async (): Promise<string[]> =>
    (await service.store.reader(Account).list()).map(({ status }) => status.email.address).sort();
  const membersOf = async (name: string): Promise<readonly string[]> =>
    (await service.store.reader(Group).get(name))!.spec.members;

  const people = `\uFEFFemail,displayName,groups
ada@example.test,"Ada, Countess",staff
Grace@example.test,,staff; almost-full

hopper@example.test,Hopper,almost-full
GRACE@example.test,Again,
a%b@example.test,Wrong,staff
lost@example.test,Lost,nowhere
short@example.test
`;
  const refused = `people.csv:5: hopper@example.test: Group almost-full is full
people.csv:6: GRACE@example.test: the same address as line 3
people.csv:7: a%b@example.test: Account "" is invalid: spec.email: Invalid value: must be an email address without %, !, |, \` and =? that does not begin with - or /
people.csv:8: lost@example.test: no such Group: nowhere
people.csv:9: another number of fields than the heading
`;

  test('with --dry-run says the same as without, and stores nothing', async () => {
    const before = await addresses();
    const { code, out, error } = await run(people, '--dry-run');
    expect(error.replaceAll(/Account\.\S+ "" is/g, 'Account "" is')).toBe(refused);
    expect(out).toBe('2 created, 0 unchanged, 5 refused, 2 added to groups (server dry run)\n');
    expect(code).toBe(1);
    expect(await addresses()).toEqual(before);
    expect(await membersOf('staff')).toEqual(['Ada@example.test']);
  });

  test('creates accounts and members, names what it refuses, and changes nothing again', async () => {
    const first = await run(people);
    expect(first.error.split('\n')).toHaveLength(6);
    expect(first.out).toBe('2 created, 0 unchanged, 5 refused, 2 added to groups\n');
    expect(first.code).toBe(1);
    expect(await addresses()).toEqual([
      'Grace@example.test',
      'ada@example.test',
      'op@example.test',
    ]);
    expect(await membersOf('staff')).toEqual(['Ada@example.test', 'grace@example.test']);
    expect(await membersOf('almost-full')).toHaveLength(1000);
    const revision = (await service.store.reader(Group).get('staff'))!.metadata.resourceVersion;
    const second = await run(people);
    expect(second.out).toBe('0 created, 2 unchanged, 5 refused, 0 added to groups\n');
    const { metadata } = (await service.store.reader(Group).get('staff'))!;
    expect(metadata.resourceVersion).toBe(revision);
    const good = await run('email\nada@example.test\n');
    expect(good).toEqual({
      code: 0,
      out: '0 created, 1 unchanged, 0 refused, 0 added to groups\n',
      error: '',
    });
  });

  test('takes many people at once, each once', async () => {
    const many = Array.from({ length: 300 }, (_, i) => `many-${i}@example.test,Many ${i},staff`);
    const { code, out } = await run(['email,displayName,groups', ...many].join('\n'));
    expect({ code, out }).toEqual({
      code: 0,
      out: '300 created, 0 unchanged, 0 refused, 300 added to groups\n',
    });
    expect((await addresses()).filter((address) => address.startsWith('many-'))).toHaveLength(300);
  });

  test.each([
    ['semicolons', 'E-Mail;Name;Gruppen\ns@example.test;Ann;"staff;staff"\n', 'utf8'],
    ['tabs in UTF-16', '\uFEFFMail\tFull name\nt@example.test\tZoë\n', 'utf16le'],
    ['commas as Windows writes', 'Email address,Nom\nw@example.test,Zoë\n', 'latin1'],
  ] as const)('reads a file of other programs: %s', async (_name, text, encoding) => {
    const { out } = await run(Buffer.from(text, encoding), '--dry-run');
    expect(out).toMatch(/^1 created, 0 unchanged, 0 refused/);
  });

  test('refuses a file that is no such list, before it creates anything', async () => {
    const before = await addresses();
    expect(await run('email,phone\nx@example.test,1\n')).toMatchObject({
      code: 2,
      error: expect.stringContaining('unknown column "phone"'),
    });
    expect(await run('displayName\nX\n')).toMatchObject({
      code: 2,
      error: expect.stringContaining('no column email'),
    });
    expect(await run('email\nnew@example.test\n"x@example.test\n')).toMatchObject({
      code: 1,
      error: expect.stringContaining('people.csv: Quote Not Closed'),
    });
    expect(await addresses()).toEqual(before);
  });
});
