import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from '../bench.js';
import { Child } from '../child.js';
import { client } from '../flow.js';
import type { Served } from './peer.js';

/** A folder with the bench's Client in it. */
export function manifestsIn(folder: string): string {
  const manifests = join(folder, 'manifests');
  mkdirSync(manifests, { recursive: true });
  writeFileSync(
    join(manifests, 'bench.yaml'),
    `apiVersion: id.vestibule.org/v1beta1
kind: Client
metadata: { name: ${client.name} }
spec:
  displayName: The bench
  type: Public
  redirectURIs: ["${client.redirectURI}"]
  scopes: [{ name: openid, required: true }, { name: email, required: true }]
`,
  );
  return manifests;
}

/** What the image and the chart set (docs/design/performance.md#young-generation). */
const youngGeneration = '--max-semi-space-size=16';

/** The command line of the service as shipped, with nothing raised but its limits. */
export const serveCommand = (
  bench: Bench,
  folder: string,
  store: readonly string[] = ['--data-dir', join(folder, 'data')],
  port = 0,
): string[] => [
  join(bench.root, 'bin/vestibule'),
  'serve',
  '--port',
  String(port),
  '--mock-mail',
  '--limit-factor',
  '100000',
  '--manifests',
  manifestsIn(folder),
  ...store,
];

/**
 * Starts the service as shipped on the server's core; on the embedded store in `folder`, or on
 * `store`.
 */
export async function startVestibule(
  bench: Bench,
  folder: string,
  store?: readonly string[],
  port?: number,
  within: (command: readonly string[]) => string[] = (command) => [...command],
): Promise<Served> {
  const child = await Child.start({
    core: bench.layout.server,
    cwd: bench.root,
    log: bench.logFile('vestibule'),
    ipc: true,
    ready: 'ready',
    command: within([
      bench.node,
      youngGeneration,
      ...(process.env.BENCH_PROFILE
        ? ['--cpu-prof', '--cpu-prof-dir', process.env.BENCH_PROFILE]
        : []),
      '--import',
      join(import.meta.dirname, '../measure/probe.js'),
      ...serveCommand(bench, folder, store, port),
    ]),
  });
  return { child, port: Number(new URL(child.line.split(' ')[2]!).port), stop: () => child.stop() };
}
