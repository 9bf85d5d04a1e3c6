import { setTimeout as pause } from 'node:timers/promises';
import { ApiStatusError, CommandError, forEachCollectingErrors } from '../terminal/errors.js';
import type { FlagValues, Invocation } from '../terminal/flags.js';
import { writeError, writeOut } from '../terminal/output.js';
import { type ApiClient, type ApiObject, clientFor } from './connection/api-client.js';
import { type Resource, resourcePath, typeName } from './connection/discovery.js';
import { readAll } from './connection/list.js';
import { parseTargets, type ResourceArgs } from './connection/resource-args.js';
import { isDryRun } from './dry-run.js';
import { parseFormat } from './output/output-format.js';

/** The first and longest pause between polls of a deleted object, in milliseconds. */
const pollTimesMs = { first: 100, max: 2_000 };

/** A deleted object; a new object of the same name has another uid. */
interface Deletion {
  readonly path: string;
  readonly uid: string | undefined;
}

/** Deletes objects, and waits until they are removed. */
export async function deleteObjects(invocation: Invocation): Promise<void> {
  const { flags } = invocation;
  const dryRun = isDryRun(flags);
  const format = parseFormat(flags.output, ['name']);
  const service = clientFor(invocation);
  const targets = await selectTargets(service, await parseTargets(service, invocation.args), flags);
  if (targets.length === 0) writeError('No resources found\n');
  const deletions: Deletion[] = [];
  await forEachCollectingErrors(targets, async ({ resource, name }) => {
    const path = resourcePath(resource, name);
    const deleted = await service
      .request('DELETE', path, {
        body: { propagationPolicy: 'Background', ...(dryRun && { dryRun: ['All'] }) },
      })
      .catch((error: unknown) => {
        if (flags['ignore-not-found'] && error instanceof ApiStatusError && error.status === 404) {
          return undefined;
        }
        throw error;
      });
    if (!deleted) return;
    writeOut(
      format === 'name'
        ? `${typeName(resource)}/${name}\n`
        : `${typeName(resource)} "${name}" deleted${dryRun ? ' (server dry run)' : ''}\n`,
    );
    deletions.push({ path, uid: uidOf(deleted) });
  }).finally(async () => {
    if (dryRun || flags.wait === false) return;
    for (const deletion of deletions) await waitUntilRemoved(service, deletion);
  });
}

/** Returns the named objects, or those of the types that the flags select. */
async function selectTargets(
  service: ApiClient,
  targets: readonly ResourceArgs[],
  flags: FlagValues,
): Promise<readonly ResourceArgs[]> {
  const hasSelector =
    flags.all === true || (flags.selector ?? flags['field-selector']) !== undefined;
  const named = targets.filter(({ name }) => name !== undefined);
  if (named.length > 0 && hasSelector) {
    throw new CommandError('give either names, or --all or a selector', 2);
  }
  if (named.length > 0) return named;
  refuseEmptySelectors(flags);
  if (!hasSelector) {
    throw new CommandError('delete takes names of objects, or --all, or a selector', 2);
  }
  const found: ResourceArgs[] = [];
  for (const { resource } of targets) found.push(...(await listTargets(service, resource, flags)));
  return found;
}

/** Throws for a selector without a requirement, usually a lost variable: it would select everything. */
function refuseEmptySelectors(flags: FlagValues): void {
  for (const flag of ['selector', 'field-selector'] as const) {
    if (flags[flag]?.trim() === '') {
      throw new CommandError(`--${flag} must not be empty; --all deletes every object`, 2);
    }
  }
}

const listTargets = async (
  service: ApiClient,
  resource: Resource,
  flags: FlagValues,
): Promise<ResourceArgs[]> =>
  (await readAll(service, resource, 'names', flags)).items.map(({ object }) => ({
    resource,
    name: object.metadata.name!,
  }));

/** Returns the uid from the response to a deletion: the object, or a Status. */
const uidOf = ({ metadata, details }: ApiObject): string | undefined =>
  metadata.uid ?? (details as { uid?: string } | undefined)?.uid;

/**
 * Polls until the object is removed, replaced by another of its name, or no longer visible to the
 * caller.
 */
async function waitUntilRemoved(service: ApiClient, { path, uid }: Deletion): Promise<void> {
  for (let waitMs = pollTimesMs.first; ; waitMs = Math.min(pollTimesMs.max, waitMs * 2)) {
    try {
      if ((await service.request('GET', path)).metadata.uid !== uid) return;
    } catch (error) {
      if (error instanceof ApiStatusError && [401, 403, 404].includes(error.status)) return;
      throw error;
    }
    await pause(waitMs);
  }
}
