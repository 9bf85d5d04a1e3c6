import { apiVersion, group, servedVersions } from '../../../kinds/api-version.js';
import { CommandError, forEachCollectingErrors } from '../terminal/errors.js';
import { readInput } from '../terminal/files.js';
import type { Invocation } from '../terminal/flags.js';
import { writeOut } from '../terminal/output.js';
import { program } from '../terminal/program-name.js';
import { errorMessage } from '../terminal/thrown.js';
import { type PlacedObject, readYAMLObjects } from '../terminal/yaml-objects.js';
import { type ApiClient, type ApiObject, clientFor } from './connection/api-client.js';
import { discover } from './connection/discovery.js';
import { isDryRun } from './dry-run.js';
import { type Format, parseFormat } from './output/output-format.js';
import { formatObjects, qualifiedName } from './output/printers.js';
import { describeImpact } from './policy-impact.js';

/**
 * Creates the objects of a file in order, and prints each; goes on after one that is refused. With a
 * dry run, nothing is stored, and the impact of a policy is printed.
 */
export async function create(invocation: Invocation): Promise<void> {
  const { filename: file, output } = invocation.flags;
  if (!file) throw new CommandError(`create takes a file: ${program} create -f FILE`, 2);
  const dryRun = isDryRun(invocation.flags);
  const format = parseFormat(output, ['json', 'yaml', 'name']);
  const service = clientFor(invocation);
  await forEachCollectingErrors(readObjects(file), async ({ place, object }) => {
    const resource = await resourceOf(service, object, `${file}: ${place}`);
    const path = `/apis/${object.apiVersion}/${resource}${dryRun ? '?dryRun=All' : ''}`;
    const created = await service.request('POST', path, { body: object });
    writeOut(await formatCreated(service, created, format, dryRun));
  });
}

async function formatCreated(
  service: ApiClient,
  created: ApiObject,
  format: Format,
  dryRun: boolean,
): Promise<string> {
  if (format !== 'table') return formatObjects([created], format, true);
  const line = `${qualifiedName(created)} created${dryRun ? ' (server dry run)' : ''}\n`;
  return created.status?.impact ? `${line}${await describeImpact(service, created)}` : line;
}

/** Reads the objects of a YAML file, or a policy from a Cedar file. */
function readObjects(file: string): PlacedObject[] {
  const text = readInput(file);
  if (file.endsWith('.cedar')) {
    return [
      {
        place: 'line 1',
        object: { apiVersion, kind: 'Policy', metadata: {}, spec: { cedar: text } },
      },
    ];
  }
  let objects: PlacedObject[];
  try {
    objects = readYAMLObjects(text);
  } catch (error) {
    throw new CommandError(`${file}: ${errorMessage(error)}`);
  }
  if (objects.length === 0) throw new CommandError(`${file} contains no objects`);
  return objects;
}

async function resourceOf(
  service: ApiClient,
  { kind, apiVersion: named }: PlacedObject['object'],
  place: string,
): Promise<string> {
  const found = (await discover(service)).find((resource) => resource.kind === kind);
  if (!found || !servedVersions.some((version) => named === `${group}/${version}`)) {
    throw new CommandError(`${place}: the service has no kind ${kind} of ${named}`);
  }
  return found.plural;
}
