import { parseArgs } from 'node:util';
import { completeCommand, flagNames, type Subcommand, subcommands } from '../terminal/commands.js';
import { type CommandFlag, type FlagName, flags, type Invocation } from '../terminal/flags.js';
import { contextsFile, readContexts } from './connection/contexts.js';

/**
 * What the shell adds (cobra's ShellCompDirective, which kubectl reads too): nothing, or file
 * names.
 */
const [noFiles, files] = [4, 0];

interface Completion {
  readonly words: readonly string[];
  readonly directive?: number;
}

/**
 * Completes the last word for the scripts of `completion` and for kubectl: one candidate a line,
 * then a directive. Knows subcommands, flags and their values, and asks no service.
 */
export function complete({ args, environment }: Invocation): void {
  const { words, directive = noFiles } = candidates(args, environment);
  const current = args.at(-1) ?? '';
  const lines = words
    .filter((word) => word.startsWith(current) && /^[\x21-\x7e]+(\t[\x20-\x7e]*)?$/.test(word))
    .map((word) => `${word}\n`);
  process.stdout.write(`${lines.join('')}:${directive}\n`);
}

function candidates(args: readonly string[], environment: NodeJS.ProcessEnv): Completion {
  const [name, ...typed] = args.slice(0, -1);
  const current = args.at(-1) ?? '';
  if (name === undefined) {
    return {
      words: Object.entries(subcommands)
        .filter(([word]) => word !== completeCommand)
        .map(([word, { about }]) => `${word}\t${about}`),
    };
  }
  const subcommand = Object.hasOwn(subcommands, name) ? subcommands[name]! : undefined;
  if (!subcommand) return { words: [] };
  const { positionalCount, openFlag } = parseTyped(subcommand, typed);
  if (openFlag !== undefined) return completeValue(openFlag, environment);
  const withValue = flagNames(subcommand).find((flag) => current.startsWith(`--${flag}=`));
  if (withValue !== undefined) {
    const { words } = completeValue(withValue, environment);
    return { words: words.map((word) => `--${withValue}=${word}`) };
  }
  if (current.startsWith('-')) {
    return {
      words: flagNames(subcommand).map((flagName) => `--${flagName}\t${flags[flagName].about}`),
    };
  }
  if (positionalCount > 0) return { words: [] };
  const { arguments: words = [] } = subcommand;
  return { words: words === 'subcommand' ? Object.keys(subcommands) : words };
}

/** Counts the arguments of a command line, and finds the flag whose value is being typed. */
function parseTyped(
  subcommand: Subcommand,
  typed: readonly string[],
): { positionalCount: number; openFlag: FlagName | undefined } {
  const known = flagNames(subcommand);
  const { tokens } = parseArgs({
    args: typed.filter((word) => word !== '='), // bash splits --output=json into three words
    options: Object.fromEntries(known.map((name) => [name, flags[name]])),
    strict: false,
    tokens: true,
  });
  const last = tokens.at(-1);
  const isOpen = last?.kind === 'option' && last.value === undefined;
  return {
    positionalCount: tokens.filter(({ kind }) => kind === 'positional').length,
    openFlag: isOpen
      ? known.find((name) => name === last.name && flags[name].type === 'string')
      : undefined,
  };
}

function completeValue(name: FlagName, environment: NodeJS.ProcessEnv): Completion {
  const { value, values }: CommandFlag = flags[name];
  if (name === 'context') return { words: contextNames(environment) };
  return { words: values ?? [], directive: value === 'FILE' ? files : noFiles };
}

function contextNames(environment: NodeJS.ProcessEnv): string[] {
  try {
    return Object.keys(readContexts(contextsFile(environment)).contexts);
  } catch {
    return [];
  }
}
