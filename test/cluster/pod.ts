import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { podOf, type Rendered } from './helm.js';

/** What Secrets and ConfigMaps hold that are not the chart's own, by their names and keys. */
export type Held = Readonly<Record<string, Readonly<Record<string, string | Buffer>>>>;

/**
 * The cluster that a pod is in: the port of its API server, and a folder as it is mounted for the
 * pod's service account.
 */
export interface Around {
  readonly port: number;
  readonly account: string;
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly key: string } };
}

const mount = pathToFileURL(join(import.meta.dirname, '../support/mount.mjs')).href;

function keptIn(held: Held, { name, key }: { name: string; key: string }): string {
  const found = held[name]?.[key];
  if (found === undefined) throw new Error(`the pod wants key ${key} of ${name}`);
  return found.toString();
}

/**
 * A rendered pod as a process of this machine: with its command line, its environment, and files
 * where its volumes would be mounted.
 */
export class LocalPod {
  /** The lines that say where it is. */
  readonly ready: Promise<string[]>;
  complaints = '';
  said = '';
  readonly #folder = mkdtempSync(join(tmpdir(), 'vestibule-pod-'));
  readonly #child: ChildProcess;
  readonly #ended: Promise<number | string | null>;

  constructor(program: string, objects: readonly Rendered[], held: Held, cluster?: Around) {
    const { spec } = podOf(objects);
    const [{ args, env = [], volumeMounts, ports }] = spec.containers;
    for (const { name, mountPath } of volumeMounts) {
      this.#mount(
        mountPath,
        spec.volumes?.find((volume: { name: string }) => volume.name === name),
        objects,
        held,
      );
    }
    const taken = new Set(
      ports.map(({ containerPort }: { containerPort: number }) => String(containerPort)),
    );
    const here = (text: string): string => this.here(text.replaceAll('$$(', '$('));
    const line = (args as string[])
      .map(here)
      .map((arg) =>
        arg
          .replace(/^(--(?:secure-|metrics-)?port)=(\d+)$/, (whole, flag: string, port: string) =>
            taken.has(port) ? `${flag}=0` : whole,
          )
          .replace('--bind-address=0.0.0.0', '--bind-address=127.0.0.1'),
      );
    const environment = Object.fromEntries(
      (env as Variable[]).map(({ name, value, valueFrom }) => [
        name,
        valueFrom ? keptIn(held, valueFrom.secretKeyRef) : here(value!),
      ]),
    );
    if (cluster) {
      Object.assign(environment, {
        KUBERNETES_SERVICE_HOST: '127.0.0.1',
        KUBERNETES_SERVICE_PORT: String(cluster.port),
        SERVICE_ACCOUNT: cluster.account,
        NODE_OPTIONS: `${environment.NODE_OPTIONS ?? ''} --import ${mount}`,
      });
    }
    this.#child = spawn(process.execPath, [program, ...line], {
      env: { PATH: process.env.PATH, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => resolve(code ?? signal));
    });
    this.ready = new Promise((resolve, reject) => {
      this.#child.stdout!.on('data', (text: Buffer) => {
        this.said += text.toString();
        const found = /^ready (.*)\n/m.exec(this.said);
        if (found) resolve(found[1]!.split(' '));
      });
      this.#child.stderr!.on('data', (text: Buffer) => {
        this.complaints += text.toString();
      });
      void this.#ended.then((code) =>
        reject(new Error(`it ended with ${code}: ${this.complaints}`)),
      );
    });
    this.ready.catch(() => {});
  }

  /** A text with paths of the container as they are on this machine. */
  here(text: string): string {
    return text.replaceAll(/\/(etc|var\/lib)\/vestibule/g, (path) => join(this.#folder, path));
  }

  /** SIGTERM, as a cluster sends it; how it ended. */
  async stop(): Promise<number | string | null> {
    this.#child.kill('SIGTERM');
    const code = await this.#ended;
    this.remove();
    return code;
  }

  /** Kills it and removes its folder. */
  remove(): void {
    this.#child.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /**
   * As a kubelet lays a volume out: files in a folder of their own, and links that lead there, so
   * that all of them change at once.
   */
  #mount(path: string, volume: any, objects: readonly Rendered[], held: Held): void {
    const at = join(this.#folder, path);
    mkdirSync(at, { recursive: true });
    const source = volume?.secret ?? volume?.configMap;
    if (source === undefined) return;
    const {
      secretName,
      name = secretName,
      items,
      defaultMode = 0o644,
    } = source as {
      secretName?: string;
      name?: string;
      defaultMode?: number;
      items?: readonly { key: string; path: string }[];
    };
    const known =
      held[name!] ??
      objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name)?.data;
    if (known === undefined) throw new Error(`the pod wants ${name}`);
    mkdirSync(join(at, '..1'));
    symlinkSync('..1', join(at, '..data'));
    for (const { key, path: file } of items ??
      Object.keys(known).map((key) => ({ key: key, path: key }))) {
      if (known[key] === undefined) throw new Error(`the pod wants key ${key} of ${name}`);
      writeFileSync(join(at, '..1', file), known[key]);
      chmodSync(join(at, '..1', file), defaultMode);
      symlinkSync(`..data/${file}`, join(at, file));
    }
  }
}
