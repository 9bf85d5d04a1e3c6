import { channel } from 'node:diagnostics_channel';
import { mkdirSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CommandError, Told } from './terminal/errors.js';
import { helpOn, overview } from './terminal/help.js';
import { plain } from './terminal/output.js';
import { called, program } from './terminal/program-name.js';
import { hidden, words } from './terminal/commands.js';
import type { ConfigError } from './options/config.js';

/**
 * The root of the installation: above dist/bundle when bundled, otherwise above cmd/vestibule and
 * dist.
 */
const root = dirname(fileURLToPath(import.meta.url)).replace(
  /\/dist\/bundle$|(?:\/dist)?\/cmd\/vestibule$/,
  '',
);

/**
 * Runs the command. Exit codes: 0 success, 1 failure, 2 wrong usage or configuration. Only `serve`
 * loads the service.
 */
export async function main(args: readonly string[]): Promise<void> {
  const [word, ...rest] = called === 'kubectl_complete-vestibule' ? [hidden, ...args] : args;
  if (word === 'help' || word === '--help' || word === '-h') return help(rest[0]);
  if (word === hidden || (word !== undefined && Object.hasOwn(words, word) && !words[word]!.local))
    return (await import('./client/run.js')).run(word, rest, process.env);
  if (word !== undefined && Object.hasOwn(words, word) && ['--help', '-h'].includes(rest[0]!))
    return help(word);
  if (word === 'serve') return serve(rest);
  if (word === 'keys' && rest[1] && rest.length === 2) return keys(rest[0]!, rest[1]);
  if (word === 'snapshot' || word === 'epoch')
    return (await import('./admin/snapshot.js'))[word](rest, process.env);
  if (word === 'config') return (await import('./admin/config-check.js')).config(rest, process.env);
  if (word === 'policy') return printPolicy();
  if (word === 'version')
    return void process.stdout.write(
      `${(await import('../../observability/build-info.js')).release}\n`,
    );
  process.stderr.write(overview());
  process.exitCode = 2;
}

/** Runs `vestibule keys new FILE`, or a step of a rotation. */
async function keys(step: string, file: string): Promise<void> {
  const { isStep, rotate, writeKeys } = await import('./serve/keys-file.js');
  if (step === 'new') return writeKeys(file);
  if (!isStep(step)) throw new CommandError(`usage: ${program} ${words['keys']!.usage}`, 2);
  process.stdout.write(`${rotate(file, step)}\n`);
}

function help(word: string | undefined): void {
  if (word !== undefined && !Object.hasOwn(words, word))
    throw new CommandError(`unknown subcommand ${JSON.stringify(word)}: ${program} help`, 2);
  process.stdout.write(word === undefined ? overview() : helpOn(words[word]!));
}

async function printPolicy(): Promise<void> {
  const [{ kinds, actions }, { vocabularyOf }, { defaultPolicy }] = await Promise.all([
    import('../../kinds/index.js'),
    import('../../policy/model/vocabulary.js'),
    import('../../policy/default-policy.js'),
  ]);
  process.stdout.write(defaultPolicy(vocabularyOf(kinds, actions)));
}

async function serve(args: readonly string[]): Promise<void> {
  process.on('SIGUSR1', () => {
    /* Node's default handler would open the inspector to anyone on this machine. */
  });
  const [{ loadConfig }, { createLog, bufferedStream }] = await Promise.all([
    import('./options/config.js'),
    import('../../observability/log.js'),
  ]);
  const config = await loadConfig(args, process.env);
  const log = createLog(config.logLevel, bufferedStream(process.stderr), config.loggingFormat);
  if (config.store.type === 'embedded') keepCompiled(config.store.directory);
  let reopen = async (): Promise<void> => {
    /* The audit log is not open yet. */
  };
  if (config.auditLogPath !== undefined) process.on('SIGHUP', () => void reopen());
  const tracer =
    process.env.OTEL_EXPORTER_OTLP_ENDPOINT || process.env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT
      ? (await import('../../observability/otel.js')).startTracing(process.env, log)
      : undefined;
  (await import('../../observability/tracer.js')).setTracer(tracer);
  const { startService } = await import('./serve/service.js');
  const service = await startService(config, log, root);
  reopen = () => service.reopen();
  let stopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const)
    process.on(signal, () => {
      if (stopping) process.exit(1);
      stopping = true;
      service
        .stop()
        .then(() =>
          tracer
            ?.stop()
            .catch((error) => log.warn({ err: error }, 'sending the last traces failed')),
        )
        .then(
          () => process.exit(0),
          (error) => {
            log.error({ err: error }, 'shutdown failed');
            process.exit(1);
          },
        );
    });
  channel('vestibule.started').publish(service); // for instruments that are loaded beside the service
  process.stdout.write(
    `ready ${service.baseURL} ${service.url}${service.secureURL ? ` ${service.secureURL}` : ''}\n`,
  );
}

/**
 * Keeps compiled code between starts if Node can (22.1 and later). It is in the store's own folder,
 * because anyone who can write there could run any code.
 */
function keepCompiled(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  (module as { enableCompileCache?(directory: string): unknown }).enableCompileCache?.(
    join(directory, 'compiled'),
  );
}

/**
 * Prints one line a problem on standard error (docs/design/operations.md#refused-settings).
 * Messages that kubectl prints too carry no program name.
 */
export function report(error: unknown): void {
  const lines = isConfigError(error)
    ? error.problems
    : [error instanceof Error ? error.message : String(error)];
  for (const line of lines)
    process.stderr.write(`${error instanceof Told ? '' : `${program}: `}${plain(line)}\n`);
  process.exit(exitCodeOf(error));
}

function exitCodeOf(error: unknown): number {
  if (isConfigError(error)) return 2;
  return error instanceof CommandError ? error.code : 1;
}

/** Compares the name, because only the service loads the class. */
const isConfigError = (error: unknown): error is ConfigError =>
  error instanceof Error && error.name === 'ConfigError';
