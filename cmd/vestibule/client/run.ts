import { parseArgs } from 'node:util';
import { completeCommand, flagNames, type Subcommand, subcommands } from '../terminal/commands.js';
import { didYouMean } from '../terminal/did-you-mean.js';
import { CommandError } from '../terminal/errors.js';
import { type FlagName, type FlagValues, flags, type Invocation } from '../terminal/flags.js';
import { printHelp } from '../terminal/help.js';
import { settled } from './connection/contexts.js';

/** The implementation of each subcommand, loaded on demand. */
const implementations: Readonly<
  Record<string, () => Promise<(invocation: Invocation) => Promise<void> | void>>
> = {
  login: async () => (await import('./connection/login.js')).login,
  logout: async () => (await import('./connection/login.js')).logout,
  whoami: async () => (await import('./connection/login.js')).whoami,
  kubeconfig: async () => (await import('./connection/kubeconfig.js')).writeKubeconfig,
  credential: async () => (await import('./connection/exec-credential.js')).credential,
  get: async () => (await import('./get.js')).get,
  watch: async () => (await import('./watch.js')).watch,
  create: async () => (await import('./create.js')).create,
  import: async () => (await import('./import.js')).importPeople,
  patch: async () => (await import('./patch.js')).patch,
  delete: async () => (await import('./delete.js')).deleteObjects,
  'api-resources': async () => (await import('./api-resources.js')).printResources,
  policy: async () => (await import('./explain-decision.js')).explainDecision,
  healthcheck: async () => (await import('./healthcheck.js')).healthcheck,
  completion: async () => (await import('./completion-script.js')).printCompletionScript,
};

/**
 * Runs one subcommand; data goes to standard output, everything else to standard error. An
 * interrupt exits with 130 (docs/design/operations.md#command).
 */
export async function run(
  subcommand: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  process.once('SIGINT', () => void settled().then(() => process.exit(130)));
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) =>
    process.exit(code === 'EPIPE' ? 0 : 1),
  ); // The reader closed the pipe.
  if (subcommand === completeCommand) {
    return (await import('./complete.js')).complete({ args, flags: {}, environment });
  }
  const invocation = { ...parseInvocation(subcommands[subcommand]!, args), environment };
  if (invocation.flags.help) return printHelp(subcommand);
  return (await implementations[subcommand]!())(invocation);
}

const isBoolean = (name: string): boolean =>
  (flags as Record<string, { type: string }>)[name]?.type === 'boolean';

/** Parses flags and arguments like kubectl; accepts `-o=json` and `--wait=false` too. */
export function parseInvocation(
  subcommand: Subcommand,
  args: readonly string[],
): { args: string[]; flags: FlagValues } {
  const falseFlags: FlagName[] = [];
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const before = args.slice(0, end).flatMap((arg, index) => {
    if (arg === '--dry-run' && !['none', 'server'].includes(args[index + 1]!)) {
      return ['--dry-run=server'];
    }
    const [, short, value] = /^-([a-z])=(.*)$/s.exec(arg) ?? [];
    if (short !== undefined) return [`-${short}${value}`];
    const [, name, isOn] = /^--([a-z-]+)=(true|false)$/.exec(arg) ?? [];
    if (name === undefined || !isBoolean(name)) return [arg];
    if (isOn === 'false') falseFlags.push(name as FlagName);
    return [`--${name}`];
  });
  const options = Object.fromEntries(flagNames(subcommand).map((name) => [name, flags[name]]));
  try {
    const { values, positionals } = parseArgs({
      args: [...before, ...args.slice(end)],
      options,
      allowPositionals: true,
    });
    return {
      args: positionals,
      flags: {
        ...values,
        ...Object.fromEntries(falseFlags.map((name) => [name, false])),
      },
    };
  } catch (error) {
    throw new CommandError(flagFault(error as Error, Object.keys(options)), 2);
  }
}

/** Returns the message of an error of `parseArgs`, with the nearest flag for an unknown one. */
function flagFault({ message }: Error, names: readonly string[]): string {
  const [, flag] = /^Unknown option '(-[^']*)'/.exec(message) ?? [];
  if (flag === undefined) return message;
  return `unknown flag: ${flag}${didYouMean(flag, names, '--')}`;
}
