import { discover, type Resource } from './discovery.js';
import { CommandError } from '../terminal/errors.js';
import type { Asked } from '../terminal/flags.js';
import { formatOf } from './output-format.js';
import { out } from '../terminal/output.js';
import { serviceOf } from './api-client.js';
import { Columns } from './columns.js';

/** Prints the resource types of the service, as `kubectl api-resources` does. */
export async function resources(asked: Asked): Promise<void> {
  const { flags, args } = asked;
  if (args.length > 0) throw new CommandError('api-resources takes no arguments', 2);
  const { as } = formatOf(flags.output, ['table', 'wide', 'name']);
  const wanted = flags.verbs?.split(',').filter(Boolean) ?? [];
  const found = (await discover(serviceOf(asked))).filter(({ verbs }) =>
    wanted.every((verb) => verbs.includes(verb)),
  );
  if (as === 'name')
    return out(found.map(({ plural, group }) => `${plural}${group && `.${group}`}\n`).join(''));
  const headings = [
    'NAME',
    'SHORTNAMES',
    'APIVERSION',
    'NAMESPACED',
    'KIND',
    ...(as === 'wide' ? ['VERBS', 'CATEGORIES'] : []),
  ];
  out(
    new Columns().print([
      ...(flags['no-headers'] ? [] : [headings]),
      ...found.map((one) => row(one, as === 'wide')),
    ]),
  );
}

const row = (
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
