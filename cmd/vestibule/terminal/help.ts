import { subcommands } from './commands.js';
import { CommandError } from './errors.js';
import { type FlagName, flags } from './flags.js';
import { program } from './program-name.js';

/** Returns the list of subcommands, one a line. */
export const overview = (): string =>
  Object.values(subcommands)
    .map(({ usage, about }) => `${program} ${usage.padEnd(56)}${about}\n`)
    .join('');

/** Returns the error for a subcommand that is used wrongly. */
export const usageError = (name: string): CommandError =>
  new CommandError(`usage: ${program} ${subcommands[name]!.usage}`, 2);

/** Prints the help text of one subcommand. */
export function printHelp(name: string): void {
  const { usage, about, flags: ownFlags = [], examples = [] } = subcommands[name]!;
  const rows = [...ownFlags, 'help' as const].map(
    (entry) =>
      (typeof entry === 'string'
        ? [flagUsage(entry), flags[entry].about]
        : [flagUsage(entry[0]), entry[1]]) as [string, string],
  );
  const width = Math.max(...rows.map(([flag]) => flag.length)) + 3;
  const exampleLines = examples.map((example) => `  ${program} ${example}\n`).join('');
  process.stdout.write(
    `${program} ${usage}\n\n${about[0]!.toUpperCase()}${about.slice(1)}.\n\n` +
      (exampleLines && `Examples:\n${exampleLines}\n`) +
      `Flags:\n${rows.map(([flag, description]) => `  ${flag.padEnd(width)}${description}\n`).join('')}`,
  );
}

/** Formats a flag as it is typed. */
export function flagUsage(name: FlagName): string {
  const { short, value } = flags[name] as { short?: string; value?: string };
  return `${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}`;
}
