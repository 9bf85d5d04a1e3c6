import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as http } from 'node:http';
import { request as https } from 'node:https';
import { join } from 'node:path';
import { makeCertificate } from '../../support/cluster/issue-certificate.js';
import { scaled } from '../../support/patience.js';
import { Tab } from '../../support/people/tab.js';
import { group } from '../fixture.js';

const root = join(import.meta.dirname, '../../..');
export const plain = { plain: true } as const;

/** Certificate of everything on this machine that is started here. */
export const serving = makeCertificate(['localhost', '127.0.0.1'], Date.now());

/** A server, or what a cluster needs besides, that was started. */
export interface Started {
  readonly child: ChildProcess;
  /** From the command to the first 200, in milliseconds. */
  readonly ms: number;
  /** The CPU time until then, in milliseconds. */
  readonly cpuMs: number;
}

/** Starts a program and waits for the first 200 of `/readyz`. */
export async function start(
  [command, ...args]: readonly [string, ...string[]],
  environment: NodeJS.ProcessEnv,
  url: string,
): Promise<Started> {
  const { NODE_OPTIONS: _, ...inherited } = process.env;
  const began = performance.now();
  const child = spawn(command, args, { cwd: root, env: { ...inherited, ...environment } });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      text = (text + chunk.toString()).slice(-4_000);
    });
  }
  await becomes(200, trusting(url), '/readyz', () => child.exitCode !== null).catch((error) => {
    child.kill('SIGKILL');
    throw new Error(`${command}: ${error.message}: ${text}`);
  });
  return { child, ms: performance.now() - began, cpuMs: cpuOf(child) };
}

/** Resolves once the answer of a path has a code; throws after a minute, or if there will be none. */
export async function becomes(
  code: number,
  tab: Tab,
  path: string,
  hasEnded: () => boolean = () => false,
): Promise<void> {
  for (const end = Date.now() + scaled(60_000); ; ) {
    const seen = await tab.get(path, plain).then(
      (answer) => answer.code,
      () => 0,
    );
    if (seen === code) return;
    if (hasEnded() || Date.now() > end) throw new Error(`${path} answered ${seen}, not ${code}`);
    await new Promise((resolve) => {
      setTimeout(resolve, 2);
    });
  }
}

/** Returns a client of a server that has the certificate. */
export function trusting(url: string): Tab {
  const tab = new Tab(url, url);
  tab.tls = { ca: serving.cert };
  return tab;
}

/** The two kinds, served in one of the ways. */
export interface Way {
  readonly name: string;
  /** Paths of the collections, below `/apis/wardle.example.com/`. */
  readonly flunders: string;
  readonly fischers: string;
  /** The body of a Fischer that disallows names. */
  readonly fischer: (name: string, disallowedFlunders: readonly string[]) => object;
  /** Starts the program. */
  readonly start: () => Promise<Started>;
  /** Declares the kinds to a running program once more; the milliseconds until both can be listed. */
  readonly declare?: () => Promise<number>;
  /** A client that may do everything. */
  readonly client: () => Tab;
}

/** Returns the way of this core, on a store that the environment of the program names. */
export function ownWay(name: string, port: number, environment: () => NodeJS.ProcessEnv): Way {
  const url = `http://127.0.0.1:${port}`;
  return {
    name,
    flunders: 'v1beta1/namespaces/default/flunders',
    fischers: 'v1beta1/fischers',
    fischer: (fischer, disallowedFlunders) => ({
      apiVersion: `${group}/v1beta1`,
      kind: 'Fischer',
      metadata: { name: fischer },
      spec: { disallowedFlunders },
    }),
    start: () =>
      start(
        [process.execPath, 'test/library/wardle/server.ts'],
        { PORT: String(port), ...environment() },
        url,
      ),
    client: () => new Tab(url, url),
  };
}

/** CPU time of a program with all its threads, in milliseconds: ticks of 10 ms (proc_pid_stat(5)). */
function cpuOf({ pid }: ChildProcess): number {
  const [, rest] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const fields = rest!.split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/** Reads an answer that is no document, such as a watch; its text so far if it does not end in ten seconds. */
export const textOf = ({ base, tls, headers }: Tab, path: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const send = base.startsWith('https:') ? https : http;
    const signal = AbortSignal.timeout(scaled(10_000));
    let text = '';
    const request = send(base + path, { ...tls, headers, signal, agent: false }, (answer) => {
      answer.on('data', (chunk: Buffer) => {
        text += chunk.toString();
      });
      answer.once('error', () => resolve(text)).once('end', () => resolve(text));
    });
    request.once('error', reject).end();
  });

/** Resident memory of a program, in MB. */
export const memoryOf = ({ child }: Started): number =>
  Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))![1]) / 1_000;

/** Ends a program. */
export async function end({ child }: Started): Promise<void> {
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}
