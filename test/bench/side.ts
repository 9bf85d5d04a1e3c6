import { join } from 'node:path';
import type { Bench } from './bench.js';
import { Child, type Usage } from './child.js';
import type { Run } from './load.js';
import { memoSince } from './memo.js';
import type { Side } from './row.js';

/**
 * A side made of a load and of the server it is put to; without a server the load itself is what is
 * measured, on the server's core.
 */
export interface LoadedSide {
  readonly name: string;
  /** What kind of operation it is about, of a load that has kinds. */
  readonly kind?: string;
  readonly server?: {
    readonly child: Child;
    usage?(): Promise<Usage>;
    stop(): Promise<void>;
  };
  readonly load: string;
  readonly args: unknown;
  readonly warm: Side['warm'];
  /** Whether the generator may sleep: it shares its core with someone. */
  readonly sleeps?: boolean;
}

/** Starts the generator and has it make ready. */
export const loadedSide = async (bench: Bench, side: LoadedSide): Promise<Side> =>
  (await loadedSides(bench, side, [side]))[0]!;

/** One side for each name and kind of operation, all of them made by the same generator. */
export async function loadedSides(
  bench: Bench,
  { server, load, args, warm, sleeps = false }: Omit<LoadedSide, 'name' | 'kind'>,
  parts: readonly Pick<LoadedSide, 'name' | 'kind'>[],
): Promise<Side[]> {
  const generator = await Child.start({
    core: server ? bench.layout.client : bench.layout.server,
    command: [bench.node, join(import.meta.dirname, 'generator.js')],
    ready: 'generator',
    cwd: bench.root,
    log: bench.logFile(`${parts[0]!.name}-load`),
    ipc: true,
  });
  const usage = (): Promise<Usage | undefined> =>
    server?.usage?.() ?? server?.child.usage() ?? Promise.resolve(undefined);
  const awake = server !== undefined && !sleeps;
  await generator.ask({ ask: 'prepare', load, args });
  return parts.map(({ name, kind }) => ({
    name,
    ...(warm && { warm }),
    async sample(seconds) {
      const before = await usage();
      const run = await generator.ask<Run>({ ask: 'run', seconds, awake, kind });
      const after = await usage();
      if (!before || !after) return run;
      return {
        ...run,
        cpuMicros: after.cpuMicros - before.cpuMicros,
        rss: after.rss,
        ...memoSince(before.memo, after.memo),
        ...(after.written !== undefined && { written: after.written - before.written! }),
        client: awake ? 1 - run.idle / run.seconds : run.cpuMicros / 1e6 / run.seconds,
      };
    },
    async stop() {
      await generator.stop();
      await server?.stop();
    },
  }));
}
