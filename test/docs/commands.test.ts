import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, jest, test } from '@jest/globals';
import { Client } from '../../kinds/apps/client/client.js';
import { newKeys } from '../../security/keyring.js';
import { png } from '../kinds/appearance/images.js';
import { freePorts, startEtcd } from '../storage/etcd-server.js';
import { vestibule } from '../support/command.js';
import { asInPackage, npmCache, packLibrary } from '../support/library.js';
import { settles } from '../support/patience.js';
import { confirm } from '../support/people/device.js';
import { mailTo, signIn } from '../support/people/signin.js';
import { Tab } from '../support/people/tab.js';
import { createClient, startTest, stopAll } from '../support/service.js';
import { pages, read } from './pages.js';
import { folderOf, hasCommands, PageRun, stopRuns } from './run.js';
import { cancelAt, signInAt } from './through.js';

/** Each command is a process of its own, on a machine that may be busy. */
jest.setTimeout(180_000);
afterAll(async () => {
  await stopRuns();
  await stopAll();
});

/** The words of a page with the ports of a test in them. */
const at =
  (port: string, other = '3000') =>
  (text: string): string =>
    text
      .replaceAll('localhost:8080', `localhost:${port}`)
      .replaceAll('localhost:3000', `localhost:${other}`);

test('the pages with commands are those below', () => {
  expect(pages().filter(hasCommands)).toEqual([
    'docs/how-to/appearance.md',
    'docs/how-to/applications/README.md',
    'docs/how-to/backup.md',
    'docs/how-to/command.md',
    'docs/how-to/configuration.md',
    'docs/how-to/kubectl.md',
    'docs/how-to/policies.md',
    'docs/how-to/secrets.md',
    'docs/tutorials/api-server-of-your-own.md',
    'docs/tutorials/first-sign-in.md',
    'docs/tutorials/your-own-application.md',
  ]);
});

const addressOf = (text: string): string | undefined => /Open (\S+)\n/.exec(text)?.[1];

/** Confirms the sign-in that a page's command waits for. */
async function confirmIn(run: PageRun, tab: Tab): Promise<void> {
  const said = await settles(
    async () => run.error,
    (text) => addressOf(text) !== undefined,
  );
  await confirm(tab, addressOf(said)!);
}

test('the command signs in, creates, looks, follows, changes, imports and deletes', async () => {
  const service = await startTest({ flags: ['--operators', 'op@example.test'] });
  await createClient(service, 'app');
  const { tab } = await signIn(service, 'op@example.test');
  const run = new PageRun('docs/how-to/command.md', {
    said: (text) => text.replaceAll('https://id.example.com', service.baseURL),
  });
  await confirmIn(run, tab);
  await run.done;
  for (const said of [
    'group.id.vestibule.org/staff created (server dry run)',
    'group.id.vestibule.org/staff created',
    '"displayName": "Readers"',
    'group.id.vestibule.org/staff patched',
    'client.id.vestibule.org "my-app" deleted',
  ]) {
    expect(run.out).toContain(said);
  }
  const { items } = (await tab.get('accounts').is(200)).body;
  const grace = items.find(({ status }: any) => status.email.address === 'grace@example.org');
  expect(grace).toBeDefined();
  expect((await tab.get('groups').is(200)).body.items).toEqual([]);
  await run.stop();
});

