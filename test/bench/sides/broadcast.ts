import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The ceiling of a broadcast: node:http writing the same chunk to everybody who watches. */
const chunk = Buffer.from(process.env.SPECIMEN!);
const watchers = new Set<ServerResponse>();
const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.writeHead(200, { 'Content-Type': 'application/json' }).flushHeaders();
    watchers.add(response);
    response.once('close', () => watchers.delete(response));
    return;
  }
  request.resume().once('end', () => {
    response.writeHead(200, { 'Content-Length': 2 }).end('{}');
    for (const watcher of watchers) watcher.write(chunk);
  });
});
server.keepAliveTimeout = 65_000;
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`ready ${(server.address() as AddressInfo).port}\n`),
);
