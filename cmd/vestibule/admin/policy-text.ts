import { parseArgs } from 'node:util';
import { actions, kinds } from '../../../kinds/index.js';
import { cedarSchema } from '../../../policy/model/cedar-schema.js';
import { vocabularyOf } from '../../../policy/model/vocabulary.js';
import { schemaToJSON } from '../../../policy/parse/cedar.js';
import { defaultPolicy } from '../../../policy/text/default-policy.js';
import { CommandError } from '../terminal/errors.js';
import { usageError } from '../terminal/help.js';

/**
 * Runs `vestibule policy [schema]`: prints the default policy of this release, or the Cedar schema of
 * what policies may speak of.
 */
export function policy(args: readonly string[]): void {
  const { about, output } = parsePolicyArgs(args);
  const vocabulary = vocabularyOf(kinds, actions);
  if (about === undefined) return void process.stdout.write(defaultPolicy(vocabulary));
  const schema = cedarSchema(vocabulary);
  process.stdout.write(
    output === 'json' ? `${JSON.stringify(schemaToJSON(schema), null, 2)}\n` : schema,
  );
}

function parsePolicyArgs(args: readonly string[]): { about?: string; output?: string } {
  const usage = usageError('policy');
  const options = { output: { type: 'string', short: 'o' } } as const;
  let parsed;
  try {
    parsed = parseArgs({ args: [...args], options, allowPositionals: true });
  } catch {
    throw usage;
  }
  const { values, positionals } = parsed;
  const [about, ...more] = positionals;
  if (more.length > 0 || (about !== undefined && about !== 'schema')) throw usage;
  if (about === undefined && values.output !== undefined) throw usage;
  if (values.output !== undefined && values.output !== 'cedar' && values.output !== 'json') {
    throw new CommandError('-o must be cedar or json', 2);
  }
  return { ...(about && { about }), ...(values.output && { output: values.output }) };
}
