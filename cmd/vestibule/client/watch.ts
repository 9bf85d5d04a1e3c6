import { CommandError } from '../terminal/errors.js';
import type { Invocation } from '../terminal/flags.js';
import { writeError, writeOut } from '../terminal/output.js';
import { program } from '../terminal/program-name.js';
import { clientFor } from './connection/api-client.js';
import type { ListItem } from './connection/list.js';
import { parseTargets } from './connection/resource-args.js';
import { type WatchedChange, watchChanges } from './connection/watch-stream.js';
import { type Format, formatJSONLine, formatYAML, parseFormat } from './output/output-format.js';
import { qualifiedName } from './output/printers.js';
import { TablePrinter } from './output/table-printer.js';

/** Prints objects of one type, or one object, and each change until interrupted. */
export const watch = (invocation: Invocation): Promise<void> =>
  watchAndPrint(invocation, parseFormat(invocation.flags.output, ['wide', 'json', 'yaml', 'name']));

/** Watches in a given format: one object or row a line. */
export async function watchAndPrint(invocation: Invocation, format: Format): Promise<void> {
  const { flags } = invocation;
  if (flags.limit !== undefined) throw new CommandError('--limit is not supported with watch', 2);
  const service = clientFor(invocation);
  const [target, ...more] = await parseTargets(service, invocation.args);
  if (more.length > 0) {
    throw new CommandError('only one type, or one object of it, can be watched at a time', 2);
  }
  if (target!.name !== undefined && (flags.selector ?? flags['field-selector']) !== undefined) {
    throw new CommandError('a selector applies to all objects of a type; leave out the name', 2);
  }
  const isTable = format === 'table' || format === 'wide';
  const withEvents = flags['output-watch-events'] === true;
  const printer = new TablePrinter(target!.resource, {
    wide: format === 'wide',
    flags,
    withEvents,
  });
  for await (const { type, items, columns } of watchChanges(
    service,
    target!,
    isTable ? 'rows' : 'objects',
    flags,
    (why) => writeError(`${program}: ${why}; trying again\n`),
  )) {
    writeOut(
      isTable
        ? printer.print(items, columns, type)
        : items.map((item) => formatItem(item, format, withEvents ? type : undefined)).join(''),
    );
  }
}

function formatItem(
  { object }: ListItem,
  format: Format,
  type: WatchedChange['type'] | undefined,
): string {
  const value = type === undefined ? object : { type, object };
  switch (format) {
    case 'name':
      return `${type === undefined ? '' : `${type} `}${qualifiedName(object)}\n`;
    case 'yaml':
      return `---\n${formatYAML(value)}`;
    default:
      return `${formatJSONLine(value)}\n`;
  }
}
