import { request as requestPlain } from 'node:http';
import { Agent, request as requestSecure } from 'node:https';
import { z } from 'zod';
import {
  type ApiServer,
  type ApiServerOptions,
  Keys,
  kindsOf,
  openStorage,
  startApiServer,
} from '../../apiserver/library/index.js';
import { type EtcdServer, startEtcd } from '../storage/etcd-server.js';
import { makeCertificate } from '../support/cluster/issue-certificate.js';
import { testKeys } from '../support/keys.js';
import { temporary } from '../support/service.js';

/** A kind of an API server of one's own. */
export const Fischer = kindsOf({ group: 'wardle.example.com', version: 'v1alpha1' })({
  kind: 'Fischer',
  resource: 'fischers',
  description: 'Who fishes.',
  verbs: ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection'],
  spec: z.object({ pond: z.string().max(63).default('north').describe('Where.') }),
  status: z.object({ caught: z.number().int().optional().describe('How many.') }),
  hasStatusSubresource: true,
  columns: { Pond: ({ spec }) => spec.pond },
  selectableFields: { 'spec.pond': ({ spec }) => spec.pond },
});

/** The path of its objects. */
export const fischers = '/apis/wardle.example.com/v1alpha1/fischers';

/** A Fischer as it is created. */
export const fischer = (name: string, pond = 'north'): object => ({
  metadata: { name },
  spec: { pond },
});

/** What is asked, and by whom. */
export interface Question {
  readonly method?: string;
  readonly body?: unknown;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  /** The client's certificate, in PEM. */
  readonly pair?: { readonly cert: string; readonly key: string } | undefined;
}

/** An answer with its body, parsed if it is JSON. */
export interface Answer {
  readonly code: number;
  readonly body: any;
  readonly headers: Readonly<Record<string, unknown>>;
}

/** The certificate of servers on this machine. */
export const serving = makeCertificate(['localhost', '127.0.0.1'], Date.now());

const parsed = (text: string): unknown => (text.startsWith('{') ? JSON.parse(text) : text);

/** Sends one request on a connection of its own, and reads the answer. */
export const ask = (
  url: string,
  { method = 'GET', body, type = 'application/json', headers = {}, pair }: Question = {},
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const options = {
      method,
      headers: { ...headers, ...(body !== undefined && { 'Content-Type': type }) },
    };
    const sent = url.startsWith('https:')
      ? requestSecure(url, { ...options, agent: new Agent({ ca: serving.cert, ...pair }) })
      : requestPlain(url, { ...options, agent: false });
    sent.once('error', reject).once('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () =>
        resolve({
          code: response.statusCode!,
          body: parsed(Buffer.concat(parts).toString()),
          headers: response.headers,
        }),
      );
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });

/** An open watch: its events so far, as type and name, and whether it has ended. */
export interface Watched {
  readonly code: number;
  readonly events: string[];
  readonly isOver: boolean;
  close(): void;
}

/** Opens a watch by http; resolves when its answer begins. */
export const watch = (url: string, { headers = {} }: Question): Promise<Watched> =>
  new Promise((resolve, reject) => {
    const sent = requestPlain(url, { headers, agent: false });
    const watched = { code: 0, events: [] as string[], isOver: false, close: () => sent.destroy() };
    const end = (): void => {
      watched.isOver = true;
    };
    sent.once('error', reject).once('response', (response) => {
      let text = '';
      response.on('data', (part: Buffer) => {
        const lines = (text + part.toString()).split('\n');
        text = lines.pop()!;
        for (const { type, object } of lines.map((line) => JSON.parse(line))) {
          watched.events.push(`${type} ${object.metadata.name}`);
        }
      });
      response.once('close', end).once('error', end);
      watched.code = response.statusCode!;
      resolve(watched);
    });
    sent.end();
  });

/** Servers of a suite, each with a store of its own. */
export class Fishery {
  readonly #kind: 'embedded' | 'etcd';
  readonly #running: ApiServer[] = [];
  #etcd: EtcdServer | undefined;
  #count = 0;

  constructor(kind: 'embedded' | 'etcd') {
    this.#kind = kind;
  }

  async start(options: Partial<ApiServerOptions> = {}): Promise<ApiServer> {
    if (this.#kind === 'etcd') this.#etcd ??= await startEtcd();
    const prefix = `/w${(this.#count += 1)}/`;
    const storage = await openStorage(
      this.#etcd ? { servers: [this.#etcd.endpoint], prefix } : { directory: temporary() },
    );
    const keys = new Keys(testKeys());
    const server = await startApiServer({ kinds: [Fischer], storage, keys, ...options });
    this.#running.push(server);
    return server;
  }

  async stop(): Promise<void> {
    for (const server of this.#running.splice(0)) await server.stop();
    await this.#etcd?.stop();
    this.#etcd = undefined;
  }
}
