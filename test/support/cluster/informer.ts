import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CustomObjectsApi,
  type Informer,
  KubeConfig,
  type KubernetesListObject,
  type KubernetesObject,
  makeInformer,
  type ObjectCache,
} from '@kubernetes/client-node';
import { makeCertificate } from './issue-certificate.js';

export const [group, version] = ['id.vestibule.org', 'v1beta1'];

/**
 * A certificate for localhost in files of a directory, and the flags that have a service prove
 * itself by it.
 */
export function servingFiles(directory: string): { cert: Buffer; flags: readonly string[] } {
  const { cert, key } = makeCertificate(['localhost'], Date.now());
  const [certFile, keyFile] = [join(directory, 'given.crt'), join(directory, 'given.key')];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key, { mode: 0o600 });
  return {
    cert: Buffer.from(cert),
    flags: ['--tls-cert-file', certFile, '--tls-private-key-file', keyFile],
  };
}

/** What a program reads from its kubeconfig: where, whom to trust, and its token. */
export function kubeConfig(server: string, ca: Buffer, token: string): KubeConfig {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: [{ name: 'test', server, caData: ca.toString('base64') }],
    users: [{ name: 'test', token }],
    contexts: [{ name: 'test', cluster: 'test', user: 'test' }],
    currentContext: 'test',
  });
  return config;
}

/** A callback as it came: of which object, in which state. */
export interface Called {
  readonly what: 'add' | 'update' | 'delete';
  readonly name: string;
  readonly uid: string;
  readonly version: number;
}

/**
 * An informer as a program uses it: started again after each error, as its documentation says. It
 * remembers what it received.
 */
export class Watched {
  readonly calls: Called[] = [];
  /** How often it listed, and how often it connected. */
  lists = 0;
  connects = 0;
  readonly errors: unknown[] = [];
  /** What it should never have received. */
  readonly faults: string[] = [];
  readonly #informer: Informer<KubernetesObject> & ObjectCache<KubernetesObject>;
  readonly #received = new Map<string, { version: number; gone: boolean }>();
  #stopped = false;

  constructor(config: KubeConfig, plural: string, labelSelector?: string) {
    const api = config.makeApiClient(CustomObjectsApi);
    const list = async (): Promise<KubernetesListObject<KubernetesObject>> => {
      this.lists += 1;
      return (await api.listClusterCustomObject({
        group,
        version,
        plural,
        ...(labelSelector && { labelSelector }),
      })) as KubernetesListObject<KubernetesObject>;
    };
    this.#informer = makeInformer(
      config,
      `/apis/${group}/${version}/${plural}`,
      list,
      labelSelector,
    );
    for (const what of ['add', 'update', 'delete'] as const) {
      this.#informer.on(what, (object) => this.#hear(what, object));
    }
    this.#informer.on('connect', () => {
      this.connects += 1;
    });
    this.#informer.on('error', (error) => {
      this.errors.push(error);
      setTimeout(() => {
        if (!this.#stopped) void this.#informer.start();
      }, 50);
    });
  }

  async start(): Promise<this> {
    await this.#informer.start();
    return this;
  }

  /** Everything it holds, by name. */
  get cache(): KubernetesObject[] {
    return [...this.#informer.list()].sort((a, b) =>
      a.metadata!.name! < b.metadata!.name! ? -1 : 1,
    );
  }

  /** What it received of one object, in order. */
  of(name: string): string[] {
    return this.calls.filter((call) => call.name === name).map(({ what }) => what);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#informer.stop();
  }

  #hear(what: Called['what'], { metadata }: KubernetesObject): void {
    const { name, uid, resourceVersion } = metadata as {
      name: string;
      uid: string;
      resourceVersion: string;
    };
    const call = { what, name, uid, version: Number(resourceVersion) };
    const before = this.#received.get(uid);
    if (
      before &&
      (before.gone ||
        (what === 'delete' ? call.version < before.version : call.version <= before.version))
    ) {
      this.faults.push(`${JSON.stringify(call)} after ${JSON.stringify(before)}`);
    }
    this.#received.set(uid, { version: call.version, gone: what === 'delete' });
    this.calls.push(call);
  }
}
