import { parseArgs } from 'node:util';

/** What a run was asked to do. */
export interface Options {
  /** Ids of rows or metrics; none means all. */
  readonly rows: readonly string[];
  readonly quick: boolean;
  readonly node: string;
  readonly against: string | undefined;
}

/** Reads the command line; throws for an option no one knows. */
export function readOptions(args: readonly string[]): Options {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      node: { type: 'string', default: process.execPath },
      against: { type: 'string' },
    },
  });
  return { rows: positionals, quick: values.quick, node: values.node, against: values.against };
}

/**
 * Whether a metric was asked for, by its own id or by what it begins with: 2 means 2a and 2xa, 2x
 * means 2xa, and 1 does not mean 12.
 */
export const isWanted = ({ rows }: Options, id: string): boolean =>
  rows.length === 0 ||
  rows.some((row) => id.startsWith(row) && /^[a-z]*$/.test(id.slice(row.length)));
