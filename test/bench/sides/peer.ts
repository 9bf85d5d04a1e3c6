import { join } from 'node:path';
import type { Bench } from '../bench.js';
import { Child } from '../child.js';

/** A server under test. */
export interface Served {
  readonly child: Child;
  readonly port: number;
  stop(): Promise<void>;
}

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
      join(import.meta.dirname, '../probe.js'),
      join(import.meta.dirname, `${name}.js`),
    ],
  });
  return { child, port: Number(child.line.split(' ')[1]), stop: () => child.stop() };
}
