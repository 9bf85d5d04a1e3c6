import { readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { discover } from './discovery.js';
import { CommandError } from '../terminal/errors.js';
import { describeImpact } from './policy-impact.js';
import { isDryRun } from './dry-run.js';
import type { Asked } from '../terminal/flags.js';
import { asJSON, asYAML } from './output-format.js';
import { out } from '../terminal/output.js';
import { program } from '../terminal/program-name.js';
import { serviceOf, type ApiClient, type Thing } from './api-client.js';

/**
 * Creates the objects of a file in order, and prints each. With a dry run, nothing is stored, and
 * the impact of a policy is printed.
 */
export async function create(asked: Asked): Promise<void> {
  const { filename: file, output } = asked.flags;
  if (!file) throw new CommandError(`create takes a file: ${program} create -f FILE`, 2);
  const dryRun = isDryRun(asked.flags);
  if (output !== undefined && output !== 'json' && output !== 'yaml')
    throw new CommandError('-o must be json or yaml', 2);
  const service = serviceOf(asked);
  for (const object of read(file)) {
    const resource = await resourceOf(service, object.kind);
    const made = await service.ask('POST', `${resource}${dryRun ? '?dryRun=All' : ''}`, object);
    out(await print(service, made, { resource, dryRun, output }));
  }
}

async function print(
  service: ApiClient,
  made: Thing,
  { resource, dryRun, output }: { resource: string; dryRun: boolean; output: string | undefined },
): Promise<string> {
  if (output === 'json') return asJSON(made);
  if (output === 'yaml') return asYAML(made);
  const line = `${resource}/${made.metadata.name} created${dryRun ? ' (server dry run)' : ''}\n`;
  return made.status?.impact ? `${line}${await describeImpact(service, made)}` : line;
}

/** Reads the objects of a YAML file, or a policy from a Cedar file. */
function read(file: string): Thing[] {
  let text: string;
  try {
    text = readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new CommandError((error as Error).message);
  }
  if (file.endsWith('.cedar'))
    return [
      {
        apiVersion: 'id.vestibule.org/v1alpha1',
        kind: 'Policy',
        metadata: {},
        spec: { cedar: text },
      },
    ];
  const documents = [...parseAllDocuments(text)];
  const wrong = documents.flatMap(({ errors }) => errors)[0];
  if (wrong) throw new CommandError(`${file}: ${wrong.message}`);
  const objects = documents
    .map((document) => document.toJS() as Thing | null)
    .filter((object) => object !== null);
  if (objects.length === 0) throw new CommandError(`${file} contains no objects`);
  for (const { kind } of objects)
    if (typeof kind !== 'string') throw new CommandError(`${file}: an object has no kind`);
  return objects;
}

async function resourceOf(service: ApiClient, kind: string): Promise<string> {
  const found = (await discover(service)).find((one) => one.kind === kind);
  if (!found) throw new CommandError(`the service has no kind ${JSON.stringify(kind)}`);
  return found.plural;
}
