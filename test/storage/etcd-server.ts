import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtemp, rm, statfs } from 'node:fs/promises';
import { request } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { timed } from '../support/timed.js';

/** A real etcd on a free loopback port, with its data in a temporary folder. */
export interface EtcdServer {
  readonly endpoint: string;
  /** Where it listens for its peers. */
  readonly peerUrl: string;
  /** Where its own metrics are. */
  readonly metricsUrl: string;
  readonly version: string;
  /** The process now running. */
  readonly pid: number;
  /** Ends it and removes its data. */
  stop(): Promise<void>;
  /** SIGKILL; its data stays for restart. */
  kill(): Promise<void>;
  /** Starts it again on the same port with the same data, killing it first when it still runs. */
  restart(): Promise<void>;
}

/** The etcd of the tests, which Jest's global setup finds. */
const foundEtcd = process.env['VESTIBULE_TEST_ETCD'] ?? 'etcd';

/**
 * Starts one etcd with further flags; `scheme` https needs the certificate flags among them.
 * `binary` is another than that of the tests.
 */
export async function startEtcd(
  flags: readonly string[] = [],
  scheme: 'http' | 'https' = 'http',
  binary = foundEtcd,
): Promise<EtcdServer> {
  const [server] = await startMembers(1, flags, scheme, undefined, binary);
  return server!;
}

/**
 * Starts a cluster of three; `reachedAt` says by which port the others reach one that listens for
 * its peers on a port, where that is another.
 */
export const startEtcdCluster = (
  flags: readonly string[] = [],
  reachedAt?: (port: number) => Promise<number>,
): Promise<EtcdServer[]> => startMembers(3, flags, 'http', reachedAt);

async function startMembers(
  count: number,
  flags: readonly string[],
  scheme: string,
  reachedAt = (port: number) => Promise.resolve(port),
  binary = foundEtcd,
): Promise<EtcdServer[]> {
  const ports = await freePorts(3 * count);
  const local = (port: number): string => `http://127.0.0.1:${port}`;
  const advertised = await Promise.all(
    ports.slice(0, count).map(async (port) => local(await reachedAt(port))),
  );
  const cluster = advertised.map((url, i) => `m${i}=${url}`).join();
  return timed('etcd', () =>
    Promise.all(
      advertised.map((advertisedUrl, i) =>
        startMember(
          {
            binary,
            name: `m${i}`,
            cluster,
            peerUrl: local(ports[i]!),
            advertisedUrl,
            endpoint: `${scheme}://127.0.0.1:${ports[count + i]}`,
            metricsUrl: local(ports[2 * count + i]!),
          },
          flags,
        ),
      ),
    ),
  );
}

interface Place {
  readonly binary: string;
  readonly name: string;
  readonly cluster: string;
  readonly peerUrl: string;
  readonly advertisedUrl: string;
  readonly endpoint: string;
  readonly metricsUrl: string;
}

async function startMember(
  { binary, name, cluster, peerUrl, advertisedUrl, endpoint, metricsUrl }: Place,
  flags: readonly string[],
): Promise<EtcdServer> {
  const directory = await mkdtemp(
    join((await roomy('/dev/shm')) ? '/dev/shm' : tmpdir(), 'vestibule-etcd-'),
  );
  const all = [
    `--name=${name}`,
    `--data-dir=${directory}`,
    `--listen-client-urls=${endpoint}`,
    `--advertise-client-urls=${endpoint}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${advertisedUrl}`,
    `--initial-cluster=${cluster}`,
    `--listen-metrics-urls=${metricsUrl}`,
    '--log-level=error',
    '--logger=zap',
    ...flags,
  ];
  let child = await launch(binary, all, metricsUrl);
  const kill = (): Promise<void> => end(child, 'SIGKILL');
  return {
    endpoint,
    peerUrl,
    metricsUrl,
    version: etcdVersion(binary) ?? 'unknown',
    get pid() {
      return child.pid!;
    },
    kill,
    async stop() {
      await kill();
      await rm(directory, { recursive: true, force: true });
    },
    async restart() {
      await kill();
      child = await launch(binary, all, metricsUrl);
    },
  };
}

