import { createServer, request as http, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import type { TestService } from '../../support/service.js';
import type { Person } from './person.js';

const apiVersion = 'id.vestibule.org/v1beta1';

/** What a request that changes something was, as far as clients may differ in it. */
export interface Change {
  readonly method: string;
  readonly path: string;
  readonly type: string | undefined;
  readonly body: unknown;
}

/** Opens a place of the console and waits until it can be used. */
export async function openConsole(service: TestService, person: Person, path = ''): Promise<void> {
  await person.page.goto(`${service.baseURL}/console${path}`);
  await person.at('console');
}

/** The requests of a page that change something, without access reviews. */
export function changesOf(page: Page): Change[] {
  const all: Change[] = [];
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    if (request.method() === 'GET' || pathname.includes('/authorization.k8s.io/')) return;
    all.push({
      method: request.method(),
      path: pathname,
      type: request.headers()['content-type'],
      body: request.postDataJSON(),
    });
  });
  return all;
}

/**
 * A server that kubectl takes for the service: what only reads is answered by the service, what
 * changes something is kept and answered as done.
 */
export class ChangeRecorder {
  readonly changes: Change[] = [];
  readonly #service: TestService;
  readonly #server = createServer((incoming, response) => {
    const answerWith = (code: number, body: object): void => {
      response.writeHead(code, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    };
    if (incoming.method !== 'GET') {
      return void this.#keep(incoming).then((body) => answerWith(200, body));
    }
    const [, name] = /\/v1beta1\/\w+\/([\w-]+)$/.exec(incoming.url!.split('?')[0]!) ?? [];
    if (name !== undefined) {
      return this.changes.at(-1)?.method === 'DELETE'
        ? answerWith(404, { kind: 'Status', apiVersion: 'v1', reason: 'NotFound', code: 404 })
        : answerWith(200, { apiVersion, kind: 'Group', metadata: { name }, spec: {} });
    }
    const target = new URL(incoming.url!, this.#service.url);
    http(target, { headers: { ...incoming.headers, host: target.host } }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    }).end();
  });

  constructor(service: TestService) {
    this.#service = service;
  }

  /** Starts on a free port; its address. */
  async listen(): Promise<string> {
    await new Promise<void>((done) => {
      this.#server.listen(0, '127.0.0.1', done);
    });
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #keep(incoming: IncomingMessage): Promise<object> {
    const pieces: Buffer[] = [];
    for await (const piece of incoming) pieces.push(piece as Buffer);
    const body = JSON.parse(Buffer.concat(pieces).toString()) as object;
    this.changes.push({
      method: incoming.method!,
      path: incoming.url!.split('?')[0]!,
      type: incoming.headers['content-type'],
      body,
    });
    if (incoming.method === 'DELETE') {
      return { apiVersion: 'v1', kind: 'Status', status: 'Success' };
    }
    return {
      apiVersion,
      kind: 'Group',
      spec: {},
      ...body,
      metadata: { name: 'staff' },
    };
  }
}