test('the name and the logo of an organisation are set', async () => {
  const service = await startTest({ flags: ['--operators', 'op@example.test'] });
  await createClient(service, 'app');
  const { tab } = await signIn(service, 'op@example.test');
  const page = 'docs/how-to/appearance.md';
  const folder = folderOf(page);
  writeFileSync(join(folder, 'logo.png'), png(64, 64));
  let confirmed: Promise<void> | undefined;
  await vestibule(['login', service.baseURL], { HOME: folder }, (text) => {
    const address = addressOf(text);
    if (address !== undefined) confirmed ??= confirm(tab, address);
  });
  await confirmed;
  const run = new PageRun(page, { folder });
  await run.done;
  const { spec } = (await tab.get('appearances/default').is(200)).body;
  expect(spec).toMatchObject({ displayName: 'Harbour', accentColor: '#0c6b62' });
  expect(spec.logo).toMatch(/^\//);
  await run.stop();
});

/** Whether programs that pages use are on this machine. */
const has = (...programs: string[]): boolean =>
  programs.every((program) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0);

(has('curl') ? test : test.skip)(
  'what anyone may read of a service (skipped where there is no curl)',
  async () => {
    const service = await startTest();
    const run = new PageRun('docs/tutorials/first-sign-in.md', {
      said: at(new URL(service.baseURL).port),
    });
    await run.done;
    expect(run.out).toContain(`"issuer":"${service.baseURL}"`);
    for (const said of ['"name":"interactions"', 'p-1', 'SHORTNAMES']) {
      expect(run.out).toContain(said);
    }
    await run.stop();
  },
);

test('a secret and its hash', async () => {
  const run = new PageRun('docs/how-to/applications/README.md');
  await run.done;
  expect(run.out).toMatch(/^[0-9a-f]{64}\n\n@done\n$/);
  await run.stop();
});

test('a store is saved while it is served, and restored elsewhere', async () => {
  const folder = folderOf('docs/how-to/backup.md');
  const service = await startTest({ directory: join(folder, 'data') });
  await createClient(service, 'kept');
  const etcd = await startEtcd();
  const run = new PageRun('docs/how-to/backup.md', {
    folder,
    // There is no terminal to confirm on.
    said: (text) =>
      text
        .replaceAll('https://etcd.example.org:2379', etcd.endpoint)
        .replace('epoch raise', 'epoch raise --yes'),
  });
  await run.done.finally(() => etcd.stop());
  await run.stop();
  const restored = await startTest({ directory: join(folder, 'elsewhere'), keys: service.keys });
  expect((await restored.store.reader(Client).get('kept'))!.spec.displayName).toBe('kept app');
});

test('a file of settings is checked, and its schema is written', async () => {
  const page = 'docs/how-to/configuration.md';
  const [port] = (await freePorts(1)).map(String) as [string];
  const folder = folderOf(page, at(port));
  const run = new PageRun(page, { folder, said: at(port), environment: { VESTIBULE_PORT: port } });
  await run.done;
  expect(run.out).toContain(`baseUrl: http://localhost:${port} # file`);
  expect(run.out).not.toContain('you@example.org');
  const schema = JSON.parse(readFileSync(join(folder, 'vestibule.schema.json'), 'utf8'));
  expect(Object.keys(schema.properties)).toContain('baseUrl');
  await run.stop();
});

test('keys are changed step by step', async () => {
  const folder = folderOf('docs/how-to/secrets.md');
  const before = newKeys();
  writeFileSync(join(folder, 'keys.json'), JSON.stringify(before), { mode: 0o600 });
  const run = new PageRun('docs/how-to/secrets.md', { folder });
  await run.done;
  const after = JSON.parse(readFileSync(join(folder, 'keys.json'), 'utf8')) as typeof before;
  expect([after.pairwise, after.cookies.length, after.sealing.length]).toEqual([
    before.pairwise,
    1,
    1,
  ]);
  for (const sort of ['cookies', 'hmac', 'sealing'] as const) {
    expect(after[sort]).not.toEqual(before[sort]);
  }
  await run.stop();
});

(has('curl', 'jq') ? test : test.skip)(
  'a policy is signed in for, tried, and put in force from a shell (skipped where there is no curl or no jq)',
  async () => {
    const service = await startTest({ flags: ['--operators', 'op@example.test'] });
    const folder = folderOf('docs/how-to/policies.md');
    writeFileSync(join(folder, 'editor'), '#!/bin/sh\necho "// as tried from a shell" >> "$1"\n', {
      mode: 0o755,
    });
    const run = new PageRun('docs/how-to/policies.md', {
      folder,
      said: at(new URL(service.baseURL).port),
      environment: { EDITOR: './editor' },
    });
    await settles(
      () => service.tab().get('mockmessages'),
      ({ body }) => body.items.length > 0,
    );
    run.type((await mailTo(service, 'op@example.test')).code);
    await run.done;
    expect(run.out).toContain('"address":"op@example.test"');
    expect(run.out).toMatch(/"nowRefused":[\s\S]*"p-2"\ntrue/);
    const { body } = await service.tab().get('policies/p-2').is(200);
    expect(body).toMatchObject({
      spec: { description: 'Why.', cedar: expect.stringContaining('// as tried from a shell') },
      status: { inForce: true },
    });
    await run.stop();
  },
);

(has('kubectl') ? test : test.skip)(
  'the API server of the tutorial is the example, and serves its kind (skipped where there is no kubectl)',
  async () => {
    const page = 'docs/tutorials/api-server-of-your-own.md';
    const [port] = (await freePorts(1)).map(String) as [string];
    const folder = folderOf(page, at(port), []);
    packLibrary(folder);
    const run = new PageRun(page, {
      folder,
      said: at(port),
      environment: { PORT: port, ...npmCache },
    });
    await run.done;
    const example = 'deploy/examples/apps/fischer';
    const written = (name: string): string => readFileSync(join(folder, name), 'utf8');
    expect(written('server.ts')).toBe(asInPackage(read(`${example}/server.ts`)));
    expect(written('fischer.yaml')).toBe(read(`${example}/fischer.yaml`));
    for (const name of ['server.ts', 'fischer.yaml']) {
      expect(written(`another/${name}`)).toBe(written(name));
    }
    expect(read(page)).toContain(` zod@${JSON.parse(read('package.json')).dependencies.zod}\n`);
    expect(run.out).toMatch(/^fischers +fi +wardle\.example\.com\/v1alpha1 +false +Fischer$/m);
    expect(run.out).toContain('Names of flunders that are not caught.');
    expect(run.out).toContain('fischer.wardle.example.com/ada serverside-applied');
    expect(run.out).toMatch(/^ada +sole,plaice +\d+s$/m);
    await run.stop();
  },
);

(has('kubectl') ? test : test.skip)(
  'kubectl is used as the page says, signed in as oneself (skipped where there is no kubectl)',
  async () => {
    const [port, secure] = (await freePorts(2)).map(String) as [string, string];
    const run = new PageRun('docs/how-to/kubectl.md', {
      said: (text) => at(port)(text).replaceAll('8443', secure),
      environment: { VESTIBULE_PORT: port },
    });
    const base = `http://localhost:${port}`;
    await settles(
      () => fetch(`${base}/readyz`).catch(() => undefined),
      (response) => response?.ok === true,
    );
    const person = new Tab(base, base);
    const toAccount = `client_id=vestibule-account&response_type=none&redirect_uri=${base}/account`;
    const reached = { tab: () => new Tab(base, base) };
    await signInAt(reached, `/oauth2/auth?${toAccount}&scope=openid`, 'you@example.test', person);
    await confirmIn(run, person);
    await run.done;
    for (const said of [
      'client.id.vestibule.org/my-app created',
      'client.id.vestibule.org/my-app serverside-applied',
      'client.id.vestibule.org/my-app condition met',
      'manager: kubectl',
    ]) {
      expect(run.out).toContain(said);
    }
    await run.stop();
  },
);

describe('the application of the tutorial', () => {
  test('signs people in and out, and checks what it says it checks', async () => {
    const [port, other] = (await freePorts(2)).map(String) as [string, string];
    const run = new PageRun('docs/tutorials/your-own-application.md', {
      said: at(port, other),
      environment: { VESTIBULE_PORT: port },
    });
    await run.done;
    const [base, self] = [`http://localhost:${port}`, `http://localhost:${other}`];
    const service = { tab: () => new Tab(base, base) };
    const text = async (tab: Tab): Promise<string> => (await tab.get('/').is(200)).bytes.toString();

    const [app, person] = [new Tab(self, self), service.tab()];
    expect(await text(app)).toContain('No one is signed in');
    const back = await signInAt(
      service,
      (await app.navigate('/sign-in').is(303)).headers.location!,
      'ada@example.test',
      person,
    );
    expect(`${back.origin}${back.pathname}`).toBe(`${self}/callback`);
    const elsewhere = await new Tab(self, self).navigate(back.href).is(400);
    expect(elsewhere.bytes.toString()).toBe('This sign-in was not started in this browser.');
    await app.navigate(back.href).is(303);
    expect(await text(app)).toMatch(/You are ada, known here as [a-z0-9]{20}\./);

    const forged = new Tab(self, self);
    await forged.navigate('/sign-in').is(303);
    expect((await forged.navigate(back.href).is(400)).bytes.toString()).toMatch(/^Not signed in: /);

    const asked = await person
      .navigate((await app.send('POST', '/sign-out').is(303)).headers.location!)
      .is(200);
    expect(await text(app)).toContain('No one is signed in');
    const xsrf = /name="xsrf" value="([^"]+)"/.exec(asked.bytes.toString())![1]!;
    const gone = await person
      .send('POST', '/oauth2/logout/confirm', {
        body: `xsrf=${xsrf}&logout=yes`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      })
      .is(303);
    expect(gone.headers.location).toBe(`${self}/`);

    const declined = await cancelAt(
      service,
      (await app.navigate('/sign-in').is(303)).headers.location!,
    );
    expect((await app.navigate(declined.href).is(400)).bytes.toString()).toBe(
      'Not signed in: access_denied',
    );
    await run.stop();
  });
});
