import { flags, type FlagName } from './flags.js';
import { program } from './program-name.js';
import { words, type Word } from './commands.js';

/** Returns the list of subcommands, one a line. */
export const overview = (): string =>
  Object.values(words)
    .map(({ usage, about }) => `${program} ${usage.padEnd(56)}${about}\n`)
    .join('');

/** Returns the help text of one subcommand. */
export function helpOn({ usage, about, flags: taken = [], examples = [] }: Word): string {
  const rows = [...taken, 'help' as const].map(
    (one) =>
      (typeof one === 'string' ? [written(one), flags[one].about] : [written(one[0]), one[1]]) as [
        string,
        string,
      ],
  );
  const width = Math.max(...rows.map(([flag]) => flag.length)) + 3;
  return `${program} ${usage}\n\n${about[0]!.toUpperCase()}${about.slice(1)}.\n\n${examples.length > 0 ? `Examples:\n${examples.map((one) => `  ${program} ${one}\n`).join('')}\n` : ''}Flags:\n${rows.map(([flag, said]) => `  ${flag.padEnd(width)}${said}\n`).join('')}`;
}

/** Formats a flag as it is typed. */
export function written(name: FlagName): string {
  const { short, value } = flags[name] as { short?: string; value?: string };
  return `${short ? `-${short}, ` : ''}--${name}${value ? ` ${value}` : ''}`;
}
