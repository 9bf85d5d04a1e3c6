import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { Agent, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, test } from '@jest/globals';
import { makeCertificates } from '../../storage/cases/certificates.js';
import { startEtcd } from '../../storage/etcd-server.js';
import { Stream } from '../../support/network/stream.js';
import { signIn } from '../../support/people/signin.js';
import { createClient, startTest, stopAll, temporary } from '../../support/service.js';
import { stores } from '../../support/stores.js';

afterAll(stopAll);

test('a stop ends watches cleanly with a last bookmark, and finishes what is in flight', async () => {
  const service = await startTest({
    flags: ['--limit-factor', '100', '--operators', 'op@example.test'],
  });
  await createClient(service, 'app');
  const { tab } = await signIn(service, 'op@example.test');
  const streams = Array.from(
    { length: 10 },
    () => new Stream(tab, 'clients?watch=true&allowWatchBookmarks=true'),
  );
  await Promise.all(streams.map((stream) => stream.until(({ events }) => events.length === 1)));
  const { hostname, port } = new URL(service.url);
  const body = '{"spec":{"displayName":"done"}}';
  const slow = new Promise<number>((resolve, reject) => {
    const req = request(
      {
        host: hostname,
        port,
        method: 'PATCH',
        path: '/api/v1beta1/clients/app',
        headers: {
          'content-type': 'application/merge-patch+json',
          'content-length': String(body.length),
          cookie: tab.cookies.map(({ name, value }) => `${name}=${value}`).join('; '),
        },
      },
      (res) => {
        res.resume();
        resolve(res.statusCode!);
      },
    );
    req.on('error', reject).write(body.slice(0, 9));
    req.once('socket', (socket) =>
      socket.once('connect', () => {
        setTimeout(() => req.end(body.slice(9)), 300);
      }),
    );
  });
  await new Promise((resolve) => {
    setTimeout(resolve, 150);
  });
  const stopped = service.stop();
  await Promise.all(streams.map((stream) => stream.until(({ ended }) => ended)));
  expect(streams.every(({ events }) => events.at(-1)!.type === 'BOOKMARK')).toBe(true);
  expect(await slow).toBe(200);
  await stopped;
  await expect(service.tab().get('/livez')).rejects.toThrow();
});

test('a connection after a watch is closed by the answer to the next request', async () => {
  const service = await startTest({
    flags: ['--limit-factor', '100', '--operators', 'op@example.test'],
  });
  await createClient(service, 'app');
  const { tab } = await signIn(service, 'op@example.test');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const { hostname, port } = new URL(service.url);
  const cookie = tab.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
  const body = JSON.stringify({
    metadata: { name: 'late' },
    spec: { displayName: 'Late', members: [] },
  });
  /**
   * As a proxy does that has one connection: what it is asked next goes out on it the moment it is
   * free.
   */
  const ask = (
    method: string,
    path: string,
    sent = '',
  ): Promise<{
    socket: Socket;
    answer: IncomingMessage;
    text: () => string;
    over: Promise<void>;
  }> =>
    new Promise((resolve, reject) => {
      const asked = request(
        {
          agent,
          host: hostname,
          port,
          method,
          path: `/api/v1beta1/${path}`,
          headers: {
            cookie,
            'content-type': 'application/json',
            'content-length': String(sent.length),
          },
        },
        (answer) => {
          let text = '';
          answer.setEncoding('utf8').on('data', (more: string) => {
            text += more;
          });
          resolve({
            socket: asked.socket!,
            answer,
            text: () => text,
            over: new Promise((done, bad) => {
              answer.on('end', done).on('error', bad);
            }),
          });
        },
      );
      asked.on('error', reject).end(sent);
    });
  const watch = await ask('GET', 'groups?watch=true&allowWatchBookmarks=true');
  const next = ask('POST', 'groups', body);
  const stopped = service.stop();
  await watch.over;
  const { socket, answer, over, text } = await next;
  await over;
  expect([
    answer.statusCode,
    answer.headers.connection,
    socket === watch.socket,
    JSON.parse(text()).metadata.name,
  ]).toEqual([201, 'close', true, 'late']);
  await stopped;
  agent.destroy();
});

test('SIGTERM ends the command with 0', async () => {
  const child = spawn(
    process.execPath,
    [
      'bin/vestibule',
      'serve',
      '--data-dir',
      join(temporary(), 'd'),
      '--mock-mail',
      '--port',
      '0',
      '--log-level',
      'warn',
    ],
    {
      cwd: join(import.meta.dirname, '../../..'),
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'ignore'],
    },
  );
  const line = await new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).once('line', resolve);
  });
  expect(line).toMatch(/^ready http:\/\/localhost:\d+ http:\/\/127\.0\.0\.1:\d+$/);
  child.kill('SIGTERM');
  expect(
    await new Promise((resolve) => {
      child.once('exit', resolve);
    }),
  ).toBe(0);
});

