import { join } from 'node:path';
import type { Bench } from './bench.js';
import { Child } from './child.js';
import type { Run } from './load.js';
import { memoSince } from './memo.js';
import type { Side } from './row.js';

/**
 * A side made of a load and of the server it is put to; without a server the load itself is what is
 * measured, on the server's core.
 */
export interface LoadedSide {
  readonly name: string;
  readonly server?: { readonly child: Child; stop(): Promise<void> };
  readonly load: string;
  readonly args: unknown;
  readonly warm: Side['warm'];
  /** Whether the generator may sleep: it shares its core with someone. */
  readonly sleeps?: boolean;
}

/** Starts the generator and has it make ready. */
export async function loadedSide(
  bench: Bench,
  { name, server, load, args, warm, sleeps = false }: LoadedSide,
): Promise<Side> {
  const generator = await Child.start({
    core: server ? bench.layout.client : bench.layout.server,
    command: [bench.node, join(import.meta.dirname, 'generator.js')],
    ready: 'generator',
    cwd: bench.root,
    log: bench.logFile(`${name}-load`),
    ipc: true,
  });
  const awake = server !== undefined && !sleeps;
  await generator.ask({ ask: 'prepare', load, args });
  return {
    name,
    ...(warm && { warm }),
    async sample(seconds) {
      const before = await server?.child.usage();
      const run = await generator.ask<Run>({ ask: 'run', seconds, awake });
      const after = await server?.child.usage();
      if (!before || !after) return run;
      return {
        ...run,
        cpuMicros: after.cpuMicros - before.cpuMicros,
        rss: after.rss,
        ...memoSince(before.memo, after.memo),
        client: awake ? 1 - run.idle / run.seconds : run.cpuMicros / 1e6 / run.seconds,
      };
    },
    async stop() {
      await generator.stop();
      await server?.stop();
    },
  };
}
