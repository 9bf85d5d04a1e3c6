import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { createApp } from '../../../apiserver/http/express-app.js';
import { ApiRequest, ApiResponse } from '../../../apiserver/http/message.js';
import type { AuthorizationAttributes } from '../../../registry/authorizer.js';
import { openEmbedded } from '../../../storage/embedded/embedded.js';
import { prefixRange, type Storage } from '../../../storage/storage.js';
import { settles } from '../../support/patience.js';
import type { Tab } from '../../support/people/tab.js';
import type { TestService } from '../../support/service.js';

const asked: string[] = [];
const real = await import('../../../policy/engine/engine.js');
jest.unstable_mockModule('../../../policy/engine/engine.js', () => ({
  ...real,
  openEngine: async (...parts: Parameters<typeof real.openEngine>) => {
    const engine = await real.openEngine(...parts);
    const decide = engine.decide.bind(engine);
    return Object.assign(engine, {
      decide: (question: AuthorizationAttributes) => {
        asked.push(question.action);
        return decide(question);
      },
    });
  },
}));
const { createClient, startTest, stopAll, temporary } = await import('../../support/service.js');
const { authorizationPath, begin, mailTo, proceed, redeem, signIn } = await import(
  '../../support/people/signin.js'
);

const isDrawn = (writes: Parameters<Storage['commit']>[1]): boolean =>
  writes.length === 1 &&
  'put' in writes[0]! &&
  writes[0].put.startsWith('limits/') &&
  !writes[0].put.startsWith('limits/mail');

/** What is read behind the answers: rows of the outbox and recorded decisions. */
const background = /^(outbox|(objects|index)\/policydecisions|decisioncount|oidc\/client-report)\//;

/** Decisions and what Clients send, written down in the background, by themselves. */
const isRecorded = (writes: Parameters<Storage['commit']>[1]): boolean =>
  writes.every((write) =>
    /^((objects|index)\/policydecisions|oidc\/client-report)\//.test(
      'put' in write ? write.put : write.delete,
    ),
  );

/**
 * Counts the commits that requests wait for. Those of workers name a row of the outbox; blocks of
 * the limits by network are drawn now and then.
 */
function observed(storage: Storage): Storage & { commits: number; reads: number } {
  const seen = Object.assign(
    Object.create(storage) as Storage & { commits: number; reads: number },
    {
      commits: 0,
      reads: 0,
      get: (key: string) => {
        if (!background.test(key)) seen.reads += 1;
        return storage.get(key);
      },
      list: storage.list.bind(storage),
      watch: storage.watch.bind(storage),
      compact: storage.compact.bind(storage),
      close: storage.close.bind(storage),
      commit: (...[checks, writes]: Parameters<Storage['commit']>) => {
        if (
          !checks.some(({ key }) => key.startsWith('outbox/')) &&
          !isDrawn(writes) &&
          !isRecorded(writes)
        ) {
          seen.commits += 1;
        }
        return storage.commit(checks, writes);
      },
    },
  );
  return seen;
}