test('SIGUSR1 opens no inspector', async () => {
  const child = spawn(
    process.execPath,
    [
      'bin/vestibule',
      'serve',
      '--data-dir',
      join(temporary(), 'd'),
      '--mock-mail',
      '--port',
      '0',
      '--log-level',
      'warn',
    ],
    {
      cwd: join(import.meta.dirname, '../../..'),
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let complaints = '';
  child.stderr.on('data', (text: Buffer) => {
    complaints += text.toString();
  });
  const line = await new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).once('line', resolve);
  });
  for (let i = 0; i < 5; i += 1) {
    child.kill('SIGUSR1');
    expect((await fetch(`${line.split(' ').at(-1)!}/livez`)).status).toBe(200);
  }
  child.kill('SIGTERM');
  expect(
    await new Promise((resolve) => {
      child.once('close', resolve);
    }),
  ).toBe(0);
  expect(complaints).not.toMatch(/debugger|inspector/i);
});

describe('a start that fails', () => {
  /**
   * Starts a process that tries each of some settings and prints what came of it; it must come to
   * its end by itself.
   */
  function tried(settings: readonly (readonly string[])[]): { out: string[]; ended: boolean } {
    const script = `
      const { readConfig } = await import('./cmd/vestibule/options/config.ts');
      const { createLog } = await import('./observability/log.ts');
      const { startService } = await import('./cmd/vestibule/serve/service.ts');
      const { Writable } = await import('node:stream');
      const log = createLog('error', new Writable({ write(chunk, encoding, done) { process.stderr.write(chunk); done() } }));
      for (const flags of ${JSON.stringify(settings)}) {
        try { const service = await startService(readConfig(flags, {}), log, process.cwd()); console.log('up'); await service.stop() } catch (error) { console.log(error.message) }
      }`;
    const run = spawnSync(
      process.execPath,
      ['--import', './test/provider/support/typescript.mjs', '--input-type=module', '-e', script],
      {
        cwd: join(import.meta.dirname, '../../..'),
        encoding: 'utf8',
        timeout: 60_000,
        env: { PATH: process.env.PATH },
      },
    );
    if (run.status !== 0 && run.signal === null) throw new Error(run.stderr);
    return { out: run.stdout.trim().split('\n'), ended: run.signal === null };
  }

  test.each(stores)(
    'gives back the store, its lock and every thread and timer, on %s',
    async (kind) => {
      const [directory, manifests] = [temporary(), temporary()];
      writeFileSync(
        join(manifests, 'policy.yaml'),
        'apiVersion: id.vestibule.org/v1beta1\nkind: Policy\nspec:\n  cedar: permit (principal, action);\n',
      );
      mkdirSync(join(directory, 'home'));
      const etcd = kind === 'etcd' ? await startEtcd() : undefined;
      const certificates = makeCertificates();
      const occupant = createServer();
      await new Promise<void>((resolve) => {
        occupant.listen(0, '127.0.0.1', resolve);
      });
      try {
        const keys = join(directory, 'keys');
        spawnSync(process.execPath, ['bin/vestibule', 'keys', 'new', keys], {
          cwd: join(import.meta.dirname, '../../..'),
          env: { PATH: process.env.PATH },
        });
        const where = etcd
          ? ['--etcd-servers', etcd.endpoint, '--keys-file', keys, '--allow-mock-mail']
          : ['--data-dir', join(directory, 'home')];
        const { port: taken } = occupant.address() as AddressInfo;
        const secure = etcd
          ? [
              '--tls-cert-file',
              certificates.files.cert,
              '--tls-private-key-file',
              certificates.files.key,
            ]
          : [];
        const settings = [...where, '--mock-mail', '--base-url', 'http://localhost:7999'];
        const { out, ended } = tried([
          [...settings, '--port', '0', '--manifests', manifests],
          [...settings, '--port', String(taken)],
          [...settings, ...secure, '--port', '0', '--secure-port', String(taken)],
          [...settings, ...secure, '--port', '0', '--secure-port', '0'],
        ]);
        expect(out).toEqual([
          expect.stringMatching(/policy\.yaml: spec\.cedar/),
          expect.stringMatching(
            /another program uses it; stop that program, or set another with --port/,
          ),
          expect.stringMatching(/another program uses it.* --secure-port/),
          'up',
        ]);
        expect(ended).toBe(true);
      } finally {
        occupant.close();
        certificates.remove();
        await etcd?.stop();
      }
    },
  );
});
