import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { subcommands } from '../../cmd/vestibule/terminal/commands.js';
import { Keys, newKeys } from '../../security/keyring.js';
import { openEmbedded } from '../../storage/embedded/embedded.js';
import { openEtcd } from '../../storage/etcd/etcd.js';
import { lastSnapshotTime } from '../../storage/snapshot/last-snapshot.js';
import { verifySnapshot } from '../../storage/snapshot/reader.js';
import type { Storage } from '../../storage/storage.js';
import { put, text } from '../storage/drive.js';
import { type EtcdServer, freePorts, startEtcd } from '../storage/etcd-server.js';
import { contentOf, using } from '../storage/snapshots.js';
import { type Ran, vestibule } from '../support/command.js';
import { expectFor } from '../support/expect-for.js';
import { Stream } from '../support/network/stream.js';
import {
  passkeyLogin,
  register,
  signedInByPasskey,
  signInByPasskey,
  withPasskey,
} from '../support/people/passkeys.js';
import { authorizationPath, begin, mailTo, redeem, signIn } from '../support/people/signin.js';
import {
  createClient,
  startTest,
  stopAll,
  type TestService,
  temporary,
} from '../support/service.js';

/** Each command is a process of its own, on a machine that may be busy. */
jest.setTimeout(180_000);

let etcd: EtcdServer;
let sites = 0;

beforeAll(async () => {
  etcd = await startEtcd();
});
afterAll(async () => {
  await stopAll();
  await etcd.stop();
});

const kinds = ['embedded', 'etcd'] as const;
type Kind = (typeof kinds)[number];

/** Where a store is: as flags for the command, and as tests open it. */
interface Site {
  readonly kind: Kind;
  readonly flags: string[];
  readonly directory: string;
  open(): Promise<Storage>;
}

function site(kind: Kind): Site {
  const directory = temporary();
  sites += 1;
  if (kind === 'embedded') {
    return {
      kind,
      directory,
      flags: ['--data-dir', directory],
      open: () => openEmbedded({ directory: join(directory, 'store') }),
    };
  }
  const place = { servers: [etcd.endpoint], prefix: `/command${sites}/` };
  return {
    kind,
    directory,
    flags: ['--etcd-servers', etcd.endpoint, '--etcd-prefix', place.prefix],
    open: () => openEtcd(place),
  };
}

const run = (...args: string[]): Promise<Ran> => vestibule(args, {});
const other = (kind: Kind): Kind => (kind === 'embedded' ? 'etcd' : 'embedded');
const failed = (line: string, code = 1) => ({ code, out: '', error: `vestibule: ${line}\n` });

describe.each(kinds)('a save of %s', (kind) => {
  test('records its time, and no snapshot contains it', async () => {
    const { flags, directory, open } = site(kind);
    await using(open(), (storage) => put(storage, { 'objects/groups/one': '{}' }));
    const file = join(temporary(), 'one.snapshot');
    expect((await run('snapshot', 'save', file, ...flags)).error).not.toContain('recorded');
    const record = async (storage: Storage): Promise<number | undefined> =>
      lastSnapshotTime(kind === 'embedded' ? { directory } : { storage });
    const saved = await using(open(), record);
    const { header } = await verifySnapshot(file);
    expect(saved).toBe(Date.parse(header.time));
    expect((await run('snapshot', 'save', `${file}.2`, ...flags)).out).not.toContain('meta');
    expect(await using(open(), record)).toBeGreaterThan(saved!);
  });
});

