import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { AddressJudge } from '../../registry/addressjudge.js';
import { createFetch, libraryFetch } from '../../provider/fetch.js';

let server: Server;
let port: number;
let connections = 0;
let handler: (request: IncomingMessage, response: ServerResponse) => void = (_, response) => { response.end('{}') };
beforeAll(async () => {
  server = createServer((request, response) => handler(request, response));
  server.on('connection', () => { connections += 1 });
  await new Promise<void>((done) => server.listen(0, done));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => { server.closeAllConnections(); server.close() });

const local = createFetch({ baseURL: 'http://localhost:1' });
const strict = createFetch({ baseURL: 'https://id.example.test' });

describe('the one way out', () => {
  test('does not even connect where it may not go (H1)', async () => {
    const before = connections;
    for (const url of [`http://127.0.0.1:${port}`, `https://127.0.0.1:${port}`, `https://[::1]:${port}`, `https://[::ffff:127.0.0.1]:${port}`, `https://localhost:${port}`, `http://localhost:${port}`,
      `https://0.0.0.0:${port}`, `https://2130706433:${port}`, `https://0x7f.1:${port}`, 'https://169.254.169.254/latest', 'https://10.0.0.1', 'https://[fd00::1]', 'https://[64:ff9b::7f00:1]', 'ftp://example.test', 'not an address',
      'https://user:pass@example.test', 'https://example.test/#x'])
      await expect(strict(url, { method: 'GET' })).rejects.toMatchObject({ name: 'Refused' });
    expect(connections).toBe(before);
  });

  test('goes to loopback over http only while the base URL is there', async () => {
    handler = (request, response) => { response.end(JSON.stringify(request.headers)) };
    const answer = await local(`http://localhost:${port}/x`, { method: 'POST', headers: { 'x-own': 'yes' }, body: 'ä' });
    expect(JSON.parse(answer.body.toString())).toMatchObject({ 'accept-encoding': 'identity', 'content-length': '2', 'x-own': 'yes' });
    expect(JSON.parse(answer.body.toString())).not.toHaveProperty('cookie');
    await expect(local('http://example.test', { method: 'GET' })).rejects.toThrow();
    await expect(local('http://10.0.0.1', { method: 'GET' })).rejects.toMatchObject({ name: 'Refused' });
  });

  test('follows no redirect', async () => {
    handler = (_, response) => { response.writeHead(302, { location: 'http://169.254.169.254/' }).end() };
    expect((await local(`http://localhost:${port}`, { method: 'GET' })).status).toBe(302);
  });

  test('gives up after 2.5 s in all, however slowly something comes (H2)', async () => {
    handler = (_, response) => { const timer = setInterval(() => response.write('x'), 100); response.on('close', () => clearInterval(timer)) };
    const begun = performance.now();
    await expect(local(`http://localhost:${port}`, { method: 'GET' })).rejects.toMatchObject({ name: 'Failed' });
    expect(performance.now() - begun).toBeLessThan(3_000);
  });

  test('takes 64 KiB and nothing encoded', async () => {
    handler = (_, response) => { response.end('x'.repeat(64 << 10)) };
    expect((await local(`http://localhost:${port}`, { method: 'GET' })).body.length).toBe(64 << 10);
    handler = (_, response) => { response.end('x'.repeat((64 << 10) + 1)) };
    await expect(local(`http://localhost:${port}`, { method: 'GET' })).rejects.toMatchObject({ name: 'Failed' });
    handler = (_, response) => { response.writeHead(200, { 'content-encoding': 'gzip' }).end('x') };
    await expect(local(`http://localhost:${port}`, { method: 'GET' })).rejects.toMatchObject({ name: 'Failed' });
  });

  test('has the shape the library expects', async () => {
    handler = (_, response) => { response.writeHead(204, { expires: 'never' }).end() };
    const answer = await libraryFetch(local)(`http://localhost:${port}`, { method: 'POST', body: new URLSearchParams({ a: 'b' }), headers: new Headers({ 'content-type': 'x/y', cookie: 'no' }) });
    expect([answer.status, answer.headers.get('expires')]).toEqual([204, 'never']);
  });
});

describe('the judge of addresses', () => {
  const judge = new AddressJudge(['10.1.0.0/16', 'fd12::/16'], false);
  test.each([
    ['93.184.216.34', true], ['2606:2800:220:1:248:1893:25c8:1946', true], ['10.1.2.3', true], ['10.2.0.1', false], ['fd12::1', true], ['fd13::1', false], ['fd00:ec2::254', false],
    ['127.0.0.1', false], ['::1', false], ['::', false], ['::ffff:10.1.0.1', true], ['::ffff:a02:1', false], ['100.64.0.1', false], ['172.16.0.1', false], ['192.168.1.1', false], ['169.254.169.254', false],
    ['224.0.0.1', false], ['255.255.255.255', false], ['2001:db8::1', false], ['2002:7f00:1::', false], ['2001::1', false], ['fe80::1', false], ['ff02::1', false], ['64:ff9b::a00:1', false], ['not one', false],
  ])('%s: %s', (address, permitted) => { expect(judge.permits(address, true)).toBe(permitted) });

  test('metadata addresses stay closed even where their range is open', () => {
    expect(new AddressJudge(['169.254.0.0/16'], false).permits('169.254.169.254', true)).toBe(false);
    expect(new AddressJudge(['169.254.0.0/16'], false).permits('169.254.1.1', true)).toBe(true);
  });
});
