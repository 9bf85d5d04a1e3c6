import { afterAll, beforeAll } from '@jest/globals';
import {
  type AnyKind,
  type ApiServer,
  type ApiServerOptions,
  openStorage,
  startApiServer,
} from '../../apiserver/library/index.js';
import { Keys } from '../../security/keyring.js';
import type { Storage } from '../../storage/storage.js';
import { type EtcdServer, startEtcd } from '../storage/etcd-server.js';
import { testKeys } from '../support/keys.js';
import { temporary } from '../support/service.js';

export const group = 'wardle.example.com';

/** All verbs that a kind may offer. */
export const verbs = [
  'get',
  'list',
  'watch',
  'create',
  'patch',
  'update',
  'delete',
  'deletecollection',
] as const;

/** An answer, with its body parsed if it is JSON. */
export interface Answer {
  readonly code: number;
  readonly body: any;
  readonly warning: string | null;
}

export const mediaTypes = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

/** An API server of the library on one store, for all tests of a suite. */
export class LibraryServer {
  readonly #store: string;
  readonly #options: Omit<ApiServerOptions, 'storage'>;
  readonly #directory = temporary();
  readonly #keys = new Keys(testKeys());
  #etcd: EtcdServer | undefined;
  #running: ApiServer | undefined;
  #count = 0;

  constructor(
    store: string,
    kinds: readonly AnyKind[],
    options: Omit<ApiServerOptions, 'storage' | 'kinds'> = {},
  ) {
    this.#store = store;
    this.#options = { kinds, keys: this.#keys, ...options };
    beforeAll(async () => {
      if (store === 'etcd') this.#etcd = await startEtcd();
      await this.start();
    });
    afterAll(async () => {
      await this.stop();
      await this.#etcd?.stop();
    });
  }

  get server(): ApiServer {
    return this.#running!;
  }

  /** Opens the store as another replica does; the embedded one only while the server is stopped. */
  open(): Promise<Storage> {
    return openStorage(
      this.#etcd
        ? { servers: [this.#etcd.endpoint], prefix: '/w/' }
        : { directory: this.#directory },
    );
  }

  async start(): Promise<void> {
    this.#running = await startApiServer({ ...this.#options, storage: await this.open() });
  }

  async stop(): Promise<void> {
    await this.#running?.stop();
    this.#running = undefined;
  }

  /** Starts another replica, which only etcd takes. */
  async replica(): Promise<ApiServer> {
    return startApiServer({ ...this.#options, storage: await this.open() });
  }

  /** A name that no other object of the suite has. */
  newName(): string {
    this.#count += 1;
    return `${this.#store.slice(0, 2)}-${this.#count}`;
  }

  /** One request; `path` is below the group. */
  async ask(
    method: string,
    path: string,
    body?: unknown,
    type = 'application/json',
  ): Promise<Answer> {
    const response = await fetch(`${this.server.url}/apis/${group}/${path}`, {
      method,
      ...(body !== undefined && {
        body: JSON.stringify(body),
        headers: { 'Content-Type': type },
      }),
    });
    const text = await response.text();
    return {
      code: response.status,
      body: text.startsWith('{') ? JSON.parse(text) : text,
      warning: response.headers.get('warning'),
    };
  }

  /** The type and the object of the events about a path after a version, up to its deletion. */
  async eventsUntilDeleted(path: string, from: string): Promise<[string, any][]> {
    const [version, resource, name] = path.split('/');
    const query = `watch=1&resourceVersion=${from}&fieldSelector=metadata.name%3D${name}`;
    const response = await fetch(
      `${this.server.url}/apis/${group}/${version}/${resource}?${query}`,
    );
    let text = '';
    for await (const piece of response.body!) {
      text += Buffer.from(piece as Uint8Array).toString();
      if (text.includes('"DELETED"') && text.endsWith('\n')) break;
    }
    return text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .map(({ type, object }) => [type, object]);
  }

  /** The object at a path, which must exist. */
  async get(path: string): Promise<any> {
    const { code, body } = await this.ask('GET', path);
    if (code !== 200) throw new Error(`${path}: ${body.message}`);
    return body;
  }
}
