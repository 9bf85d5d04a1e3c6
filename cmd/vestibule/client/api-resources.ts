import { CommandError } from '../terminal/errors.js';
import type { Invocation } from '../terminal/flags.js';
import { writeOut } from '../terminal/output.js';
import { clientFor } from './connection/api-client.js';
import { discover, type Resource } from './connection/discovery.js';
import { Columns } from './output/columns.js';
import { parseFormat } from './output/output-format.js';

/** Prints the resource types of the service, as `kubectl api-resources` does. */
export async function printResources(invocation: Invocation): Promise<void> {
  const { flags, args } = invocation;
  if (args.length > 0) throw new CommandError('api-resources takes no arguments', 2);
  const format = parseFormat(flags.output, ['wide', 'name']);
  const wantedVerbs = flags.verbs?.split(',').filter(Boolean) ?? [];
  const found = (await discover(clientFor(invocation))).filter(({ verbs }) =>
    wantedVerbs.every((verb) => verbs.includes(verb)),
  );
  if (format === 'name') {
    return writeOut(
      found.map(({ plural, group }) => `${plural}${group && `.${group}`}\n`).join(''),
    );
  }
  const headings = [
    'NAME',
    'SHORTNAMES',
    'APIVERSION',
    'NAMESPACED',
    'KIND',
    ...(format === 'wide' ? ['VERBS', 'CATEGORIES'] : []),
  ];
  writeOut(
    new Columns().print([
      ...(flags['no-headers'] ? [] : [headings]),
      ...found.map((resource) => formatRow(resource, format === 'wide')),
    ]),
  );
}

const formatRow = (
  { plural, shortNames, group, version, namespaced, kind, verbs, categories }: Resource,
  wide: boolean,
): string[] => [
  plural,
  shortNames.join(','),
  group ? `${group}/${version}` : version,
  String(namespaced),
  kind,
  ...(wide ? [[...verbs].sort().join(','), categories.join(',')] : []),
];
