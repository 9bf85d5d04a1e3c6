import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomUUID } from 'node:crypto';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CertificatePair } from '../../../cmd/vestibule/serve/tls/self-signed-certificate.js';
import { type EtcdServer, freePorts, startEtcd } from '../../storage/etcd-server.js';
import { scaled } from '../patience.js';
import { Tab } from '../people/tab.js';
import { authority, certificate, proxyOf } from './frontproxy.js';
import { clientAuth, serverAuth } from './issue-certificate.js';
import { Kubectl } from './kubectl.js';

/**
 * Where the binaries are that hack/tools/kubernetes/build makes; the suites of test/cluster are run
 * by a command that says so.
 */
const binaries = process.env.KUBERNETES_BIN ?? '';

/** Who asks the cluster, and in which of its groups they are. */
const users = {
  admin: ['system:masters'],
  clerk: ['clerks'],
  ada: [],
  'system:kube-controller-manager': [],
} as const;
export type User = keyof typeof users;

/**
 * Reads until it holds, over minutes where need be: what follows in a cluster follows in its own
 * time.
 */
export async function eventually<T>(
  look: () => PromiseLike<T>,
  holds: (seen: T) => boolean,
  milliseconds = 120_000,
): Promise<T> {
  for (const end = Date.now() + scaled(milliseconds); ; ) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (Date.now() > end) {
      throw new Error(`it never came about: ${JSON.stringify(seen)?.slice(0, 1_500)}`);
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 100);
    });
  }
}

/** A program that was started, with a file of what it says. */
class Program {
  readonly #child: ChildProcess;
  readonly #file: string;

  constructor(name: string, folder: string, flags: readonly string[]) {
    this.#file = join(folder, `${name}.log`);
    const log = openSync(this.#file, 'w');
    this.#child = spawn(join(binaries, name), flags, {
      stdio: ['ignore', log, log],
      env: { PATH: process.env.PATH, HOME: folder },
    });
    this.#child.once('error', () => {});
    closeSync(log);
  }

  get log(): string {
    return readFileSync(this.#file, 'utf8');
  }
  get ended(): boolean {
    return (
      this.#child.pid === undefined ||
      this.#child.exitCode !== null ||
      this.#child.signalCode !== null
    );
  }

  async end(): Promise<void> {
    if (this.ended) return;
    const gone = new Promise((resolve) => {
      this.#child.once('exit', resolve);
    });
    this.#child.kill('SIGKILL');
    await gone;
  }
}

/**
 * A real kube-apiserver on an etcd of its own: on loopback, with RBAC, service accounts, and a
 * front proxy that proves itself.
 */
