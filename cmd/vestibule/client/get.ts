import type { Resource } from './discovery.js';
import { each, CommandError, ApiRefusalError } from '../terminal/errors.js';
import type { Asked, FlagValues } from '../terminal/flags.js';
import { formatOf, type Format } from './output-format.js';
import { textOf } from './printers.js';
import { out, say } from '../terminal/output.js';
import { readAll, readOne, type Form, type ListResult } from './list.js';
import { Rows } from './table-printer.js';
import { serviceOf, type ApiClient, type Thing } from './api-client.js';
import { targetsOf, type ResourceArgs } from './resource-args.js';
import { follow } from './watch.js';

/** Prints objects as kubectl does, by default as the server's table. */
export async function get(asked: Asked): Promise<void> {
  const { flags } = asked;
  const format = formatOf(flags.output, ['table', 'wide', 'json', 'yaml', 'name', 'jsonpath']);
  if (flags.watch) return follow(asked, format);
  const service = serviceOf(asked);
  const targets = await targetsOf(service, asked.args);
  if (
    targets.some(({ name }) => name !== undefined) &&
    (flags.selector ?? flags['field-selector']) !== undefined
  )
    throw new CommandError('a selector applies to all objects of a type; leave out the names', 2);
  const printed = format.as === 'table' || format.as === 'wide' ? printTables : printObjects;
  await printed(service, targets, format, flags);
}

async function printTables(
  service: ApiClient,
  targets: readonly ResourceArgs[],
  format: Format,
  flags: FlagValues,
): Promise<void> {
  const groups: { resource: Resource; readings: ListResult[] }[] = [];
  let failed = true;
  try {
    await eachTarget(service, targets, 'rows', flags, (resource, reading) => {
      if (groups.at(-1)?.resource !== resource) groups.push({ resource, readings: [] });
      groups.at(-1)!.readings.push(reading);
    });
    failed = false;
  } finally {
    const withType = new Set(groups.map(({ resource }) => resource)).size > 1;
    const texts = groups
      .map(({ resource, readings }) =>
        new Rows(resource, { wide: format.as === 'wide', flags, withType }).print(
          readings.flatMap(({ items }) => items),
          readings.find(({ columns }) => columns.length > 0)?.columns ?? [],
        ),
      )
      .filter((text) => text !== '');
    out(texts.join(flags['no-headers'] ? '' : '\n'));
    if (texts.length === 0 && !failed && !flags['ignore-not-found']) say('No resources found\n');
  }
}

async function printObjects(
  service: ApiClient,
  targets: readonly ResourceArgs[],
  format: Format,
  flags: FlagValues,
): Promise<void> {
  const objects: Thing[] = [];
  let failed = true;
  try {
    await eachTarget(
      service,
      targets,
      format.as === 'name' ? 'names' : 'whole',
      flags,
      (resource, { items }) =>
        objects.push(
          ...items.map(({ object }) => ({
            ...object,
            ...(format.as === 'name' && {
              kind: resource.kind,
              apiVersion: `${resource.group}/${resource.version}`,
            }),
          })),
        ),
    );
    failed = false;
  } finally {
    const single = targets.length === 1 && targets[0]!.name !== undefined;
    if (
      objects.length > 0 ||
      (!single && !failed && !(flags['ignore-not-found'] && targets[0]?.name !== undefined))
    )
      out(textOf(objects, format, single));
  }
}

/** Reads every target; a refusal of one does not stop the others. */
function eachTarget(
  service: ApiClient,
  targets: readonly ResourceArgs[],
  form: Form,
  flags: FlagValues,
  take: (resource: Resource, reading: ListResult) => void,
): Promise<void> {
  return each(targets, async ({ resource, name }) => {
    try {
      take(
        resource,
        name === undefined
          ? await readAll(service, resource, form, flags)
          : await readOne(service, resource, name, form),
      );
    } catch (error) {
      if (!(flags['ignore-not-found'] && error instanceof ApiRefusalError && error.status === 404))
        throw error;
    }
  });
}
