import { execFileSync } from 'node:child_process';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newKeys } from '../../security/keyring.js';
import { makeCertificates } from '../storage/cases/certificates.js';
import { type EtcdServer, startEtcd } from '../storage/etcd-server.js';
import { program as builtProgram } from '../support/command.js';
import type { Rendered } from './helm.js';
import { type Around, type Held, LocalPod } from './pod.js';

/**
 * What a release finds where it is installed, as far as this machine has it: Secrets, an etcd that
 * asks for certificates, a collector of traces; and the pods that are started there.
 */
export class Surroundings {
  readonly held: Held;
  readonly certificates = makeCertificates();
  readonly #pods: LocalPod[] = [];
  readonly #servers: EtcdServer[] = [];
  readonly #collectors: Server[] = [];
  readonly #program: string;

  /** Pods run `program`: that of the build, unless it is another one. */
  constructor(program = builtProgram) {
    this.#program = program;
    const keys = JSON.stringify(newKeys());
    const mail = 'smtp://127.0.0.1:1';
    const { ca, cert, key } = this.certificates.pem;
    const serving = { 'tls.crt': cert, 'tls.key': key };
    this.held = {
      'vestibule-etcd': { 'ca.crt': ca, ...serving },
      'front-door-tls': serving,
      'vestibule-serving': serving,
      'vestibule-keys': { 'keys.json': keys, 'all.json': keys },
      'vestibule-mail': { 'smtp-url': mail, url: mail },
      'front-proxies': { 'requestheader-client-ca-file': ca },
      'own-authority': { 'ca.crt': ca },
      'etcd-user': userOfEtcd,
      collector: { headers: 'authorization=Bearer%20one', token: 'authorization=Bearer%20two' },
    };
  }

  /** Where a new etcd is, which asks for certificates; with `users`, for the user of the Secret, too. */
  async etcd({ users = false } = {}): Promise<string> {
    const { files } = this.certificates;
    const server = await startEtcd(
      [
        `--trusted-ca-file=${files.ca}`,
        `--cert-file=${files.cert}`,
        `--key-file=${files.key}`,
        '--client-cert-auth',
      ],
      'https',
    );
    this.#servers.push(server);
    if (users) this.#requireUsers(server.endpoint);
    return server.endpoint;
  }

  /** Turns authentication on; the user of the Secret may do everything. */
  #requireUsers(endpoint: string): void {
    const { ca, cert, key } = this.certificates.files;
    const connection = [
      `--cacert=${ca}`,
      `--cert=${cert}`,
      `--key=${key}`,
      `--endpoints=${endpoint}`,
    ];
    const { name, password } = userOfEtcd;
    for (const [user, secret] of [
      ['root', 'of no one who signs in here'],
      [name, password],
    ] as const) {
      etcdctl(connection, 'user', 'add', `${user}:${secret}`);
      etcdctl(connection, 'user', 'grant-role', user, 'root');
    }
    etcdctl(connection, 'auth', 'enable');
  }

  /**
   * Where a new collector of traces is, and everything that it is sent: path, credential, service
   * and names of spans.
   */
  async collector(): Promise<{ readonly endpoint: string; readonly sent: readonly Sent[] }> {
    const sent: Sent[] = [];
    const server = createServer((req, res) => {
      const chunks: Buffer[] = [];
      req
        .on('data', (chunk: Buffer) => chunks.push(chunk))
        .on('end', () => {
          for (const { resource, scopeSpans } of JSON.parse(Buffer.concat(chunks).toString())
            .resourceSpans) {
            const { value } = resource.attributes.find(
              ({ key }: { key: string }) => key === 'service.name',
            );
            sent.push({
              path: req.url!,
              authorization: req.headers.authorization,
              service: value.stringValue,
              spans: scopeSpans.flatMap(({ spans }: { spans: { name: string }[] }) =>
                spans.map(({ name }) => name),
              ),
            });
          }
          res.writeHead(200, { 'content-type': 'application/json' }).end('{}');
        });
    });
    this.#collectors.push(server);
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    return { endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent };
  }

  /** Starts the workload's pod, which finds its own Secrets or those of `held`. */
  start(objects: readonly Rendered[], cluster?: Around, held: Held = this.held): LocalPod {
    const pod = new LocalPod(this.#program, objects, held, cluster);
    this.#pods.push(pod);
    return pod;
  }

  /** Ends every pod and server. */
  async end(): Promise<void> {
    for (const pod of this.#pods) pod.remove();
    for (const server of this.#servers) await server.stop();
    for (const collector of this.#collectors) {
      collector.closeAllConnections();
      collector.close();
    }
    this.certificates.remove();
  }
}

const userOfEtcd = { name: 'identity', password: 'of identity: @ll signs' };

const etcdctl = (connection: readonly string[], ...command: string[]): void => {
  execFileSync('etcdctl', [...connection, ...command], {
    env: { ...process.env, ETCDCTL_API: '3' },
  });
};

/** One message to a collector. */
export interface Sent {
  readonly path: string;
  readonly authorization: string | undefined;
  readonly service: string;
  readonly spans: readonly string[];
}
