import { channel } from 'node:diagnostics_channel';
import { mkdirSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Failure } from './cli/failure.js';
import { plain } from './cli/plain.js';
import { words } from './cli/words.js';
import { ConfigError, readConfig } from './config.js';
import { giveBack } from './giveback.js';
import { writeKeys } from './keysfile.js';
import { createLog } from './registry/observe.js';
import { release } from './release.js';

/** The root of the installation: above dist/ when built, and above dist/bundle. */
const root = dirname(fileURLToPath(import.meta.url)).replace(/\/dist(\/bundle)?$/, '');

const own = [['serve [settings]', 'runs the service'], ['keys new FILE', 'makes the keys that replicas share'], ['policy', 'prints the policy this release comes with'], ['version', 'prints the release']] as const;
const usage = [...own, ...Object.values(words)].map(([how, about]) => `vestibule ${how.padEnd(36)}${about}\n`).join('');

/** Runs the command; the exit code is 0 done, 1 failed, 2 wrong usage or configuration. */
export async function main(args: readonly string[]): Promise<void> {
  const [word, ...rest] = args;
  if (word === 'serve') return serve(rest);
  if (word === 'keys' && rest[0] === 'new' && rest[1]) return writeKeys(rest[1]);
  if (word === 'policy') return printPolicy();
  if (word === 'version') return void process.stdout.write(`${release}\n`);
  if (word !== undefined && word in words) return (await import('./cli/command.js')).run(word, rest, process.env);
  process.stderr.write(usage);
  process.exitCode = 2;
}

async function printPolicy(): Promise<void> {
  const [{ kinds, actions }, { vocabularyOf }, { defaultPolicy }] = await Promise.all([import('./kinds/index.js'), import('./kinds/policy/vocabulary.js'), import('./kinds/policy/default.js')]);
  process.stdout.write(defaultPolicy(vocabularyOf(kinds, actions)));
}

async function serve(args: readonly string[]): Promise<void> {
  const config = readConfig(args, process.env);
  const log = createLog(config.logLevel);
  if (config.store.type === 'embedded') keepCompiled(config.store.directory);
  const { startService } = await import('./service.js');
  const service = await startService(config, log, root);
  let stopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => {
    if (stopping) process.exit(1);
    stopping = true;
    service.stop().then(() => process.exit(0), (error) => { log.error({ err: error }, 'the stop was not clean'); process.exit(1) });
  });
  channel('vestibule.started').publish(service);   // for instruments that are loaded beside it
  process.stdout.write(`ready ${service.baseURL} ${service.url}${service.secureURL ? ` ${service.secureURL}` : ''}\n`);
  await service.warmed;
  await giveBack().catch((error) => log.warn({ err: error }, 'memory of the start was not given back'));
}

/** Keeps compiled code from one start to the next where Node can (22.1 and later), in the store's own folder: whoever can write there could change anything. */
function keepCompiled(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  (module as { enableCompileCache?(directory: string): unknown }).enableCompileCache?.(join(directory, 'compiled'));
}

/** One line a problem on standard error (`operations.md` 2). */
export function report(error: unknown): void {
  const lines = error instanceof ConfigError ? error.problems : [error instanceof Error ? error.message : String(error)];
  for (const line of lines) process.stderr.write(`vestibule: ${plain(line)}\n`);
  process.exit(error instanceof ConfigError ? 2 : error instanceof Failure ? error.code : 1);
}
