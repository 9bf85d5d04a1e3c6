import { readFileSync } from 'node:fs';
import { parseDocument } from 'yaml';
import { pathOf } from './discovery.js';
import { isDryRun } from './dry-run.js';
import { each, CommandError } from '../terminal/errors.js';
import type { Asked, FlagValues } from '../terminal/flags.js';
import { formatOf } from './output-format.js';
import { nameOf, textOf } from './printers.js';
import { out } from '../terminal/output.js';
import { serviceOf } from './api-client.js';
import { targetsOf } from './resource-args.js';

/** The media type of each patch type. The service refuses those that it does not support. */
const types: Readonly<Record<string, string>> = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

/** Patches fields of objects. */
export async function patch(asked: Asked): Promise<void> {
  const { flags } = asked;
  const type = types[flags.type ?? 'merge'];
  if (type === undefined) throw new CommandError('--type must be merge', 2);
  const dryRun = isDryRun(flags);
  const format = formatOf(flags.output, ['json', 'yaml', 'name', 'jsonpath']);
  const body = bodyOf(flags);
  const service = serviceOf(asked);
  const targets = await targetsOf(service, asked.args);
  if (targets.some(({ name }) => name === undefined))
    throw new CommandError('patch takes the name of an object: TYPE NAME or TYPE/NAME', 2);
  await each(targets, async ({ resource, name }) => {
    const path = pathOf(resource, name);
    const former = await service.request('GET', path);
    const now = await service.request('PATCH', `${path}${dryRun ? '?dryRun=All' : ''}`, {
      body,
      type,
    });
    const changed = dryRun || former.metadata.resourceVersion !== now.metadata.resourceVersion;
    out(
      format.as === 'table'
        ? `${nameOf(now)} patched${changed ? '' : ' (no change)'}${dryRun ? ' (server dry run)' : ''}\n`
        : textOf([now], format, true),
    );
  });
}

function bodyOf({ patch: text, 'patch-file': file }: FlagValues): unknown {
  if ((text === undefined) === (file === undefined))
    throw new CommandError('patch takes a patch: -p PATCH or --patch-file FILE', 2);
  const document = parseDocument(text ?? read(file!));
  if (document.errors.length > 0)
    throw new CommandError(
      `the patch is neither JSON nor YAML: ${document.errors[0]!.message.split('\n')[0]}`,
      2,
    );
  const body: unknown = document.toJS();
  if (typeof body !== 'object' || body === null)
    throw new CommandError('the patch has no fields', 2);
  return body;
}

function read(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new CommandError((error as Error).message);
  }
}
