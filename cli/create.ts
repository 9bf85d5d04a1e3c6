import { readFileSync } from 'node:fs';
import { parseAllDocuments, stringify } from 'yaml';
import { Failure } from './failure.js';
import { describeImpact } from './impact.js';
import type { Service, Thing } from './service.js';

/** How a creation is asked for. */
export interface Creating { readonly file: string; readonly dryRun: boolean; readonly output?: string | undefined }

/** Creates what a file holds, in order, and says so; with a dry run nothing is stored, and of a policy its impact is told. Gives what is to be printed. */
export async function create(service: Service, { file, dryRun, output }: Creating): Promise<string> {
  const printed: string[] = [];
  for (const object of read(file)) {
    const resource = await resourceOf(service, object.kind);
    const made = await service.ask('POST', `${resource}${dryRun ? '?dryRun=All' : ''}`, object);
    printed.push(await print(service, made, { resource, dryRun, output }));
  }
  return printed.join('');
}

async function print(service: Service, made: Thing, { resource, dryRun, output }: { resource: string; dryRun: boolean; output: string | undefined }): Promise<string> {
  if (output === 'json') return `${JSON.stringify(made, null, 2)}\n`;
  if (output === 'yaml') return stringify(made);
  const line = `${resource}/${made.metadata.name} created${dryRun ? ' (server dry run)' : ''}\n`;
  return made.status?.impact ? `${line}${await describeImpact(service, made)}` : line;
}

/** The objects of a YAML file; a file of Cedar is a policy. */
function read(file: string): Thing[] {
  let text: string;
  try { text = readFileSync(file === '-' ? 0 : file, 'utf8') } catch (error) { throw new Failure((error as Error).message) }
  if (file.endsWith('.cedar')) return [{ apiVersion: 'id.vestibule.org/v1alpha1', kind: 'Policy', metadata: {}, spec: { cedar: text } }];
  const documents = [...parseAllDocuments(text)];
  const wrong = documents.flatMap(({ errors }) => errors)[0];
  if (wrong) throw new Failure(`${file}: ${wrong.message}`);
  const objects = documents.map((document) => document.toJS() as Thing | null).filter((object) => object !== null);
  if (objects.length === 0) throw new Failure(`${file} holds no objects`);
  for (const { kind } of objects) if (typeof kind !== 'string') throw new Failure(`${file}: an object has no kind`);
  return objects;
}

async function resourceOf(service: Service, kind: string): Promise<string> {
  const { resources } = (await service.ask('GET', '')) as unknown as { resources: readonly { name: string; kind: string }[] };
  const found = resources.find((one) => one.kind === kind && !one.name.includes('/'));
  if (!found) throw new Failure(`the service has no kind ${JSON.stringify(kind)}`);
  return found.name;
}
