import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import { freePorts } from '../storage/etcd-server.js';
import { settles } from '../support/patience.js';
import { Tab } from '../support/people/tab.js';
import { startTest, stopAll, type TestService, temporary } from '../support/service.js';
import { clientOf, given } from './clients.js';
import { secret } from './pages.js';
import { signInAt } from './through.js';

jest.setTimeout(120_000);

const page = 'docs/how-to/applications/oauth2-proxy.md';
const program = process.env.OAUTH2_PROXY ?? 'oauth2-proxy';
const found = /^oauth2-proxy /m.test(
  spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout ?? '',
);

let service: TestService;
let behind: Server;
let proxy: ChildProcess;
let self: string;
let said = '';

beforeAll(async () => {
  if (!found) return;
  const [port, upstream] = (await freePorts(2)) as [number, number];
  self = `http://localhost:${port}`;
  const manifests = temporary();
  writeFileSync(
    join(manifests, 'client.yaml'),
    clientOf(page).text.replaceAll('https://intranet.example.org', self),
  );
  writeFileSync(
    join(manifests, 'staff.yaml'),
    'apiVersion: id.vestibule.org/v1beta1\nkind: Group\nmetadata: { name: staff }\nspec: { displayName: Staff, members: [ada@example.test] }\n',
  );
  service = await startTest({ flags: ['--manifests', manifests] });
  behind = createServer((req, res) => {
    res.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(req.headers));
  });
  await new Promise<void>((resolve) => {
    behind.listen(upstream, '127.0.0.1', resolve);
  });
  const file = join(temporary(), 'oauth2-proxy.cfg');
  writeFileSync(
    file,
    given(page, 'toml')
      .replaceAll('https://intranet.example.org', self)
      .replaceAll('https://id.example.org', service.baseURL)
      .replaceAll('id.example.org', new URL(service.baseURL).host)
      .replace('127.0.0.1:8000', `127.0.0.1:${upstream}`)
      .replace('127.0.0.1:4180', `127.0.0.1:${port}`)
      .replace('<secret>', secret)
      .replace('<32 random bytes, base64url>', randomBytes(32).toString('base64url')),
  );
  proxy = spawn(program, ['--config', file]);
  for (const stream of [proxy.stdout!, proxy.stderr!]) {
    stream.on('data', (text: Buffer) => {
      said += text.toString();
    });
  }
  await settles(
    async () => {
      if (proxy.exitCode !== null) throw new Error(said);
      return fetch(`${self}/ping`).then(
        ({ status }) => status,
        () => 0,
      );
    },
    (status) => status === 200,
  );
});

afterAll(async () => {
  proxy?.kill();
  behind?.close();
  await stopAll();
});

(found ? test : test.skip)(
  'the application behind oauth2-proxy learns who signed in, with the configuration of the page (skipped where there is no oauth2-proxy on the PATH or in OAUTH2_PROXY)',
  async () => {
    const browser = new Tab(self, self);
    const { headers } = await browser.navigate('/somewhere').is(302);
    const back = await signInAt(service, headers.location!, 'ada@example.test');
    expect((await browser.navigate(back.href).is(302)).headers.location).toBe('/somewhere');
    const { body } = await browser.get('/somewhere').is(200);
    expect(body).toMatchObject({
      'x-forwarded-email': 'ada@example.test',
      'x-forwarded-user': expect.stringMatching(/^[a-z0-9]{20}$/),
      'x-forwarded-groups': 'staff',
    });
    const end = `${service.baseURL}/oauth2/logout`;
    expect(
      (await browser.navigate(`/oauth2/sign_out?rd=${encodeURIComponent(end)}`).is(302)).headers
        .location,
    ).toBe(end);
    await browser.navigate('/somewhere').is(302);
  },
);