describe.each(kinds)(
  'a service on %s, saved while it runs and moved to the other store',
  (kind) => {
    test('has everybody and everything again, but nothing that was issued before', async () => {
      const [from, to, keys] = [site(kind), site(other(kind)), new Keys(newKeys())];
      const [port] = await freePorts(1);
      const start = async ({ directory, open }: Site): Promise<TestService> =>
        startTest({
          keys,
          directory,
          storage: await open(),
          flags: [
            '--limit-factor',
            '1000',
            '--operators',
            'op@example.test',
            '--port',
            String(port),
            '--base-url',
            `http://localhost:${port}`,
          ],
        });
      const before = await start(from);
      await createClient(before, 'app');
      const operator = (await signIn(before, 'op@example.test')).tab;
      await operator
        .post('groups', { metadata: { name: 'before' }, spec: { displayName: 'Before' } })
        .is(201);
      const done = await signIn(before, 'ada@example.test', {
        scope: 'openid email offline_access',
        parameters: { prompt: 'consent' },
      });
      const account = (await done.tab.get('accounts/~').is(200)).body.metadata.name;
      const used = await redeem(before, done);
      const verifier = 'v'.repeat(43);
      const unused: URL[] = [];
      for (let i = 0; i < 2; i++) {
        unused.push(
          new URL(
            (await done.tab.navigate(authorizationPath('app', 'openid email', verifier)).is(303))
              .headers.location!,
          ),
        );
      }
      const open = await begin(before);
      await before.tab().delete('mockmessages').is(200);
      await open.tab
        .post(`${open.I}/emailchallenge`, { spec: { email: 'ada@example.test' } })
        .is(200);
      const mail = await mailTo(before, 'ada@example.test');
      const file = join(temporary(), 'a.snapshot');

      const saved = await run('snapshot', 'save', file, ...from.flags);
      expect(saved).toMatchObject({
        code: 0,
        out: expect.stringMatching(
          new RegExp(
            `^saved ${file}: \\d+ keys, \\d+ bytes of an? (embedded store|store in etcd), as of revision \\d+, epoch 0\nRANGE +KEYS +BYTES\n`,
          ),
        ),
      });
      expect(saved.out).toMatch(/^objects\/groups +1 +\d+$/m);
      expect(statSync(file).mode & 0o777).toBe(0o600);
      const lateUse = await redeem(before, { callback: unused[0]!, verifier, client: 'app' });
      expect([lateUse.code, used.code]).toEqual([200, 200]);
      const version = (
        await operator
          .post('groups', { metadata: { name: 'after' }, spec: { displayName: 'After' } })
          .is(201)
      ).body.metadata.resourceVersion as string;
      await before.stop();

      const restored = await run('snapshot', 'restore', file, ...to.flags);
      expect(restored).toMatchObject({
        code: 0,
        out: expect.stringMatching(
          /^restored .*\nrevisions continue above \d+; the epoch is 1: sessions, codes, links and tokens issued before are refused\nrestored as of \S+, without later removals and changes: .*\d+ policies; compare with the audit log since then; to leave out passkeys and operators added since a date, restore into another store with --revoke-since DATE\nRANGE /,
        ),
      });
      expect(restored.error).toMatch(
        to.kind === 'embedded'
          ? /^vestibule: \S+keys\.json does not exist/
          : /^(vestibule: etcd \S+ is not supported.*\n)?$/,
      );
      const after = await start(to);
      const [person, waiting] = [after.tab(), after.tab()];
      [person.cookies, waiting.cookies] = [done.tab.cookies, open.tab.cookies];
      await person.get('accounts/~').fails(401, 'Unauthorized');
      await waiting.get(open.I).fails(404, 'NotFound');
      for (const spec of [
        { method: 'EmailCode', code: mail.code },
        { method: 'EmailLink', token: mail.token },
      ]) {
        await waiting.post(`${open.I}/login`, { spec }).fails(404, 'NotFound');
      }
      for (const callback of [...unused, done.callback]) {
        expect(
          (
            await redeem(after, {
              callback,
              verifier: callback === done.callback ? done.verifier : verifier,
              client: 'app',
            })
          ).body.error,
        ).toBe('invalid_grant');
      }
      const refresh = new URLSearchParams({
        grant_type: 'refresh_token',
        refresh_token: used.body.refresh_token,
        client_id: 'app',
      }).toString();
      expect(
        (
          await after.tab().send('POST', '/oauth2/token', {
            plain: true,
            body: refresh,
            headers: { 'content-type': 'application/x-www-form-urlencoded' },
          })
        ).body.error,
      ).toBe('invalid_grant');
      for (const { body } of [used, lateUse]) {
        expect(
          (
            await after.tab().get('/oauth2/userinfo', {
              plain: true,
              headers: { authorization: `Bearer ${body.access_token}` },
            })
          ).code,
        ).toBe(401);
      }

      await after.tab().delete('mockmessages').is(200);
      const again = await signIn(after, 'ada@example.test');
      expect((await again.tab.get('accounts/~').is(200)).body.metadata.name).toBe(account);
      expect((await redeem(after, again)).code).toBe(200);
      const chief = (await signIn(after, 'op@example.test')).tab;
      const { body: groups } = await chief.get('groups').is(200);
      expect(groups.items.map((item: any) => item.metadata.name)).toEqual(['before']);
      expect(Number(groups.metadata.resourceVersion)).toBeGreaterThan(Number(version) + 1e9);
      expect(Number(groups.items[0].metadata.resourceVersion)).toBeGreaterThan(
        Number(version) + 1e9,
      );
      const stream = await new Stream(chief, `groups?watch=true&resourceVersion=${version}`).until(
        ({ ended }) => ended,
      );
      expect(
        stream.code === 410 ||
          stream.events.some(({ type, object }) => type === 'ERROR' && object.code === 410),
      ).toBe(true);
      await after.stop();
    });
  },
);

