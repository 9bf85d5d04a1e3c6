import { channel } from 'node:diagnostics_channel';
import { mkdirSync } from 'node:fs';
import module from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ConfigError } from './options/config.js';
import type { Service } from './serve/service.js';
import { completeCommand, subcommands } from './terminal/commands.js';
import { didYouMean } from './terminal/did-you-mean.js';
import { CommandError, KubectlStyleError } from './terminal/errors.js';
import { overview, printHelp, usageError } from './terminal/help.js';
import { stripControls } from './terminal/output.js';
import { invokedAs, program } from './terminal/program-name.js';

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
  const [subcommand, ...rest] =
    invokedAs === 'kubectl_complete-vestibule' ? [completeCommand, ...args] : args;
  if (subcommand === 'help' || subcommand === '--help' || subcommand === '-h') return help(rest[0]);
  if (
    subcommand === completeCommand ||
    (subcommand !== undefined &&
      Object.hasOwn(subcommands, subcommand) &&
      !subcommands[subcommand]!.isLocal)
  ) {
    return (await import('./client/run.js')).run(subcommand, rest, process.env);
  }
  if (
    subcommand !== undefined &&
    Object.hasOwn(subcommands, subcommand) &&
    ['--help', '-h'].includes(rest[0]!)
  ) {
    return help(subcommand);
  }
  if (subcommand === 'serve') return serve(rest);
  if (subcommand === 'keys' && rest[1] && rest.length === 2) return keys(rest[0]!, rest[1]);
  if (subcommand === 'migrate') {
    return (await import('./admin/migrate.js')).migrate(rest, process.env);
  }
  if (subcommand === 'snapshot' || subcommand === 'epoch') {
    return (await import('./admin/snapshot.js'))[subcommand](rest, process.env);
  }
  if (subcommand === 'config') {
    return (await import('./admin/config-check.js')).config(rest, process.env);
  }
  if (subcommand === 'mail') return (await import('./admin/mail-test.js')).mail(rest, process.env);
  if (subcommand === 'policy' && rest[0] === 'explain') {
    return (await import('./client/run.js')).run(subcommand, rest, process.env);
  }
  if (subcommand === 'policy' && rest[0] === 'prove') {
    return (await import('./admin/prove-policy.js')).provePolicy(rest.slice(1), process.env);
  }
  if (subcommand === 'policy') return (await import('./admin/policy-text.js')).policy(rest);
  if (subcommand === 'version' || subcommand === '--version') {
    return void process.stdout.write(
      `${(await import('../../observability/build-info.js')).release}\n`,
    );
  }
  if (subcommand !== undefined && !Object.hasOwn(subcommands, subcommand)) {
    throw unknownSubcommand(subcommand);
  }
  process.stderr.write(overview());
  process.exitCode = 2;
}

const unknownSubcommand = (word: string): CommandError =>
  new CommandError(
    `unknown subcommand ${JSON.stringify(word)}${didYouMean(word, Object.keys(subcommands)) || `: ${program} help`}`,
    2,
  );

/** Runs `vestibule keys new FILE`, or a step of a rotation. */
async function keys(step: string, file: string): Promise<void> {
  const { isStep, rotate, writeNewKeys } = await import('./serve/keys/keys-file.js');
  if (step === 'new') return writeNewKeys(file);
  if (!isStep(step)) throw usageError('keys');
  process.stdout.write(`${rotate(file, step)}\n`);
}

function help(subcommand: string | undefined): void {
  if (subcommand !== undefined && !Object.hasOwn(subcommands, subcommand)) {
    throw unknownSubcommand(subcommand);
  }
  if (subcommand === undefined) {
    process.stdout.write(overview());
  } else {
    printHelp(subcommand);
  }
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
  if (config.store.type === 'embedded') enableCompileCache(config.store.directory);
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
  let isStopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (isStopping) process.exit(1);
      isStopping = true;
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
  }
  channel('vestibule.started').publish(service); // for instruments that are loaded beside the service
  process.stdout.write(
    `ready ${service.baseURL} ${service.url}${service.secureURL ? ` ${service.secureURL}` : ''}\n`,
  );
  if (process.stdout.isTTY) await printFirstOperatorLink(service);
  await service.warmedUp;
  await import('./serve/release-startup-heap.js')
    .then(({ releaseStartupHeap }) => releaseStartupHeap())
    .catch((error) => log.warn({ err: error }, 'releasing the memory of the start failed'));
}

/**
 * Prints the link for the first operator if no one operates the service: on a terminal only, never
 * to a log (docs/design/api.md#first-operator).
 */
async function printFirstOperatorLink(
  service: Pick<Service, 'inviteFirstOperator'>,
): Promise<void> {
  const link = await service.inviteFirstOperator();
  if (link !== undefined) {
    process.stdout.write(
      `No one operates this service yet. Open this link within 24 hours to become its first operator:\n${link}\n`,
    );
  }
}

/**
 * Keeps compiled code between starts if Node can (22.1 and later). It is in the store's own folder,
 * because anyone who can write there could run any code.
 */
function enableCompileCache(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  module.enableCompileCache?.(join(directory, 'compiled'));
}

/**
 * Prints one line a problem on standard error (docs/design/operations.md#refused-settings).
 * Messages that kubectl prints too carry no program name.
 */
export function report(error: unknown): void {
  const lines = isConfigError(error)
    ? error.problems
    : [error instanceof Error ? error.message : String(error)];
  for (const line of lines) {
    process.stderr.write(
      `${error instanceof KubectlStyleError ? '' : `${program}: `}${stripControls(line)}\n`,
    );
  }
  process.exit(exitCodeOf(error));
}

function exitCodeOf(error: unknown): number {
  if (isConfigError(error)) return 2;
  return error instanceof CommandError ? error.code : 1;
}

/** Compares the name, because only the service loads the class. */
const isConfigError = (error: unknown): error is ConfigError =>
  error instanceof Error && error.name === 'ConfigError';
