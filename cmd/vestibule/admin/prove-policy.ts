import { readFile } from 'node:fs/promises';
import { actions, kinds } from '../../../kinds/index.js';
import { cedarSchema } from '../../../policy/model/cedar-schema.js';
import { vocabularyOf } from '../../../policy/model/vocabulary.js';
import { promises } from '../../../policy/prove/promises.js';
import { type Counterexample, provePromises } from '../../../policy/prove/prover.js';
import { defaultPolicy } from '../../../policy/text/default-policy.js';
import { CommandError } from '../terminal/errors.js';
import { usageError } from '../terminal/help.js';
import { errorCode, errorMessage } from '../terminal/thrown.js';

const proverVariable = 'VESTIBULE_POLICY_PROVER';
const proverName = 'vestibule-policy-prover';

/**
 * Runs `vestibule policy prove [FILE]`: proves what the default policy promises about it, or about the
 * text of a file. Sets exit code 1 if a promise is broken.
 */
export async function provePolicy(
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<void> {
  const [file, ...more] = args;
  if (more.length > 0 || file?.startsWith('-')) throw usageError('policy');
  const vocabulary = vocabularyOf(kinds, actions);
  const text = file === undefined ? defaultPolicy(vocabulary) : await readText(file);
  const prover = environment[proverVariable] ?? proverName;
  const policy = { schema: cedarSchema(vocabulary), text };
  const proofs = await provePromises(prover, policy, promises).catch((error: unknown) => {
    if (errorCode(error) !== 'ENOENT') throw new CommandError(errorMessage(error));
    throw new CommandError(
      `the prover was not found (${prover}): build it with hack/tools/policy-prover/build and set ${proverVariable} to the path that it prints`,
    );
  });
  const width = Math.max(...promises.map(({ id }) => id.length));
  for (const { id, statement } of promises) {
    const { counterexample } = proofs.find((proof) => proof.id === id)!;
    process.stdout.write(
      `${counterexample ? 'BROKEN' : 'kept  '}  ${id.padEnd(width)}  ${statement}\n`,
    );
    if (counterexample) process.stdout.write(`        for example: ${describe(counterexample)}\n`);
  }
  const broken = proofs.filter(({ counterexample }) => counterexample).length;
  process.stdout.write(
    `${proofs.length - broken} of ${proofs.length} promises are kept, for ${proofs[0]?.environments} combinations of principal, action and resource\n`,
  );
  if (broken > 0) process.exitCode = 1;
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${errorMessage(error)}`);
  }
}

/** Returns a request that breaks a promise, in one line. */
function describe({ principal, action, resource, context, entities }: Counterexample): string {
  const entity = (principal: Counterexample['principal']): string =>
    `${principal.type}::${JSON.stringify(principal.id)}`;
  const groups = entities
    .find(({ uid }) => uid.type === principal.type && uid.id === principal.id)
    ?.parents.map(entity);
  const facts = Object.entries(context)
    .filter(([, value]) => value === true || (typeof value === 'string' && value !== ''))
    .map(([name, value]) => `${name} ${String(value)}`);
  return [
    `${entity(principal)}${groups?.length ? ` in ${groups.join(', ')}` : ''} may ${action.id} ${entity(resource)}`,
    ...facts,
  ].join(', ');
}