describe.each(kinds)('a restore on %s without what was added since a date', (kind) => {
  const keys = new Keys(newKeys());
  const start = async ({ directory, open }: Site, port: number): Promise<TestService> =>
    startTest({
      keys,
      directory,
      storage: await open(),
      flags: [
        '--limit-factor',
        '1000',
        '--operators',
        'op@example.test',
        '--port',
        String(port),
        '--base-url',
        `http://localhost:${port}`,
      ],
    });
  const isOperator = async (service: TestService, address: string): Promise<boolean> =>
    (await (await signIn(service, address)).tab.get('groups')).code === 200;

  test('has older passkeys, but none registered since', async () => {
    const [from, to] = [site(other(kind)), site(kind)];
    const [port] = (await freePorts(1)) as [number];
    const before = await start(from, port);
    await createClient(before, 'app');
    const operator = (await signIn(before, 'op@example.test')).tab;
    await operator
      .post('groups', {
        metadata: { name: 'staff' },
        spec: { displayName: 'Staff', members: ['mal@example.test'] },
      })
      .is(201);
    const ada = await signedInByPasskey(before, 'ada@example.test');
    await new Promise((resolve) => {
      setTimeout(resolve, 1100);
    });
    const since = new Date().toISOString();
    const { authenticator: late, answer } = await register(before, ada.tab);
    await answer.is(201);
    const mal = await withPasskey(before, 'mal@example.test');
    await operator
      .post('groups', {
        metadata: { name: 'operators' },
        spec: { displayName: 'Operators', members: ['mal@example.test', 'op@example.test'] },
      })
      .is(201);
    await before.tab().delete('mockmessages').is(200);
    expect(await isOperator(before, 'mal@example.test')).toBe(true);
    const file = join(temporary(), 'a.snapshot');
    expect((await run('snapshot', 'save', file, ...from.flags)).code).toBe(0);
    await before.stop();

    const restored = await run('snapshot', 'restore', file, '--revoke-since', since, ...to.flags);
    expect(restored.code).toBe(0);
    expect(restored.out).toContain(
      `left out: 2 passkeys registered since ${since}, of 2 accounts, 1 of which have none left and sign in by mail\nleft out: Group operators, whose members may have been added since; until it lists members again, operators are those of the setting --operators\nRANGE`,
    );
    expect(restored.out).toMatch(/^objects\/passkeys +1 /m);
    expect(restored.out).not.toContain('--revoke-since DATE');
    const after = await start(to, port);
    for (const gone of [late, mal.authenticator]) {
      await (await passkeyLogin(after, gone)).answer.fails(422, 'Invalid');
    }
    const { tab } = await signInByPasskey(after, ada.authenticator);
    expect((await tab.get('accounts/~').is(200)).body.status.passkeys).toBe(1);
    expect((await tab.get('passkeys').is(200)).body.items).toHaveLength(1);
    await (await register(after, tab, late)).answer.is(201);
    expect(await isOperator(after, 'mal@example.test')).toBe(false);
    expect(await isOperator(after, 'op@example.test')).toBe(true);
    const chief = (await signIn(after, 'op@example.test')).tab;
    expect(
      (await chief.get('groups').is(200)).body.items.map(({ metadata }: any) => metadata.name),
    ).toEqual(['staff']);
    await after.stop();
  });

  test('keeps Group operators where it was made before and never changed', async () => {
    const [from, to] = [site(other(kind)), site(kind)];
    const [port] = (await freePorts(1)) as [number];
    const before = await start(from, port);
    await createClient(before, 'app');
    const operator = (await signIn(before, 'op@example.test')).tab;
    await operator
      .post('groups', {
        metadata: { name: 'operators' },
        spec: { displayName: 'Operators', members: ['op@example.test', 'mal@example.test'] },
      })
      .is(201);
    await new Promise((resolve) => {
      setTimeout(resolve, 1100);
    });
    const since = new Date().toISOString();
    const [unchanged, changed] = [join(temporary(), 'a'), join(temporary(), 'b')];
    expect((await run('snapshot', 'save', unchanged, ...from.flags)).code).toBe(0);
    await operator
      .patch('groups/operators', { spec: { members: ['op@example.test', 'eve@example.test'] } })
      .is(200);
    expect((await run('snapshot', 'save', changed, ...from.flags)).code).toBe(0);
    await before.stop();
    const kept = await run('snapshot', 'restore', unchanged, '--revoke-since', since, ...to.flags);
    expect(kept).toMatchObject({ code: 0, out: expect.stringContaining('left out: 0 passkeys') });
    expect(kept.out).toContain('Group operators was not changed since, and stays\n');
    expect(kept.out).toMatch(/^objects\/groups +1 /m);
    const left = await run(
      'snapshot',
      'restore',
      changed,
      '--revoke-since',
      since,
      ...site(kind).flags,
    );
    expect(left).toMatchObject({
      code: 0,
      out: expect.stringContaining('left out: Group operators'),
    });
    expect(left.out).not.toMatch(/^objects\/groups /m);
  });
});