describe('what an operation costs (performance budgets)', () => {
  let storage: Storage & { commits: number; reads: number };
  let service: TestService;
  beforeAll(async () => {
    storage = observed(await openEmbedded({ directory: join(temporary(), 'store') }));
    service = await startTest({
      quickDecisions: true,
      storage,
      flags: ['--limit-factor', '1000', '--operators', 'op@example.test'],
    });
    await createClient(service, 'app');
    await signIn(service, 'warm@example.test');
  });
  afterAll(stopAll);

  /** Workers read objects for the rows of the outbox, such as mails of the work before. */
  const workersRest = () =>
    settles(
      async () =>
        (await storage.list(prefixRange('outbox/'))).entries.filter(
          ({ key }) => !key.startsWith('outbox/sign-in-check/'), // It is due a minute later.
        ).length,
      (rows) => rows === 0,
    );

  /** Commits, reads and decisions of some work. */
  async function cost<T>(
    work: () => PromiseLike<T>,
  ): Promise<{ commits: number; reads: number; decisions: string[]; value: T }> {
    await workersRest();
    const before = { commits: storage.commits, reads: storage.reads };
    asked.length = 0;
    const value = await work();
    return {
      commits: storage.commits - before.commits,
      reads: storage.reads - before.reads,
      decisions: [...asked],
      value,
    };
  }

  async function whole(tab: Tab, address: string): Promise<void> {
    const done = await signIn(service, address, { tab });
    const { body } = await redeem(service, done);
    await service
      .tab()
      .get('/oauth2/userinfo', {
        plain: true,
        headers: { authorization: `Bearer ${body.access_token}` },
      })
      .is(200);
  }

  test('a sign-in makes at most 11 commits with consent asked, 8 without', async () => {
    const first = await cost(() => whole(service.tab(), 'budget@example.test'));
    const second = await cost(() => whole(service.tab(), 'budget@example.test'));
    const cleared = 1;
    expect(first.commits - cleared).toBeLessThanOrEqual(11);
    expect(second.commits - cleared).toBeLessThanOrEqual(8);
    expect(second.commits).toBeLessThan(first.commits);
  });

  test('each exchange of it: commits and decisions', async () => {
    const begun = await begin(service);
    const { tab, I } = begun;
    const challenge = await cost(() =>
      tab.post(`${I}/emailchallenge`, { spec: { email: 'steps@example.test' } }).is(200),
    );
    expect([challenge.commits, challenge.decisions]).toEqual([
      1,
      [
        'interactions/emailchallenge',
        'interactions/login',
        'interactions/login',
        'interactions/login',
        'signIn',
        'signIn',
        'signIn',
      ],
    ]); // the ways that are left, from memory
    const { code } = await mailTo(service, 'steps@example.test');
    const login = await cost(() =>
      tab.post(`${I}/login`, { spec: { method: 'EmailCode', code } }).is(200),
    );
    expect(login.commits).toBe(1);
    expect(login.decisions).toEqual([
      'interactions/login',
      'interactions/login',
      'signUp',
      'signIn',
    ]);
    const resume = await cost(() => tab.navigate(login.value.body.status.returnTo).is(303));
    expect(resume.commits).toBeLessThanOrEqual(2);
    expect(resume.reads).toBeLessThanOrEqual(10); // one behind the answer, about a browser that no session is from
    const consent = await cost(() =>
      tab
        .post(`${resume.value.headers.location!}/consent`, {
          spec: { scopes: ['openid', 'email'] },
        })
        .is(200),
    );
    expect(consent.commits).toBe(1);
    expect(consent.decisions).toEqual(['interactions/consent', 'share', 'share']);
    const back = await cost(() => tab.navigate(consent.value.body.status.returnTo).is(303));
    expect(back.commits).toBeLessThanOrEqual(2);
    const token = await cost(() =>
      redeem(service, { ...begun, callback: new URL(back.value.headers.location!) }),
    );
    expect(token.commits).toBeLessThanOrEqual(2);
    const again = await cost(() =>
      tab.navigate(authorizationPath('app', 'openid email', 'v'.repeat(43))).is(303),
    );
    expect(again.commits).toBeLessThanOrEqual(2);
  });

  test('a read makes one decision, a change two and one commit', async () => {
    const { tab } = await signIn(service, 'op@example.test');
    await tab.get('accounts/~').is(200);
    const name = (await tab.get('accounts/~').is(200)).body.metadata.name;
    // Those who may change a Client see its refusals, too.
    const get = await cost(() => tab.get('clients/app').is(200));
    expect([get.commits, get.decisions]).toEqual([0, ['get', 'patch']]);
    const own = await cost(() => tab.get(`accounts/${name}`).is(200));
    expect([own.commits, own.decisions]).toEqual([0, ['get']]);
    const patch = await cost(() =>
      tab.patch('clients/app', { spec: { displayName: 'once' } }).is(200),
    );
    // As it is, as it becomes, and for its refusals in the answer.
    expect([patch.commits, patch.decisions]).toEqual([1, ['patch', 'patch', 'patch']]);
    const nothing = await cost(() =>
      tab.patch('clients/app', { spec: { displayName: 'once' } }).is(200),
    );
    expect([nothing.commits, nothing.decisions]).toEqual([0, ['patch', 'patch', 'patch']]);
    const dry = await cost(() =>
      tab.patch('clients/app?dryRun=All', { spec: { displayName: 'never' } }).is(200),
    );
    expect([dry.commits, dry.decisions]).toEqual([0, ['patch', 'patch', 'patch']]);
    for (const path of ['/api', '/api/openapi/v3', '/livez']) {
      expect((await cost(() => tab.get(path).is(200))).commits).toBe(0);
    }
    expect((await cost(() => tab.get('/api').is(200))).decisions).toEqual(['discovery']);
    expect((await cost(() => tab.navigate('/mailbox').is(200))).decisions).toEqual(['page']);
  });

  test('what is refused before it is read costs nothing', async () => {
    const { tab, I } = await begin(service);
    const foreign = await cost(() =>
      tab
        .post(
          `${I}/emailchallenge`,
          { spec: { email: 'a@example.test' } },
          { headers: { 'sec-fetch-site': 'cross-site' } },
        )
        .fails(403, 'Forbidden'),
    );
    expect([foreign.commits, foreign.reads, foreign.decisions]).toEqual([0, 0, []]);
    const stranger = await cost(() =>
      service
        .tab()
        .post(`${I}/emailchallenge`, { spec: { email: 'a@example.test' } })
        .fails(404, 'NotFound'),
    );
    expect([stranger.commits, stranger.reads]).toEqual([0, 0]);
    const shapeless = await cost(() =>
      tab.post(`${I}/emailchallenge`, { spec: { email: 'no address' } }).fails(422, 'Invalid'),
    );
    expect(shapeless.commits).toBe(0);
  });

  test('a way back that is followed leads on without asking again', async () => {
    const { tab, I } = await begin(service);
    await tab.post(`${I}/emailchallenge`, { spec: { email: 'warm@example.test' } }).is(200);
    const { code } = await mailTo(service, 'warm@example.test');
    const { body } = await tab.post(`${I}/login`, { spec: { method: 'EmailCode', code } }).is(200);
    expect((await cost(() => tab.get(I).is(200))).commits).toBe(0);
    expect((await proceed(tab, body.status.returnTo)).searchParams.get('code')).toBeTruthy();
  });
});