/**
 * Whether two gibibytes fit. In memory no other program's writes hold etcd's up past a deadline;
 * what is in it outlives a kill, as on a disk.
 */
async function roomy(folder: string): Promise<boolean> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize > 2 ** 31;
  } catch {
    return false;
  }
}

async function launch(
  binary: string,
  flags: readonly string[],
  metricsUrl: string,
): Promise<ChildProcess> {
  const child = spawn(binary, flags, { stdio: ['ignore', 'ignore', 'pipe'] });
  let complaints = '';
  child.stderr!.on('data', (text: Buffer) => {
    complaints = (complaints + text.toString()).slice(-4000);
  });
  const failed = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      reject(new Error(`etcd ended (${code ?? signal}): ${complaints}`));
    });
  });
  failed.catch(() => undefined);
  while (!(await Promise.race([healthy(metricsUrl), failed]))) {
    await Promise.race([pause(20), failed]);
  }
  return child;
}

function healthy(metricsUrl: string): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request(`${metricsUrl}/health`, (answer) => {
      answer.resume();
      resolve(answer.statusCode === 200);
    });
    asked.on('error', () => {
      resolve(false);
    });
    asked.end();
  });
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = new Promise((resolve) => {
    child.once('exit', resolve);
  });
  child.kill(signal);
  await exited;
}

/** Returns the version of an etcd, or undefined where there is none. */
export const etcdVersion = (binary = foundEtcd): string | undefined =>
  /etcd Version: (\S+)/.exec(
    spawnSync(binary, ['--version'], { encoding: 'utf8' }).stdout ?? '',
  )?.[1];

/**
 * Ports that are free now, below those that the system gives to connections: none of these takes
 * one before it is listened on, or while a killed server is away.
 */
export async function freePorts(count: number): Promise<number[]> {
  const held: Server[] = [];
  while (held.length < count) {
    const server = await holding(20_000 + Math.floor(Math.random() * 12_000));
    if (server) held.push(server);
  }
  const ports = held.map((server) => (server.address() as AddressInfo).port);
  await Promise.all(
    held.map(
      (server) =>
        new Promise((resolve) => {
          server.close(resolve);
        }),
    ),
  );
  return ports;
}

/** A server on this port, or undefined where it is taken. */
const holding = (port: number): Promise<Server | undefined> =>
  new Promise((resolve, reject) => {
    const server = createServer().once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') {
        resolve(undefined);
      } else {
        reject(error);
      }
    });
    server.listen(port, '127.0.0.1', () => {
      resolve(server);
    });
  });

/** A request to etcd's authentication: the path below `/v3/auth/`, and its body. */
export type AuthRequest = readonly [path: string, body: object];

const root = { name: 'root', password: 'of no one who signs in here' };

/**
 * Turns authentication on, so that every client needs a user, after other requests about users and
 * roles.
 */
export async function requireUsers(
  endpoint: string,
  requests: readonly AuthRequest[] = [],
): Promise<void> {
  for (const request of [
    ['user/add', root],
    ['role/add', { name: 'root' }],
    ['user/grant', { user: 'root', role: 'root' }],
    ...requests,
    ['enable', {}],
  ] as const) {
    await askAuth(endpoint, request);
  }
}

/** Sends requests about users and roles as root, where authentication is on. */
export async function changeUsers(
  endpoint: string,
  requests: readonly AuthRequest[],
): Promise<void> {
  const { token } = await askAuth(endpoint, ['authenticate', root]);
  for (const request of requests) await askAuth(endpoint, request, token);
}

async function askAuth(
  endpoint: string,
  [path, body]: AuthRequest,
  token?: string,
): Promise<{ token?: string }> {
  const response = await fetch(`${endpoint}/v3/auth/${path}`, {
    method: 'POST',
    body: JSON.stringify(body),
    ...(token !== undefined && { headers: { authorization: token } }),
  });
  if (response.status !== 200) throw new Error(`${path}: ${response.status}`);
  return (await response.json()) as { token?: string };
}
