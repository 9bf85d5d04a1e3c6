import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ClaimsProvider } from '../../../kinds/apps/claims/claims-provider.js';
import { seen } from '../../support/secrets.js';
import type { TestService } from '../../support/service.js';

/** One question a supplier was asked, as it came. */
export interface Question {
  readonly headers: IncomingMessage['headers'];
  readonly text: string;
  readonly body: any;
}

type Answer = (response: ServerResponse, question: Question) => void;

/** A service that supplies claims, on loopback; what it answers may be anything. */
export class Supplier {
  readonly url: string;
  readonly questions: Question[] = [];
  connections = 0;
  answer: Answer = says({});
  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    this.url = `http://localhost:${(server.address() as AddressInfo).port}/claims`;
    server.on('connection', () => {
      this.connections += 1;
    });
    server.on('request', (request, response) => void this.#take(request, response));
  }

  static async open(): Promise<Supplier> {
    const server = createServer();
    await new Promise<void>((done) => {
      server.listen(0, done);
    });
    return new Supplier(server);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => {
      this.#server.close(done);
    });
  }

  /** Declares it as a ClaimsProvider of one scope of its own name. */
  async declare(
    service: TestService,
    name: string,
    claims: Record<string, 'string' | 'number' | 'boolean' | 'strings'>,
    more: {
      failurePolicy?: 'Omit' | 'Fail';
      timeoutMilliseconds?: number;
      sensitive?: boolean;
    } = {},
  ): Promise<void> {
    const { sensitive = false, ...spec } = more;
    const scope = {
      name,
      title: `Your ${name}`,
      description: `What ${name} is for.`,
      sensitive,
      claims: Object.entries(claims).map(([claim, type]) => ({
        name: claim,
        title: `Title of ${claim}`,
        type,
      })),
    };
    await service.store.change(service.store.systemCall(), (tx) =>
      tx.create(ClaimsProvider, {
        metadata: { name },
        spec: {
          displayName: `The ${name}`,
          reviewURI: this.url,
          timeoutMilliseconds: 2_000,
          failurePolicy: 'Omit',
          scopes: [scope],
          ...spec,
        },
      }),
    );
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const chunk of request) text += chunk;
    const question = { headers: request.headers, text, body: JSON.parse(text) };
    this.questions.push(question);
    seen.add(question.headers.authorization?.slice('Bearer '.length));
    this.answer(response, question);
  }
}

/** Answers these claims as it should. */
export const says = (claims: Record<string, unknown>): Answer => {
  seen.claim(...Object.values(claims).flat());
  return lies(claims);
};

/** The same of claims that are words of this service's own, such as the name of a group. */
export const lies =
  (claims: Record<string, unknown>): Answer =>
  (response, { body }) => {
    response
      .setHeader('content-type', 'application/json')
      .end(JSON.stringify({ ...body, status: { claims } }));
  };