test('Express gets requests whose prototypes it does not have to change', async () => {
  const app = createApp();
  const seen: boolean[] = [];
  app.get('/', ((req: ApiRequest, res: ApiResponse) => {
    seen.push(
      Object.getPrototypeOf(req) === app.request,
      Object.getPrototypeOf(res) === app.response,
    );
    res.writeHead(204).end();
  }) as never);
  const server = createServer(
    { IncomingMessage: ApiRequest, ServerResponse: ApiResponse },
    (req, res) => {
      seen.push(
        Object.getPrototypeOf(req) === app.request,
        Object.getPrototypeOf(res) === app.response,
      );
      app(req as never, res as never);
    },
  );
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  server.closeAllConnections();
  await new Promise((done) => {
    server.close(done);
  });
  expect(seen).toEqual([true, true, true, true]);
});

test('a start loads no module of what it does not use', () => {
  const script = `
    import Module from 'node:module';
    const { startService } = await import('./cmd/vestibule/serve/service.ts');
    const { readConfig } = await import('./cmd/vestibule/options/config.ts');
    const { createLog } = await import('./observability/log.ts');
    const service = await startService(readConfig(['--data-dir', process.argv[1], '--mock-mail', '--port', '0'], {}), createLog('silent'), process.cwd());
    const loaded = Object.keys(Module._cache).map((path) => path.split('node_modules/').at(-1));
    process.stdout.write('loaded ' + JSON.stringify(loaded.filter((path) => /^(etcd3|@grpc|cockatiel|protobufjs|nodemailer)/.test(path))) + '\\n');
    process.stdout.write('express ' + loaded.some((path) => path.startsWith('express/')) + '\\n');
    await service.stop();
    process.exit(0);`;
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [
      '--import',
      './test/provider/support/typescript.mjs',
      '--input-type=module',
      '-e',
      script,
      join(temporary(), 'data'),
    ],
    { cwd: process.cwd(), encoding: 'utf8', timeout: 60_000, env: { PATH: process.env.PATH! } },
  );
  expect(`${stdout}${stdout.includes('loaded') ? '' : stderr}`).toContain(
    'loaded []\nexpress true\n',
  );
});
