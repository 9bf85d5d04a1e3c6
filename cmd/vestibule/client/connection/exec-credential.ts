import { CommandError, SignedOutError } from '../../terminal/errors.js';
import type { Invocation } from '../../terminal/flags.js';
import { writeError } from '../../terminal/output.js';
import { clientFor, renewBeforeMs } from './api-client.js';
import { type Context, changeContexts, contextsFile, findContext } from './contexts.js';
import { signIn } from './device-flow.js';

/**
 * The part of kubectl's ExecCredential that is used (client.authentication.k8s.io,
 * KUBERNETES_EXEC_INFO).
 */
interface ExecInfo {
  readonly apiVersion: string;
  readonly interactive: boolean;
}

const supportedVersions = [
  'client.authentication.k8s.io/v1',
  'client.authentication.k8s.io/v1beta1',
];

/**
 * Prints the token of a context as an ExecCredential for kubectl, renewed if it is about to expire.
 * If a new sign-in is needed and a person is present, standard error shows how.
 */
export async function credential(invocation: Invocation): Promise<void> {
  const { apiVersion, interactive } = readExecInfo(invocation.environment);
  const { accessToken, expires } = await freshCredential(invocation, interactive);
  process.stdout.write(
    `${JSON.stringify({ apiVersion, kind: 'ExecCredential', status: { token: accessToken, expirationTimestamp: new Date(expires! - renewBeforeMs).toISOString().replace(/\.\d+/, '') } })}\n`,
  );
}

async function freshCredential(invocation: Invocation, interactive: boolean): Promise<Context> {
  const file = contextsFile(invocation.environment);
  const { name, context } = findContext(file, invocation.environment, invocation.flags.context);
  try {
    return await clientFor(invocation).credential();
  } catch (error) {
    if (!(error instanceof SignedOutError) || !interactive) throw error;
    const result = await signIn(context, writeError);
    return changeContexts(file, async (before) => ({
      after: { ...before, contexts: { ...before.contexts, [name]: result } },
      result,
    }));
  }
}

/** Without kubectl, a terminal counts as interactive. */
function readExecInfo({ KUBERNETES_EXEC_INFO: text }: NodeJS.ProcessEnv): ExecInfo {
  if (text === undefined) {
    return { apiVersion: supportedVersions[0]!, interactive: process.stdin.isTTY };
  }
  let info;
  try {
    info = JSON.parse(text) as { apiVersion?: string; spec?: { interactive?: boolean } };
  } catch {
    throw new CommandError('KUBERNETES_EXEC_INFO cannot be read');
  }
  if (!supportedVersions.includes(info.apiVersion!)) {
    throw new CommandError(
      `kubectl asks for ${JSON.stringify(info.apiVersion)}; this command knows ${supportedVersions.join(' and ')}`,
    );
  }
  return { apiVersion: info.apiVersion!, interactive: info.spec?.interactive === true };
}
