import { parseArgs } from 'node:util';
import { settled } from './contexts.js';
import { CommandError } from '../terminal/errors.js';
import { flags, type Asked, type FlagName, type FlagValues } from '../terminal/flags.js';
import { helpOn } from '../terminal/help.js';
import { hidden, words, flagsOf, type Word } from '../terminal/commands.js';

/** The implementation of each subcommand, loaded on demand. */
const runs: Readonly<Record<string, () => Promise<(asked: Asked) => Promise<void> | void>>> = {
  login: async () => (await import('./login.js')).login,
  logout: async () => (await import('./login.js')).logout,
  whoami: async () => (await import('./login.js')).whoami,
  kubeconfig: async () => (await import('./kubeconfig.js')).kubeconfig,
  credential: async () => (await import('./exec-credential.js')).credential,
  get: async () => (await import('./get.js')).get,
  watch: async () => (await import('./watch.js')).watch,
  create: async () => (await import('./create.js')).create,
  patch: async () => (await import('./patch.js')).patch,
  delete: async () => (await import('./delete.js')).remove,
  'api-resources': async () => (await import('./api-resources.js')).resources,
  explain: async () => (await import('./explain.js')).explain,
  healthcheck: async () => (await import('./healthcheck.js')).healthcheck,
  completion: async () => (await import('./completion-script.js')).completion,
};

/**
 * Runs one subcommand; data goes to standard output, everything else to standard error. An
 * interrupt exits with 130 (docs/design/operations.md#command).
 */
export async function run(
  word: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  process.once('SIGINT', () => void settled().then(() => process.exit(130)));
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) =>
    process.exit(code === 'EPIPE' ? 0 : 1),
  ); // The reader closed the pipe.
  if (word === hidden)
    return (await import('./complete.js')).complete({ args, flags: {}, environment });
  const asked = { ...parsed(words[word]!, args), environment };
  if (asked.flags.help) return void process.stdout.write(helpOn(words[word]!));
  return (await runs[word]!())(asked);
}

const isBoolean = (name: string): boolean =>
  (flags as Record<string, { type: string }>)[name]?.type === 'boolean';

/** Parses flags and arguments like kubectl; accepts `-o=json` and `--wait=false` too. */
export function parsed(word: Word, args: readonly string[]): { args: string[]; flags: FlagValues } {
  const off: FlagName[] = [];
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const before = args.slice(0, end).flatMap((arg) => {
    const [, short, value] = /^-([a-z])=(.*)$/s.exec(arg) ?? [];
    if (short !== undefined) return [`-${short}${value}`];
    const [, name, is] = /^--([a-z-]+)=(true|false)$/.exec(arg) ?? [];
    if (name === undefined || !isBoolean(name)) return [arg];
    if (is === 'false') off.push(name as FlagName);
    return [`--${name}`];
  });
  const options = Object.fromEntries(flagsOf(word).map((name) => [name, flags[name]]));
  try {
    const { values, positionals } = parseArgs({
      args: [...before, ...args.slice(end)],
      options,
      allowPositionals: true,
    });
    return {
      args: positionals,
      flags: { ...values, ...Object.fromEntries(off.map((name) => [name, false])) } as FlagValues,
    };
  } catch (error) {
    throw new CommandError((error as Error).message, 2);
  }
}