/** A store with something in it. */
async function filled(kind: Kind): Promise<Site> {
  const place = site(kind);
  await using(place.open(), (storage) => put(storage, { 'objects/a/b': '1', 'meta/epoch': '2' }));
  return place;
}

describe.each(kinds)('with a store on %s', (kind) => {
  test('what help shows works, with variables in place of flags too', async () => {
    const [from, file] = [await filled(kind), join(temporary(), 'vestibule.snapshot')];
    const shown = Object.values(subcommands).flatMap(({ usage, examples = [] }) =>
      /^(snapshot|epoch) /.test(usage) ? examples : [],
    );
    expect(shown.length).toBe(5);
    for (const example of shown) {
      const place = / save | epoch /.test(` ${example}`)
        ? from
        : site(example.includes('--etcd-servers') ? 'etcd' : 'embedded');
      const args = example
        .replace(/ --(data-dir|etcd-servers).*/, '')
        .replace('vestibule.snapshot', file)
        .split(' ');
      expectFor(
        example,
        (await run(...args, ...place.flags, ...(args[0] === 'epoch' ? ['--yes'] : []))).code,
      ).toEqual(0);
    }
    const variables = Object.fromEntries(
      from.flags.flatMap((flag, i) =>
        i % 2 === 0
          ? [[`VESTIBULE_${flag.slice(2).toUpperCase().replaceAll('-', '_')}`, from.flags[i + 1]!]]
          : [],
      ),
    );
    expect(await vestibule(['epoch', 'raise', '--yes'], variables)).toMatchObject({
      code: 0,
      out: 'the epoch is now 4: everything issued before is refused\n',
    });
  });

  test('a restore refuses what is not empty, and what has a process', async () => {
    const [from, to, file] = [await filled(kind), await filled(kind), join(temporary(), 'a')];
    expect((await run('snapshot', 'save', file, ...from.flags)).code).toBe(0);
    const refused = await run('snapshot', 'restore', file, ...to.flags);
    expect(refused).toMatchObject({
      code: 1,
      out: '',
      error: expect.stringMatching(
        kind === 'embedded'
          ? /^vestibule: \S+store has a store already: .*\n$/
          : /vestibule: this prefix of etcd is not empty: .*\n$/,
      ),
    });
    if (kind === 'embedded') {
      await using(to.open(), async () => {
        for (const args of [
          ['snapshot', 'restore', file],
          ['epoch', 'raise', '--yes'],
        ]) {
          expect(await run(...args, ...to.flags)).toEqual(
            failed(
              `${to.directory}/store is in use by process ${process.pid}: one process at a time may open an embedded store`,
            ),
          );
        }
      });
    }
    expect(await using(to.open(), (storage) => text(storage, 'meta/epoch'))).toBe('2');
  });

  test('the epoch is raised where no replica runs', async () => {
    const place = await filled(kind);
    expect(await run('epoch', 'raise', ...place.flags)).toEqual(
      failed('no terminal to confirm on: add --yes', 2),
    );
    const clock = (expires: number) =>
      using(place.open(), (storage) =>
        storage.commit([], [{ put: 'meta/replicas/one', value: Buffer.from('{}'), expires }]),
      );
    await clock(Date.now() + 30_000);
    expect(await run('epoch', 'raise', '--yes', ...place.flags)).toMatchObject({
      code: 1,
      out: '',
      error: expect.stringMatching(
        /vestibule: a replica serves this store, or did 30 seconds ago: stop all of them first/,
      ),
    });
    expect(await using(place.open(), (storage) => text(storage, 'meta/epoch'))).toBe('2');
    await clock(Date.now() - 1000);
    expect(await run('epoch', 'raise', '--yes', ...place.flags)).toMatchObject({
      code: 0,
      out: 'the epoch is now 3: everything issued before is refused\n',
    });
    expect(await using(place.open(), (storage) => text(storage, 'meta/epoch'))).toBe('3');
    expect(await using(place.open(), contentOf)).toEqual([['objects/a/b', '1', undefined]]);
  });
});

