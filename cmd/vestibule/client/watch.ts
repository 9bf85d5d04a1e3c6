import { changes, type WatchedChange } from './watch-stream.js';
import { CommandError } from '../terminal/errors.js';
import type { Asked } from '../terminal/flags.js';
import { asLine, asYAML, formatOf, type Format } from './output-format.js';
import { fill } from './jsonpath.js';
import { nameOf } from './printers.js';
import { out, say } from '../terminal/output.js';
import { program } from '../terminal/program-name.js';
import type { ListItem } from './list.js';
import { Rows } from './table-printer.js';
import { serviceOf } from './api-client.js';
import { targetsOf } from './resource-args.js';

/** Prints objects of one type, or one object, and each change until interrupted. */
export const watch = (asked: Asked): Promise<void> =>
  follow(
    asked,
    formatOf(asked.flags.output, ['table', 'wide', 'json', 'yaml', 'name', 'jsonpath']),
  );

/** Watches in a given format: one object or row a line. */
export async function follow(asked: Asked, format: Format): Promise<void> {
  const { flags } = asked;
  if (flags.limit !== undefined) throw new CommandError('--limit is not supported with watch', 2);
  const service = serviceOf(asked);
  const [target, ...more] = await targetsOf(service, asked.args);
  if (more.length > 0)
    throw new CommandError('only one type, or one object of it, can be watched at a time', 2);
  if (target!.name !== undefined && (flags.selector ?? flags['field-selector']) !== undefined)
    throw new CommandError('a selector applies to all objects of a type; leave out the name', 2);
  const isTable = format.as === 'table' || format.as === 'wide';
  const events = flags['output-watch-events'] === true;
  const rows = new Rows(target!.resource, {
    wide: format.as === 'wide',
    flags,
    withEvents: events,
  });
  for await (const { type, items, columns } of changes(
    service,
    target!,
    isTable ? 'rows' : 'whole',
    flags,
    (why) => say(`${program}: ${why}; trying again\n`),
  ))
    out(
      isTable
        ? rows.print(items, columns, type)
        : items.map((item) => textOf(item, format, events ? type : undefined)).join(''),
    );
}

function textOf(
  { object }: ListItem,
  format: Format,
  type: WatchedChange['type'] | undefined,
): string {
  const value = type === undefined ? object : { type, object };
  switch (format.as) {
    case 'name':
      return `${type === undefined ? '' : `${type} `}${nameOf(object)}\n`;
    case 'jsonpath':
      return `${fill(format.template, value)}\n`;
    case 'yaml':
      return `---\n${asYAML(value)}`;
    default:
      return `${asLine(value)}\n`;
  }
}
