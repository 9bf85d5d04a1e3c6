import { join } from 'node:path';
import { answers } from '../answers.js';
import type { Bench } from '../bench.js';
import { Child, type Usage } from '../child.js';

/** A server under test. */
export interface Served {
  readonly child: Child;
  readonly port: number;
  /** What all its processes used so far, where it may have more than one or cannot be asked. */
  usage?(): Promise<Usage>;
  stop(): Promise<void>;
}

/** Where a server that is started again and again listens, and what it answers first. */
export interface Address {
  readonly port: number;
  /** The path of its OpenID configuration. */
  readonly path: string;
}

/** Starts a program on the server's core and waits until it answers. */
export async function startProgram(
  bench: Bench,
  { port, path }: Address,
  command: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Served> {
  const child = await Child.start({
    core: bench.layout.server,
    cwd: bench.folder,
    log: bench.logFile(command.at(-1)!.slice(-40)),
    ipc: false,
    ready: () => answers(port, path),
    environment,
    command,
  });
  return { child, port, stop: () => child.stop() };
}

/** The command of one of the small servers of this folder. */
export const peerCommand = (bench: Bench, name: string): string[] => [
  bench.node,
  '--disable-warning=ExperimentalWarning',
  join(import.meta.dirname, `${name}.js`),
];

/** Starts one of the small servers of this folder on the server's core. */
export async function startPeer(
  bench: Bench,
  name: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Served> {
  const child = await Child.start({
    core: bench.layout.server,
    cwd: bench.root,
    log: bench.logFile(name),
    ipc: true,
    ready: 'ready',
    environment,
    command: [
      bench.node,
      '--disable-warning=ExperimentalWarning',
      '--import',
      join(import.meta.dirname, '../measure/probe.js'),
      join(import.meta.dirname, `${name}.js`),
    ],
  });
  return { child, port: Number(child.line.split(' ')[1]), stop: () => child.stop() };
}
