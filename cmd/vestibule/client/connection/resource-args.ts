import { CommandError } from '../../terminal/errors.js';
import { program } from '../../terminal/program-name.js';
import type { ApiClient } from './api-client.js';
import { discover, findResources, type Resource } from './discovery.js';

/** The target of a subcommand: a type, or one object of it. */
export interface ResourceArgs {
  readonly resource: Resource;
  readonly name?: string;
}

/**
 * Parses `TYPE`, `TYPE,TYPE`, `TYPE NAME...` and `TYPE/NAME...` like kubectl, with the service's
 * discovery.
 */
export async function parseTargets(
  service: ApiClient,
  args: readonly string[],
): Promise<ResourceArgs[]> {
  const [types, ...names] = args;
  if (!types) {
    throw new CommandError(
      `the type of object is missing; ${program} api-resources lists the types`,
      2,
    );
  }
  const pairs = args.map((arg) => arg.split('/'));
  const slashPairs = pairs.filter(({ length }) => length > 1);
  if (slashPairs.some(([type, name, more]) => !type || !name || more !== undefined)) {
    throw new CommandError('arguments in TYPE/NAME form have one type and one name', 2);
  }
  if (slashPairs.length > 0 && slashPairs.length < args.length) {
    throw new CommandError('TYPE cannot be given separately with TYPE/NAME arguments', 2);
  }
  const invalidName = (slashPairs.length > 0 ? slashPairs.map(([, name]) => name!) : names).find(
    (name) => ['', '.', '..'].includes(name),
  ); // in a path they would lead elsewhere
  if (invalidName !== undefined) {
    throw new CommandError(`${JSON.stringify(invalidName)} is not a name`, 2);
  }
  const resources = await discover(service);
  if (slashPairs.length > 0) {
    return slashPairs.flatMap(([type, name]) =>
      findResources(resources, type!).map((resource) => ({ resource, name: name! })),
    );
  }
  const found = [
    ...new Set(
      types
        .split(',')
        .filter(Boolean)
        .flatMap((type) => findResources(resources, type)),
    ),
  ];
  return found.flatMap((resource): ResourceArgs[] =>
    names.length > 0 ? [...new Set(names)].map((name) => ({ resource, name })) : [{ resource }],
  );
}
