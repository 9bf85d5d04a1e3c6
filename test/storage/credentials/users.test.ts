import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openStorage } from '../../../cmd/vestibule/serve/open-storage.js';
import { createLog } from '../../../observability/log.js';
import { DisposableStack } from '../../../security/disposable-stack.js';
import { type EtcdStorage, openEtcd } from '../../../storage/etcd/etcd.js';
import { scaled, until } from '../../support/patience.js';
import { put, text, Watched } from '../drive.js';
import {
  type AuthRequest,
  changeUsers,
  type EtcdServer,
  requireUsers,
  startEtcd,
} from '../etcd-server.js';

const folder = mkdtempSync(join(tmpdir(), 'vestibule-users-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const user = { name: 'vestibule', password: 'a password: of @ll signs/?#' };
const base64 = (value: string): string => Buffer.from(value).toString('base64');

/** A user who may read and write below the prefix, and nothing else. */
const limitedUser: readonly AuthRequest[] = [
  ['user/add', user],
  ['role/add', { name: 'below' }],
  [
    'role/grant',
    {
      name: 'below',
      perm: { permType: 'READWRITE', key: base64('/test'), range_end: base64('/tesu') },
    },
  ],
  ['user/grant', { user: user.name, role: 'below' }],
];

describe('a store of a user of etcd', () => {
  let server: EtcdServer;
  let storage: EtcdStorage;
  beforeAll(async () => {
    server = await startEtcd();
    await requireUsers(server.endpoint, limitedUser);
    storage = await openEtcd({ servers: [server.endpoint], prefix: '/test/', user });
  });
  afterAll(async () => {
    await storage?.close();
    await server?.stop();
  });

  const opening = (given: typeof user | undefined, prefix = '/test/'): Promise<unknown> =>
    openEtcd({
      servers: [server.endpoint],
      prefix,
      openTimeoutMs: scaled(1_000),
      ...(given && { user: given }),
    });

  test.each([
    ['without a user', undefined, '/test/', /\(user name is empty\): check --etcd-username/],
    [
      'with a wrong password',
      { ...user, password: 'wrong' },
      '/test/',
      /\(authentication failed\)/,
    ],
    ['with an unknown user', { ...user, name: 'absent' }, '/test/', /\(authentication failed\)/],
    ['beyond the rights of the user', user, '/other/', /\(permission denied\)/],
  ])('says at a start %s what to check', async (_, given, prefix, said) => {
    await expect(opening(given, prefix)).rejects.toMatchObject({
      name: 'UnavailableError',
      message: expect.stringMatching(said),
    });
    await expect(opening(given, prefix)).rejects.not.toMatchObject({
      message: expect.stringContaining(given?.password ?? 'wrong'),
    });
  });

  test.each<[string, readonly AuthRequest[]]>([
    ['another role is made', [['role/add', { name: 'other' }]]],
    ['its password is set again', [['user/changepw', user]]],
  ])('goes on when %s', async (_, requests) => {
    const watched = new Watched(storage, '', await put(storage, { a: '1' }));
    await changeUsers(server.endpoint, requests);
    await watched.reached(await put(storage, { a: '2' }));
    expect(await text(storage, 'a')).toBe('2');
    await watched.stop();
  });

  test('cannot compact without the role root, and says so', async () => {
    await put(storage, { a: '1' });
    await expect(storage.compact(await put(storage, { a: '2' }))).rejects.toMatchObject({
      name: 'UnavailableError',
      message: expect.stringMatching(/permission denied.*what the user may do/),
    });
  });

  test('takes another password without a gap of a watch', async () => {
    const next = { ...user, password: 'another' };
    const watched = new Watched(storage, '', await put(storage, { a: '3' }));
    await changeUsers(server.endpoint, [['user/changepw', next]]);
    await expect(storage.get('a')).rejects.toMatchObject({
      message: expect.stringContaining('check --etcd-username, --etcd-password'),
    });
    storage.renew({ user: next });
    await watched.reached(await put(storage, { a: '4' }));
    expect(watched.changes.map(({ entry }) => entry!.value.toString())).toEqual(['4']);
    await watched.stop();
  });

  test('is renewed by the service when the file of the password changes', async () => {
    const passwordFile = join(folder, 'password');
    const write = (password: string): void =>
      writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
    write('another');
    const disposables = new DisposableStack();
    const store = { servers: [server.endpoint], prefix: '/test/' };
    const served = await openStorage(
      { store: { type: 'etcd', ...store, username: user.name, password: 'another', passwordFile } },
      createLog('silent'),
      disposables,
    );
    await changeUsers(server.endpoint, [['user/changepw', { ...user, password: 'a third' }]]);
    await expect(served.get('a')).rejects.toThrow('authentication failed');
    write('a third');
    await until(() =>
      served.get('a').then(
        () => true,
        () => false,
      ),
    );
    await disposables.release();
    await served.close();
  });
});
