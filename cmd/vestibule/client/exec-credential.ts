import { changeContexts, contextsFile, findContext, type Context } from './contexts.js';
import { CommandError, SignedOut } from '../terminal/errors.js';
import type { Asked } from '../terminal/flags.js';
import { say } from '../terminal/output.js';
import { serviceOf, spare } from './api-client.js';
import { signIn } from './device-flow.js';

/**
 * The part of kubectl's ExecCredential that is used (client.authentication.k8s.io,
 * KUBERNETES_EXEC_INFO).
 */
interface Wish {
  readonly apiVersion: string;
  readonly interactive: boolean;
}

const versions = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'];

/**
 * Prints the token of a context as an ExecCredential for kubectl, renewed if it is about to expire.
 * If a new sign-in is needed and a person is present, standard error shows how.
 */
export async function credential(asked: Asked): Promise<void> {
  const { apiVersion, interactive } = wishOf(asked.environment);
  const { accessToken, expires } = await held(asked, interactive);
  process.stdout.write(
    `${JSON.stringify({ apiVersion, kind: 'ExecCredential', status: { token: accessToken, expirationTimestamp: new Date(expires! - spare).toISOString().replace(/\.\d+/, '') } })}\n`,
  );
}

async function held(asked: Asked, interactive: boolean): Promise<Context> {
  const file = contextsFile(asked.environment);
  const { name, context } = findContext(file, asked.environment, asked.flags.context);
  try {
    return await serviceOf(asked).credential();
  } catch (error) {
    if (!(error instanceof SignedOut) || !interactive) throw error;
    const result = await signIn(context, say);
    return changeContexts(file, async (before) => ({
      after: { ...before, contexts: { ...before.contexts, [name]: result } },
      result,
    }));
  }
}

/** Without kubectl, a terminal counts as interactive. */
function wishOf({ KUBERNETES_EXEC_INFO: text }: NodeJS.ProcessEnv): Wish {
  if (text === undefined) return { apiVersion: versions[0]!, interactive: process.stdin.isTTY };
  let info;
  try {
    info = JSON.parse(text) as { apiVersion?: string; spec?: { interactive?: boolean } };
  } catch {
    throw new CommandError('KUBERNETES_EXEC_INFO cannot be read');
  }
  if (!versions.includes(info.apiVersion!))
    throw new CommandError(
      `kubectl asks for ${JSON.stringify(info.apiVersion)}; this command knows ${versions.join(' and ')}`,
    );
  return { apiVersion: info.apiVersion!, interactive: info.spec?.interactive === true };
}