test('what is wrong is said in one line, wrong usage ends with 2', async () => {
  const [folder, place] = [temporary(), await filled('embedded')];
  const file = join(folder, 'a');
  expect((await run('snapshot', 'save', file, ...place.flags)).code).toBe(0);
  const usage = 'usage: vestibule snapshot save|restore FILE [flags]';
  for (const args of [[], ['save'], ['status', 'x'], ['save', 'a', 'b']]) {
    expect(await run('snapshot', ...args, ...place.flags)).toEqual(failed(usage, 2));
  }
  expect(await run('epoch', 'lower', ...place.flags)).toEqual(
    failed('usage: vestibule epoch raise [flags]', 2),
  );
  expect(await run('snapshot', 'save', 'x')).toEqual(
    failed('no store given: set --data-dir or --etcd-servers', 2),
  );
  expect(
    await run('snapshot', 'save', 'x', '--data-dir', 'a', '--etcd-servers', 'http://localhost:1'),
  ).toEqual(failed('--data-dir and --etcd-servers are both set; set only one store', 2));
  expect(
    await run('snapshot', 'save', 'x', '--etcd-servers', 'http://etcd.example.test:2379'),
  ).toEqual(
    failed('--etcd-servers: http://etcd.example.test:2379 must be https, or http on loopback', 2),
  );
  for (const [date, shown] of [
    ['yesterday', '"yesterday"'],
    ['2025-02-30', '"2025-02-30"'],
    ['2025-1-1', '"2025-1-1"'],
    ['2025-01-01T10:00', '"2025-01-01T10:00"'],
    ['2025-01-01T25:00:00Z', '"2025-01-01T25:00:00Z"'],
    ['', '""'],
    ['1e3', '"1e3"'],
  ] as const) {
    expect(
      await run(
        'snapshot',
        'restore',
        file,
        '--data-dir',
        join(folder, 'target'),
        '--revoke-since',
        date,
      ),
    ).toEqual(
      failed(
        `--revoke-since must be a date such as 2025-11-01, or a time such as 2025-11-01T09:30:00Z (got ${shown})`,
        2,
      ),
    );
  }
  expect(
    await run(
      'snapshot',
      'restore',
      file,
      '--data-dir',
      join(folder, 'target'),
      '--revoke-since',
      '2999-01-01',
    ),
  ).toMatchObject({
    code: 2,
    out: '',
    error: expect.stringMatching(
      /^vestibule: --revoke-since 2999-01-01 is after \S+ was saved \(\S+Z\): nothing in it was added since then; give an earlier date, or leave the flag out\n$/,
    ),
  });
  expect(
    await run(
      'snapshot',
      'save',
      join(folder, 'b'),
      '--revoke-since',
      '2025-01-01',
      ...place.flags,
    ),
  ).toEqual(failed('--revoke-since is a flag of snapshot restore only', 2));
  expect(await run('snapshot', 'save', 'x', '--bogus')).toMatchObject({
    code: 2,
    error: expect.stringContaining('unknown flag: --bogus'),
  });
  for (const word of ['snapshot', 'epoch']) {
    for (const args of [
      [word, '--help'],
      ['help', word],
      [word, 'x', '--help'],
    ]) {
      expect(await run(...args)).toMatchObject({
        code: 0,
        error: '',
        out: expect.stringContaining('--etcd-servers URLS'),
      });
    }
  }
  expect(await run('snapshot', 'save', file, ...place.flags)).toEqual(
    failed(`${file} exists already: a snapshot overwrites nothing`),
  );
  expect(
    await run('snapshot', 'save', join(folder, 'b'), '--data-dir', join(folder, 'none')),
  ).toEqual(failed(`there is no store in ${join(folder, 'none/store')}`));
  expect(await run('epoch', 'raise', '--yes', '--data-dir', join(folder, 'none'))).toEqual(
    failed(`there is no store in ${join(folder, 'none/store')}`),
  );
  expect(
    await run(
      'snapshot',
      'save',
      join(folder, 'b'),
      '--etcd-servers',
      etcd.endpoint,
      '--etcd-prefix',
      '/nothing/',
    ),
  ).toMatchObject({
    code: 1,
    error: expect.stringContaining('vestibule: there is no store below /nothing/ in etcd\n'),
  });
  expect(await run('snapshot', 'restore', join(folder, 'none'), ...place.flags)).toEqual(
    failed(`there is no file ${join(folder, 'none')}`),
  );
  const whole = readFileSync(file);
  const bad = join(folder, 'bad');
  for (const [content, why] of [
    [whole.subarray(0, -1), 'is cut short: its end is missing'],
    [Buffer.from('x'), 'is not a snapshot of vestibule'],
    [
      Buffer.from(whole.map((byte, i) => (i === whole.length - 52 ? byte ^ 1 : byte))),
      'is damaged: its checksum is wrong',
    ],
  ] as const) {
    writeFileSync(bad, content);
    expect(await run('snapshot', 'restore', bad, '--data-dir', join(folder, 'target'))).toEqual(
      failed(`${bad} ${why}`),
    );
  }
  expect(existsSync(join(folder, 'target'))).toBe(false);
  expect(readdirSync(folder).sort()).toEqual(['a', 'bad']);
  expect(
    await run('snapshot', 'save', join(folder, 'b'), '--etcd-servers', 'http://127.0.0.1:1'),
  ).toMatchObject({
    code: 1,
    error: expect.stringMatching(
      /^(vestibule: etcd at http:\/\/127\.0\.0\.1:1 does not answer; trying for another \d s\n)+vestibule: etcd did not answer\n$/,
    ),
  });
});