export class KubeAPIServer {
  readonly url: string;
  readonly port: number;
  /** Whom its own certificate is signed by, PEM. */
  readonly ca: string;
  /** The authority of its users' certificates: not that of front proxies. */
  readonly clients: CertificatePair;
  /** What the front proxy proves itself by now, and who signed that. */
  front: { readonly authority: CertificatePair; readonly proxy: CertificatePair };
  readonly folder = mkdtempSync(join(tmpdir(), 'vestibule-cluster-'));
  readonly etcd: EtcdServer;
  readonly #tokens = Object.fromEntries(
    Object.keys(users).map((user) => [user, randomUUID()]),
  ) as Record<User, string>;
  readonly #made: Kubectl[] = [];
  #server: Program | undefined;
  #controllers: Program | undefined;

  private constructor(etcd: EtcdServer, port: number) {
    this.etcd = etcd;
    this.port = port;
    this.url = `https://127.0.0.1:${port}`;
    const signer = authority('kubernetes');
    this.ca = signer.cert;
    this.clients = authority('kubernetes-clients');
    const front = authority('front-proxy');
    this.front = { authority: front, proxy: proxyOf(front) };
    this.#pair(
      'serving',
      certificate('kube-apiserver', signer, {
        usages: [serverAuth],
        names: ['127.0.0.1', 'localhost', 'kubernetes.default.svc'],
      }),
    );
    this.#pair('proxy', this.front.proxy);
    for (const [name, text] of Object.entries({
      'ca.crt': signer.cert,
      'clients.crt': this.clients.cert,
      'front.crt': front.cert,
    })) {
      this.write(name, text);
    }
    const { privateKey, publicKey } = generateKeyPairSync('rsa', {
      modulusLength: 2048,
      privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    this.write('accounts.key', privateKey);
    this.write('accounts.pub', publicKey);
    this.write(
      'tokens.csv',
      Object.entries(users)
        .map(
          ([user, groups]) =>
            `${this.#tokens[user as User]},${user},uid-${user},"${groups.join()}"\n`,
        )
        .join(''),
    );
  }

  /**
   * Starts etcd and it, perhaps with further flags; resolves once it is ready and has its own roles
   * and namespaces.
   */
  static async start(more: readonly string[] = []): Promise<KubeAPIServer> {
    if (binaries === '') {
      throw new Error(
        'KUBERNETES_BIN does not say where kube-apiserver is: run this by hack/test-cluster',
      );
    }
    const [etcd, [port]] = await Promise.all([startEtcd(), freePorts(1)]);
    const cluster = new KubeAPIServer(etcd, port!);
    try {
      cluster.#server = new Program('kube-apiserver', cluster.folder, [
        ...cluster.#flags(),
        ...more,
      ]);
      const ready = async (): Promise<number> => {
        if (cluster.#server!.ended) {
          throw new Error(`kube-apiserver ended: ${cluster.log.slice(-3_000)}`);
        }
        const codes = await Promise.all(
          [
            '/readyz',
            '/api/v1/namespaces/kube-system',
            '/apis/rbac.authorization.k8s.io/v1/namespaces/kube-system/roles/extension-apiserver-authentication-reader',
          ].map((path) =>
            cluster
              .as('admin')
              .get(path, { plain: true })
              .then(
                ({ code }) => code,
                () => 0,
              ),
          ),
        );
        return Math.max(...codes.map((code) => (code === 200 ? 0 : 1)));
      };
      await eventually(ready, (wrong) => wrong === 0);
    } catch (error) {
      await cluster.stop();
      throw error;
    }
    return cluster;
  }

  /** Everything it has logged. */
  get log(): string {
    return this.#server?.log ?? '';
  }
  /** Everything its controllers have logged. */
  get controllersLog(): string {
    return this.#controllers?.log ?? '';
  }

  /** A user's program at it. */
  as(user: User): Tab {
    const tab = new Tab(this.url, this.url);
    tab.tls = { ca: this.ca };
    tab.headers = { authorization: `Bearer ${this.#tokens[user]}` };
    return tab;
  }

  token(user: User): string {
    return this.#tokens[user];
  }

  /** A user's kubectl; without one, that of anyone who has yet to say who they are. */
  kubectl(user?: User): Kubectl {
    this.#made.push(
      new Kubectl(
        { version: '', path: join(binaries, 'kubectl') },
        { url: this.url, ca: Buffer.from(this.ca) },
        user && this.#tokens[user],
      ),
    );
    return this.#made.at(-1)!;
  }

  /** Makes objects as an administrator, each by the path of its collection. */
  async create(path: string, object: object): Promise<any> {
    return (await this.as('admin').post(path, object, { plain: true }).is(201)).body;
  }

  /** A user's kubeconfig, as a file. */
  config(user: User): string {
    const name = `${user.replaceAll(':', '-')}.json`;
    this.write(
      name,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'it',
        contexts: [{ name: 'it', context: { cluster: 'it', user: 'it' } }],
        clusters: [
          {
            name: 'it',
            cluster: {
              server: this.url,
              'certificate-authority-data': Buffer.from(this.ca).toString('base64'),
            },
          },
        ],
        users: [{ name: 'it', user: { token: this.#tokens[user] } }],
      }),
    );
    return join(this.folder, name);
  }

  /** A folder as Kubernetes mounts it into the pods of a service account. */
  async mount(namespace: string, account: string): Promise<string> {
    const { status } = await this.create(
      `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
      {
        apiVersion: 'authentication.k8s.io/v1',
        kind: 'TokenRequest',
        spec: { expirationSeconds: 7_200 },
      },
    );
    const folder = mkdtempSync(join(this.folder, 'account-'));
    writeFileSync(join(folder, 'token'), status.token);
    writeFileSync(join(folder, 'ca.crt'), this.ca);
    return folder;
  }

  /** Says whom extension servers are to believe from now on: authorities, PEM. */
  believe(authorities: string): void {
    this.write('front.crt', authorities);
  }

  /** Has the front proxy prove itself by something else. */
  prove(front: { readonly authority: CertificatePair; readonly proxy: CertificatePair }): void {
    this.front = front;
    this.#pair('proxy', front.proxy);
  }

  /**
   * Starts controllers as kubeadm's clusters run them, each with a service account of its own: the
   * garbage collector and that of namespaces, unless others are meant.
   */
  startControllers(names = 'garbage-collector-controller,namespace-controller'): void {
    const at = (name: string): string => join(this.folder, name);
    this.#controllers = new Program('kube-controller-manager', this.folder, [
      '--kubeconfig',
      this.config('system:kube-controller-manager'),
      '--controllers',
      names,
      '--use-service-account-credentials=true',
      '--leader-elect=false',
      '--secure-port=0',
      '--service-account-private-key-file',
      at('accounts.key'),
      '--root-ca-file',
      at('ca.crt'),
      '--v=2',
    ]);
  }

  async stopControllers(): Promise<void> {
    await this.#controllers?.end();
  }

  async stop(): Promise<void> {
    await this.#controllers?.end();
    await this.#server?.end();
    await this.etcd.stop();
    for (const one of this.#made) one.remove();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** A file in its folder, whole at any time. */
  write(name: string, text: string): void {
    const file = join(this.folder, name);
    writeFileSync(`${file}.new`, text, { mode: 0o600 });
    renameSync(`${file}.new`, file);
  }

  /** Both files of a pair; the key first, since the certificate is what is looked at. */
  #pair(name: string, { cert, key }: CertificatePair): void {
    this.write(`${name}.key`, key);
    this.write(`${name}.crt`, cert);
  }

  #flags(): string[] {
    const at = (name: string): string => join(this.folder, name);
    return [
      '--etcd-servers',
      this.etcd.endpoint,
      '--bind-address=127.0.0.1',
      '--advertise-address=127.0.0.1',
      '--endpoint-reconciler-type=none',
      '--secure-port',
      String(this.port),
      '--cert-dir',
      this.folder,
      '--tls-cert-file',
      at('serving.crt'),
      '--tls-private-key-file',
      at('serving.key'),
      '--service-cluster-ip-range=10.0.0.0/24,fd00:10::/112',
      '--authorization-mode=RBAC',
      '--client-ca-file',
      at('clients.crt'),
      '--token-auth-file',
      at('tokens.csv'),
      '--service-account-issuer=https://kubernetes.default.svc',
      '--service-account-key-file',
      at('accounts.pub'),
      '--service-account-signing-key-file',
      at('accounts.key'),
      '--requestheader-client-ca-file',
      at('front.crt'),
      '--requestheader-allowed-names=front-proxy-client',
      '--requestheader-username-headers=X-Remote-User',
      '--requestheader-group-headers=X-Remote-Group',
      '--requestheader-extra-headers-prefix=X-Remote-Extra-',
      '--requestheader-uid-headers=X-Remote-Uid',
      '--proxy-client-cert-file',
      at('proxy.crt'),
      '--proxy-client-key-file',
      at('proxy.key'),
      '--v=2',
    ];
  }
}

/** A certificate of one of a cluster's users. */
export const userOf = (by: CertificatePair, name: string): CertificatePair =>
  certificate(name, by, { usages: [clientAuth] });
