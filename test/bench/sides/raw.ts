import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The ceiling: node:http writing the bytes it was given, from memory. */
const { headers, body } = JSON.parse(process.env.SPECIMEN!) as { headers: string[]; body: string };
const bytes = Buffer.from(body);
const server = createServer((_request, response) => {
  response.writeHead(200, headers).end(bytes);
});
server.keepAliveTimeout = 65_000;
server.listen(0, '127.0.0.1', () =>
  process.stdout.write(`ready ${(server.address() as AddressInfo).port}\n`),
);