const mounts = ((): boolean => {
  try {
    const probe = execFileSync('mktemp', ['-d']).toString().trim();
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', probe], { stdio: 'ignore' });
    execFileSync('umount', [probe]);
    return true;
  } catch {
    return false;
  }
})();

(mounts ? test : test.skip)(
  `a full disk ends a save and a restore, and nothing is left there${mounts ? '' : ' (skipped: mounting a tmpfs is not permitted)'}`,
  async () => {
    const [disk, place] = [join(temporary(), 'disk'), site('embedded')];
    await using(place.open(), async (storage) => {
      for (let i = 0; i < 12; i++) {
        await storage.commit([], [{ put: `objects/a/${i}`, value: Buffer.alloc(900_000, i) }]);
      }
    });
    const file = join(place.directory, 'a');
    expect((await run('snapshot', 'save', file, ...place.flags)).code).toBe(0);
    mkdirSync(disk);
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', disk]);
    try {
      expect(await run('snapshot', 'save', join(disk, 'a'), ...place.flags)).toEqual(
        failed(`no space is left for ${join(disk, 'a')}: nothing was kept`),
      );
      expect(await run('snapshot', 'restore', file, '--data-dir', disk)).toEqual(
        failed(`no space is left for ${join(disk, 'store.restoring')}: nothing was restored`),
      );
      expect(readdirSync(disk)).toEqual([]);
    } finally {
      execFileSync('umount', ['-l', disk]);
    }
  },
);
