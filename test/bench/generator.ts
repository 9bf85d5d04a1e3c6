import type { Load, MakeLoad, Run } from './load.js';
import { percentile } from './measure/statistics.js';
import { stayAwake } from './measure/wakefulness.js';
import { memoSince } from './memo.js';

/** So many times of a window are reported one by one. */
const few = 1000;

/** The process that makes the load: prepares one, then runs it for the time asked. */
let load: Load | undefined;

type Question =
  | { id: number; ask: 'prepare'; load: string; args: unknown }
  | { id: number; ask: 'run'; seconds: number; awake: boolean; kind?: string };

async function prepare(name: string, args: unknown): Promise<void> {
  const { default: make } = (await import(`./loads/${name}.js`)) as { default: MakeLoad<unknown> };
  load = await make(args);
}

async function run(seconds: number, awake: boolean, kind?: string): Promise<Run> {
  const { inFlight, operation } = load!;
  const remembered = load!.memo?.();
  const latencies: number[] = [];
  const cpu = process.cpuUsage();
  const idle = awake ? stayAwake() : () => 0;
  const start = performance.now();
  const end = start + seconds * 1000;
  const worker = async (number: number): Promise<void> => {
    for (let now = performance.now(); now < end; ) {
      const took = await operation(number, kind);
      const done = performance.now();
      latencies.push(took ?? done - now);
      now = done;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, (_, i) => worker(i)));
  const elapsed = performance.now() - start;
  const spare = idle() / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const sorted = Float64Array.from(latencies).sort();
  return {
    operations: sorted.length,
    seconds: elapsed / 1000,
    p50: percentile(sorted, 0.5) / 1000,
    p99: percentile(sorted, 0.99) / 1000,
    ...(sorted.length <= few && { times: Array.from(sorted, (one) => one / 1000) }),
    cpuMicros: user + system,
    rss: process.memoryUsage.rss(),
    idle: spare,
    ...memoSince(remembered, load!.memo?.()),
  };
}

process.on('message', (question: Question) => {
  const answer =
    question.ask === 'prepare'
      ? prepare(question.load, question.args)
      : run(question.seconds, question.awake, question.kind);
  answer.then(
    (value) => process.send!({ id: question.id, value }),
    (error: unknown) =>
      process.send!({
        id: question.id,
        error: error instanceof Error ? error.message : String(error),
      }),
  );
});
process.on('disconnect', () => process.exit(0));
process.stdout.write('generator\n');
