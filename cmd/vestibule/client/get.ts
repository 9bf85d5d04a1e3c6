import { ApiStatusError, CommandError, forEachCollectingErrors } from '../terminal/errors.js';
import type { FlagValues, Invocation } from '../terminal/flags.js';
import { writeError, writeOut } from '../terminal/output.js';
import { type ApiClient, type ApiObject, clientFor } from './connection/api-client.js';
import type { Resource } from './connection/discovery.js';
import { type ListForm, type ListResult, readAll, readOne } from './connection/list.js';
import { parseTargets, type ResourceArgs } from './connection/resource-args.js';
import { type Format, parseFormat } from './output/output-format.js';
import { formatObjects } from './output/printers.js';
import { TablePrinter } from './output/table-printer.js';
import { watchAndPrint } from './watch.js';

/** Prints objects as kubectl does, by default as the server's table. */
export async function get(invocation: Invocation): Promise<void> {
  const { flags } = invocation;
  const format = parseFormat(flags.output, ['wide', 'json', 'yaml', 'name']);
  if (flags.watch) return watchAndPrint(invocation, format);
  const service = clientFor(invocation);
  const targets = await parseTargets(service, invocation.args);
  if (
    targets.some(({ name }) => name !== undefined) &&
    (flags.selector ?? flags['field-selector']) !== undefined
  ) {
    throw new CommandError('a selector applies to all objects of a type; leave out the names', 2);
  }
  const print = format === 'table' || format === 'wide' ? printTables : printObjects;
  await print(service, targets, format, flags);
}

async function printTables(
  service: ApiClient,
  targets: readonly ResourceArgs[],
  format: Format,
  flags: FlagValues,
): Promise<void> {
  const groups: { resource: Resource; results: ListResult[] }[] = [];
  let isFailed = true;
  try {
    await readTargets(service, targets, 'rows', flags, (resource, reading) => {
      if (groups.at(-1)?.resource !== resource) groups.push({ resource, results: [] });
      groups.at(-1)!.results.push(reading);
    });
    isFailed = false;
  } finally {
    const withType = new Set(groups.map(({ resource }) => resource)).size > 1;
    const texts = groups
      .map(({ resource, results }) =>
        new TablePrinter(resource, { wide: format === 'wide', flags, withType }).print(
          results.flatMap(({ items }) => items),
          results.find(({ columns }) => columns.length > 0)?.columns ?? [],
        ),
      )
      .filter((text) => text !== '');
    writeOut(texts.join(flags['no-headers'] ? '' : '\n'));
    if (texts.length === 0 && !isFailed && !flags['ignore-not-found']) {
      writeError('No resources found\n');
    }
  }
}

async function printObjects(
  service: ApiClient,
  targets: readonly ResourceArgs[],
  format: Format,
  flags: FlagValues,
): Promise<void> {
  const objects: ApiObject[] = [];
  let failed = true;
  try {
    await readTargets(
      service,
      targets,
      format === 'name' ? 'names' : 'objects',
      flags,
      (resource, { items }) =>
        objects.push(
          ...items.map(({ object }) => ({
            ...object,
            ...(format === 'name' && {
              kind: resource.kind,
              apiVersion: `${resource.group}/${resource.version}`,
            }),
          })),
        ),
    );
    failed = false;
  } finally {
    const isSingle = targets.length === 1 && targets[0]!.name !== undefined;
    if (
      objects.length > 0 ||
      (!isSingle && !failed && !(flags['ignore-not-found'] && targets[0]?.name !== undefined))
    ) {
      writeOut(formatObjects(objects, format, isSingle));
    }
  }
}

/** Reads every target; a refusal of one does not stop the others. */
function readTargets(
  service: ApiClient,
  targets: readonly ResourceArgs[],
  form: ListForm,
  flags: FlagValues,
  onResult: (resource: Resource, reading: ListResult) => void,
): Promise<void> {
  return forEachCollectingErrors(targets, async ({ resource, name }) => {
    try {
      onResult(
        resource,
        name === undefined
          ? await readAll(service, resource, form, flags)
          : await readOne(service, resource, name, form),
      );
    } catch (error) {
      if (!(flags['ignore-not-found'] && error instanceof ApiStatusError && error.status === 404)) {
        throw error;
      }
    }
  });
}
