import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CertificatePair } from '../../../cmd/vestibule/serve/tls/self-signed-certificate.js';
import { authority, certificate } from './frontproxy.js';
import { serverAuth } from './issue-certificate.js';

const [path, name] = [
  '/api/v1/namespaces/kube-system/configmaps',
  'extension-apiserver-authentication',
];

interface Change {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly version: number;
  readonly data: Readonly<Record<string, string>>;
}

/**
 * A kube-apiserver as far as one ConfigMap goes: over TLS, for its token alone, listed and watched
 * from a version, the history of which may be forgotten.
 */
export class KubeAPI {
  /** A pod's service account, as it is mounted. */
  readonly folder = mkdtempSync(join(tmpdir(), 'vestibule-test-'));
  /**
   * What was asked, one after another: `list`, or `watch <version>`, with the code of the answer.
   */
  readonly asked: string[] = [];
  /** Answers with this code instead, and a Status. */
  failing: number | undefined;
  token = 'first';
  readonly #server: Server;
  readonly #watches = new Map<ServerResponse, number>();
  readonly #changes: Change[] = [];
  #version = 100;
  #forgotten = 0;
  #port = 0;

  constructor() {
    const signer = authority('kubernetes');
    const pair: CertificatePair = certificate('kube-apiserver', signer, {
      usages: [serverAuth],
      names: ['127.0.0.1', 'localhost'],
    });
    this.write('ca.crt', signer.cert);
    this.write('token', `${this.token}\n`);
    this.#server = createServer(pair, (req, res) => this.#answer(req, res));
  }

  get environment(): Record<string, string> {
    return { KUBERNETES_SERVICE_HOST: '127.0.0.1', KUBERNETES_SERVICE_PORT: String(this.#port) };
  }
  get watching(): number {
    return this.#watches.size;
  }

  /** Begins to answer, again at the same port where it did before. */
  async listen(): Promise<this> {
    await new Promise<void>((resolve) => {
      this.#server.listen(this.#port, '127.0.0.1', resolve);
    });
    this.#port = (this.#server.address() as AddressInfo).port;
    return this;
  }

  async hang(): Promise<void> {
    const closed = new Promise((resolve) => {
      this.#server.close(resolve);
    });
    this.#server.closeAllConnections();
    await closed;
  }

  async stop(): Promise<void> {
    await this.hang();
    rmSync(this.folder, { recursive: true });
  }

  /** A file of the service account, whole at any time. */
  write(file: string, text: string): void {
    writeFileSync(join(this.folder, `${file}.new`), text);
    renameSync(join(this.folder, `${file}.new`), join(this.folder, file));
  }

  /** What the ConfigMap says from now on; undefined takes it away. */
  say(data: Readonly<Record<string, string>> | undefined): void {
    const last = this.#changes.at(-1);
    const there = last !== undefined && last.type !== 'DELETED';
    const type = there ? 'MODIFIED' : 'ADDED';
    this.#changes.push({
      type: data === undefined ? 'DELETED' : type,
      version: (this.#version += 1),
      data: data ?? last!.data,
    });
    for (const [res, from] of this.#watches) this.#tell(res, from);
  }

  /** Ends what is watched: cleanly, in the midst of a line, or as too old. */
  end(how: 'cleanly' | 'cut' | 'too old'): void {
    for (const res of this.#watches.keys()) {
      this.#watches.delete(res);
      if (how === 'too old') {
        res.end(`${JSON.stringify({ type: 'ERROR', object: expired })}\n`);
      } else if (how === 'cleanly') {
        res.end();
      } else {
        res.write('{"type":"MODIFIED","obj');
        res.destroy();
      }
    }
  }

  /** Moves the version on without a change, and says so to those who watch. */
  mark(): void {
    this.#version += 1;
    for (const res of this.#watches.keys()) {
      res.write(
        `${JSON.stringify({ type: 'BOOKMARK', object: { kind: 'ConfigMap', apiVersion: 'v1', metadata: { resourceVersion: String(this.#version) } } })}\n`,
      );
    }
  }

  /** Keeps no change so far. */
  forget(): void {
    this.#forgotten = this.#version += 1;
  }

  #answer(req: IncomingMessage, res: ServerResponse): void {
    const url = new URL(req.url!, 'https://localhost');
    const query = Object.fromEntries(url.searchParams);
    const isRight =
      req.method === 'GET' &&
      url.pathname === path &&
      query.fieldSelector === `metadata.name=${name}`;
    const code =
      req.headers.authorization !== `Bearer ${this.token}`
        ? 401
        : (this.failing ?? (isRight ? 200 : 404));
    this.asked.push(
      `${query.watch === 'true' ? `watch ${query.resourceVersion}` : 'list'} ${code}`,
    );
    res.writeHead(code, { 'content-type': 'application/json' });
    if (code !== 200) {
      return void res.end(
        JSON.stringify({
          kind: 'Status',
          apiVersion: 'v1',
          status: 'Failure',
          code,
          message: `no: ${code}`,
        }),
      );
    }
    if (query.watch === 'true') return this.#watch(Number(query.resourceVersion), res);
    const last = this.#changes.at(-1);
    res.end(
      JSON.stringify({
        kind: 'ConfigMapList',
        apiVersion: 'v1',
        metadata: { resourceVersion: String(this.#version) },
        items: last && last.type !== 'DELETED' ? [objectOf(last)] : [],
      }),
    );
  }

  #watch(from: number, res: ServerResponse): void {
    if (from < this.#forgotten) {
      return void res.end(`${JSON.stringify({ type: 'ERROR', object: expired })}\n`);
    }
    res.flushHeaders();
    res.on('close', () => this.#watches.delete(res));
    this.#tell(res, from);
  }

  #tell(res: ServerResponse, from: number): void {
    for (const change of this.#changes.filter(({ version }) => version > from)) {
      res.write(`${JSON.stringify({ type: change.type, object: objectOf(change) })}\n`);
    }
    this.#watches.set(res, this.#version);
  }
}

const expired = {
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  reason: 'Expired',
  code: 410,
  message: 'too old resource version',
};
const objectOf = ({ version, data }: Change): unknown => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name, namespace: 'kube-system', resourceVersion: String(version) },
  data,
});
