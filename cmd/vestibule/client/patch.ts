import { parseDocument } from 'yaml';
import { CommandError, forEachCollectingErrors } from '../terminal/errors.js';
import { readInput } from '../terminal/files.js';
import type { FlagValues, Invocation } from '../terminal/flags.js';
import { writeOut } from '../terminal/output.js';
import { clientFor } from './connection/api-client.js';
import { resourcePath } from './connection/discovery.js';
import { parseTargets } from './connection/resource-args.js';
import { isDryRun } from './dry-run.js';
import { parseFormat } from './output/output-format.js';
import { formatObjects, qualifiedName } from './output/printers.js';

/** The media type of each patch type. The service refuses those that it does not support. */
const mediaTypes: Readonly<Record<string, string>> = {
  merge: 'application/merge-patch+json',
  json: 'application/json-patch+json',
  strategic: 'application/strategic-merge-patch+json',
};

/** Patches fields of objects. */
export async function patch(invocation: Invocation): Promise<void> {
  const { flags } = invocation;
  const type = mediaTypes[flags.type ?? 'merge'];
  if (type === undefined) throw new CommandError('--type must be merge or json', 2);
  const dryRun = isDryRun(flags);
  const format = parseFormat(flags.output, ['json', 'yaml', 'name']);
  const body = parsePatch(flags);
  const service = clientFor(invocation);
  const targets = await parseTargets(service, invocation.args);
  if (targets.some(({ name }) => name === undefined)) {
    throw new CommandError('patch takes the name of an object: TYPE NAME or TYPE/NAME', 2);
  }
  await forEachCollectingErrors(targets, async ({ resource, name }) => {
    const path = resourcePath(resource, name);
    const before = await service.request('GET', path);
    const after = await service.request('PATCH', `${path}${dryRun ? '?dryRun=All' : ''}`, {
      body,
      type,
    });
    const isChanged = dryRun || before.metadata.resourceVersion !== after.metadata.resourceVersion;
    writeOut(
      format === 'table'
        ? `${qualifiedName(after)} patched${isChanged ? '' : ' (no change)'}${dryRun ? ' (server dry run)' : ''}\n`
        : formatObjects([after], format, true),
    );
  });
}

function parsePatch({ patch: text, 'patch-file': file }: FlagValues): unknown {
  if ((text === undefined) === (file === undefined)) {
    throw new CommandError('patch takes a patch: -p PATCH or --patch-file FILE', 2);
  }
  const document = parseDocument(text ?? readInput(file!));
  if (document.errors.length > 0) {
    throw new CommandError(
      `the patch is neither JSON nor YAML: ${document.errors[0]!.message.split('\n')[0]}`,
      2,
    );
  }
  const body: unknown = document.toJS();
  if (typeof body !== 'object' || body === null) {
    throw new CommandError('the patch has no fields', 2);
  }
  return body;
}
