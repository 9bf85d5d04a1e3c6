import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { stopAll } from './child.js';
import { fileSystemOf, isMemory, type Layout, layoutOf } from './layout.js';
import { movedAgainst } from './measure/comparison.js';
import { exitCodeOf } from './measure/evaluate.js';
import { measure, type Rounds, warmUp } from './measure/measure.js';
import { circumstances, keep } from './measure/record.js';
import { heading, lineOf, sideLines } from './measure/report.js';
import { type Known, type Result, resultOf, type SideResult, without } from './measure/result.js';
import { isWanted, type Options, readOptions } from './options.js';
import { type Row, type Side, Skip } from './row.js';
import { rows } from './rows/index.js';

/** What rows and sides are given to work with. */
export interface Bench {
  readonly root: string;
  /** The binary that servers and generators run on, its version and its line. */
  readonly node: string;
  readonly nodeVersion: string;
  readonly line: '20' | '24';
  readonly layout: Layout;
  readonly quick: boolean;
  /** A folder of this run's own. */
  readonly folder: string;
  /** Where the peers' packages are. */
  readonly modules: string;
  logFile(name: string): string;
  /** A new folder below the run's own. */
  newFolder(name: string): string;
}

const root = join(import.meta.dirname, '../../../..');
const out = join(root, 'test/bench/out');

function prepare({ node, quick }: Options): Bench {
  const nodeVersion = execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();
  mkdirSync(out, { recursive: true });
  const folder = mkdtempSync(join(out, 'run-'));
  return {
    root,
    node,
    nodeVersion,
    line: Number(nodeVersion.slice(1).split('.')[0]) < 24 ? '20' : '24',
    layout: layoutOf(),
    quick,
    folder,
    modules:
      process.env.BENCH_MODULES ??
      join(root, existsSync(join(root, 'test/bench/node_modules/better-auth')) ? 'test/bench' : ''),
    logFile: (name) => join(folder, `${name.replace(/\W+/g, '-')}.log`),
    newFolder: (name) => mkdtempSync(join(folder, `${name}-`)),
  };
}

/** Measures one row; an unsteady one is measured once more, longer. */
async function runRow(row: Row, bench: Bench): Promise<Result[]> {
  let sides: Side[] = [];
  try {
    if (row.durable && isMemory(fileSystemOf(bench.folder))) {
      throw new Error('the file system is in memory: nothing durable can be measured on it');
    }
    sides = await row.open(bench);
    const warmUps = bench.quick ? new Map<string, number>() : await warmUp(sides);
    const evaluated = (samples: Rounds, about?: Known): Result[] =>
      row.metrics.map((metric) => resultOf(metric, samples, bench.line, bench.quick, about));
    const rounds = (count: number): Promise<Rounds> =>
      measure(row, sides, { rounds: count, quick: bench.quick });
    let samples = await rounds(bench.quick ? 1 : 3);
    if (evaluated(samples).some(({ verdict }) => verdict === 'unsteady')) samples = await rounds(7);
    return evaluated(samples, await knownOf(sides, warmUps));
  } catch (error) {
    const [verdict, reason] =
      error instanceof Skip
        ? (['skipped', error.message] as const)
        : ([
            'error',
            String(error instanceof Error ? error.message : error).split('\n')[0]!,
          ] as const);
    return row.metrics.map((metric) => without(metric, bench.line, verdict, reason));
  } finally {
    for (const side of sides) await side.stop();
    await stopAll();
  }
}

/** What sides are known to cost beside what their samples say. */
async function knownOf(
  sides: readonly Side[],
  warmUps: ReadonlyMap<string, number>,
): Promise<Known> {
  const known = new Map<string, Pick<SideResult, 'warmUp' | 'costs'>>();
  for (const { name, costs } of sides) {
    const warmUp = warmUps.get(name);
    known.set(name, {
      ...(warmUp && { warmUp }),
      ...(costs && { costs: await costs() }),
    });
  }
  return known;
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  const bench = prepare(options);
  const about = circumstances(bench);
  const { versions } = about;
  process.stdout.write(
    `commit ${about.commit}, node ${about.node}, ${about.cpu} × ${about.cores}, pinning: ${about.pinning}, ${about.filesystem}\n${Object.entries(
      versions,
    )
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}\n${heading}\n`,
  );
  const results: Result[] = [];
  for (const row of rows) {
    if (!row.metrics.some(({ id }) => isWanted(options, id))) continue;
    const done = (await runRow(row, bench)).filter(({ id }) => isWanted(options, id));
    for (const result of done) process.stdout.write(`${lineOf(result)}\n`);
    results.push(...done);
  }
  for (const line of sideLines(results)) process.stdout.write(`${line}\n`);
  process.stdout.write(`${keep(out, { ...about, rows: results })}\n`);
  if (options.against) {
    for (const line of movedAgainst(options.against, results)) {
      process.stdout.write(`moved ${line}\n`);
    }
  }
  process.exitCode = exitCodeOf(results.map(({ verdict }) => verdict));
  if (!results.some(({ verdict }) => verdict === 'error')) {
    rmSync(bench.folder, { recursive: true, force: true });
  }
}

main().catch((error: unknown) => {
  process.stderr.write(`hack/bench: ${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(2);
});
