import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { issueCertificate, serverAuth } from '../cluster/issue-certificate.js';

const day = 86_400_000;

type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** An https server on loopback for metadata documents of Clients. This process trusts its certificate. */
export interface DocumentServer {
  /** Its host with the port: `localhost:1234`. */
  readonly host: string;
  readonly port: number;
  /** The paths that were requested. */
  readonly requests: string[];
  /** How many connections were made. */
  connections(): number;
  /** Returns the `client_id` of a document: a valid one with these members, and with these headers. */
  serve(path: string, members?: object, headers?: Record<string, string>): string;
  /** Returns the `client_id` at a path that is answered by `handler`. */
  handle(path: string, handler: Handler): string;
  close(): void;
}

/** A document with everything that a sign-in of the tests needs. */
export const documentOf = (clientID: string, members: object = {}): object => ({
  client_id: clientID,
  client_name: 'Self-made',
  redirect_uris: ['https://app.example.test/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
  ...members,
});

/** Starts one. */
export async function startDocumentServer(): Promise<DocumentServer> {
  const now = Date.now();
  const authority = issueCertificate({
    name: 'test authority',
    from: now - day,
    until: now + day,
    authority: {},
  });
  const wish = { name: 'localhost', from: now - day, until: now + day, usages: [serverAuth] };
  const { cert, key } = issueCertificate({ ...wish, names: ['localhost', '127.0.0.1'] }, authority);
  const trusted = getCACertificates('default');
  setDefaultCACertificates([...trusted, authority.cert]);
  const handlers = new Map<string, Handler>();
  const requests: string[] = [];
  let connections = 0;
  const server = createServer({ cert, key }, (request, response) => {
    requests.push(request.url!);
    const handler = handlers.get(request.url!);
    if (handler) {
      handler(request, response);
    } else {
      response.writeHead(404).end();
    }
  }).on('connection', () => {
    connections += 1;
  });
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done);
  });
  const { port } = server.address() as AddressInfo;
  const host = `localhost:${port}`;
  const handle = (path: string, handler: Handler): string => {
    handlers.set(path, handler);
    return `https://${host}${path}`;
  };
  return {
    host,
    port,
    requests,
    connections: () => connections,
    handle,
    serve: (path, members, headers = {}) =>
      handle(path, (_, response) => {
        const body = JSON.stringify(documentOf(`https://${host}${path}`, members));
        response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(body);
      }),
    close: () => {
      setDefaultCACertificates(trusted);
      server.closeAllConnections();
      server.close();
    },
  };
}
