import { afterAll, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { request } from 'node:http';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { signIn } from '../support/signin.js';
import { createClient, startTest, stopAll, temporary } from '../support/service.js';
import { Stream } from '../support/stream.js';

afterAll(stopAll);

test('a stop ends watches cleanly with a last bookmark, and finishes what is in flight', async () => {
  const service = await startTest({ flags: ['--limit-factor', '100', '--operators', 'op@example.test'] });
  await createClient(service, 'app');
  const { tab } = await signIn(service, 'op@example.test');
  const streams = Array.from({ length: 10 }, () => new Stream(tab, 'clients?watch=true&allowWatchBookmarks=true'));
  await Promise.all(streams.map((one) => one.until(({ events }) => events.length === 1)));
  const { hostname, port } = new URL(service.url);
  const body = '{"spec":{"displayName":"done"}}';
  const slow = new Promise<number>((resolve, reject) => {
    const req = request({ host: hostname, port, method: 'PATCH', path: '/api/v1alpha1/clients/app', headers: { 'content-type': 'application/merge-patch+json', 'content-length': String(body.length), cookie: tab.cookies.map(({ name, value }) => `${name}=${value}`).join('; ') } }, (res) => { res.resume(); resolve(res.statusCode!) });
    req.on('error', reject).write(body.slice(0, 9));
    req.once('socket', (socket) => socket.once('connect', () => { setTimeout(() => req.end(body.slice(9)), 300) }));
  });
  await new Promise((resolve) => { setTimeout(resolve, 150) });
  const stopped = service.stop();
  await Promise.all(streams.map((one) => one.until(({ ended }) => ended)));
  expect(streams.every(({ events }) => events.at(-1)!.type === 'BOOKMARK')).toBe(true);
  expect(await slow).toBe(200);
  await stopped;
  await expect(service.tab().get('/livez')).rejects.toThrow();
});

test('SIGTERM ends the command with 0', async () => {
  const child = spawn(process.execPath, ['bin/vestibule', 'serve', '--data-dir', join(temporary(), 'd'), '--mock-mail', '--port', '0', '--log-level', 'warn'], { cwd: join(import.meta.dirname, '../..'), env: { PATH: process.env.PATH }, stdio: ['ignore', 'pipe', 'ignore'] });
  const line = await new Promise<string>((resolve) => { createInterface({ input: child.stdout }).once('line', resolve) });
  expect(line).toMatch(/^ready http:\/\/localhost:\d+ http:\/\/127\.0\.0\.1:\d+$/);
  child.kill('SIGTERM');
  expect(await new Promise((resolve) => { child.once('exit', resolve) })).toBe(0);
});
