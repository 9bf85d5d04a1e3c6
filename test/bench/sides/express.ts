import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import express from 'express';

/** An Express application with one JSON route and nothing else. */
const { body } = JSON.parse(process.env.SPECIMEN!) as { body: string };
const object = JSON.parse(body) as unknown;
const app = express();
app.get('/api/v1beta1/passkeys/:name', (_request, response) => {
  response.json(object);
});
const server = createServer(app).listen(0, '127.0.0.1', () =>
  process.stdout.write(`ready ${(server.address() as AddressInfo).port}\n`),
);
server.keepAliveTimeout = 65_000;
