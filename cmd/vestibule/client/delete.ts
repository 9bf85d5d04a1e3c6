import { setTimeout as pause } from 'node:timers/promises';
import { pathOf, typeName, type Resource } from './discovery.js';
import { isDryRun } from './dry-run.js';
import { each, CommandError, ApiRefusalError } from '../terminal/errors.js';
import type { Asked, FlagValues } from '../terminal/flags.js';
import { formatOf } from './output-format.js';
import { out, say } from '../terminal/output.js';
import { readAll } from './list.js';
import { serviceOf, type ApiClient, type Thing } from './api-client.js';
import { targetsOf, type ResourceArgs } from './resource-args.js';

/** The first and longest pause between polls of a deleted object, in milliseconds. */
const looks = { first: 100, most: 2_000 };

/** A deleted object; a new object of the same name has another uid. */
interface Going {
  readonly path: string;
  readonly uid: string | undefined;
}

/** Deletes objects, and waits until they are removed. */
export async function remove(asked: Asked): Promise<void> {
  const { flags } = asked;
  const dryRun = isDryRun(flags);
  const format = formatOf(flags.output, ['name']);
  const service = serviceOf(asked);
  const targets = await chosen(service, await targetsOf(service, asked.args), flags);
  if (targets.length === 0) say('No resources found\n');
  const going: Going[] = [];
  await each(targets, async ({ resource, name }) => {
    const path = pathOf(resource, name);
    const gone = await service
      .request('DELETE', path, {
        body: { propagationPolicy: 'Background', ...(dryRun && { dryRun: ['All'] }) },
      })
      .catch((error: unknown) => {
        if (flags['ignore-not-found'] && error instanceof ApiRefusalError && error.status === 404)
          return undefined;
        throw error;
      });
    if (!gone) return;
    out(
      format.as === 'name'
        ? `${typeName(resource)}/${name}\n`
        : `${typeName(resource)} "${name}" deleted${dryRun ? ' (server dry run)' : ''}\n`,
    );
    going.push({ path, uid: uidOf(gone) });
  }).finally(async () => {
    if (dryRun || flags.wait === false) return;
    for (const one of going) await untilGone(service, one);
  });
}

/** Returns the named objects, or those of the types that the flags select. */
async function chosen(
  service: ApiClient,
  targets: readonly ResourceArgs[],
  flags: FlagValues,
): Promise<readonly ResourceArgs[]> {
  const chooses = flags.all === true || (flags.selector ?? flags['field-selector']) !== undefined;
  const named = targets.filter(({ name }) => name !== undefined);
  if (named.length > 0 && chooses)
    throw new CommandError('give either names, or --all or a selector', 2);
  if (named.length > 0) return named;
  if (!chooses) throw new CommandError('delete takes names of objects, or --all, or a selector', 2);
  const all: ResourceArgs[] = [];
  for (const { resource } of targets) all.push(...(await listed(service, resource, flags)));
  return all;
}

const listed = async (
  service: ApiClient,
  resource: Resource,
  flags: FlagValues,
): Promise<ResourceArgs[]> =>
  (await readAll(service, resource, 'names', flags)).items.map(({ object }) => ({
    resource,
    name: object.metadata.name!,
  }));

/** Returns the uid from the response to a deletion: the object, or a Status. */
const uidOf = ({ metadata, details }: Thing): string | undefined =>
  metadata.uid ?? (details as { uid?: string } | undefined)?.uid;

/**
 * Polls until the object is removed, replaced by another of its name, or no longer visible to the
 * caller.
 */
async function untilGone(service: ApiClient, { path, uid }: Going): Promise<void> {
  for (let wait = looks.first; ; wait = Math.min(looks.most, wait * 2)) {
    try {
      if ((await service.request('GET', path)).metadata.uid !== uid) return;
    } catch (error) {
      if (error instanceof ApiRefusalError && [401, 403, 404].includes(error.status)) return;
      throw error;
    }
    await pause(wait);
  }
}
