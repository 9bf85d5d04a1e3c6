import { CommandError } from '../../terminal/errors.js';
import type { Invocation } from '../../terminal/flags.js';
import { writeError, writeOut } from '../../terminal/output.js';
import { program } from '../../terminal/program-name.js';
import { clientFor } from './api-client.js';
import { changeContexts, contextsFile } from './contexts.js';
import { revoke, signIn } from './device-flow.js';
import { isSecure, readAuthority } from './server-address.js';

/** Signs in to a service and saves the tokens. */
export async function login({ args: [url], flags, environment }: Invocation): Promise<void> {
  if (url === undefined || !URL.canParse(url)) {
    throw new CommandError(
      `login takes the URL of the service: ${program} login https://id.example.com`,
      2,
    );
  }
  if (!isSecure(url)) throw new CommandError('the address must be https, or http on loopback', 2);
  const { origin: server, host } = new URL(url);
  const authority = readAuthority(flags);
  const context = await signIn(
    { server, ...(authority !== undefined && { certificateAuthority: authority }) },
    writeError,
  );
  const name = flags.context ?? host;
  await changeContexts(contextsFile(environment), async ({ contexts }) => ({
    after: { current: name, contexts: { ...contexts, [name]: context } },
    result: undefined,
  }));
  writeError(`Signed in to ${server}.\n`);
}

/** Revokes the tokens of a context, and removes it. */
export async function logout({ flags, environment }: Invocation): Promise<void> {
  await changeContexts(contextsFile(environment), async ({ current, contexts }) => {
    const name = flags.context ?? environment.VESTIBULE_CONTEXT ?? current;
    if (name === undefined || !contexts[name]) throw new CommandError('you are not signed in');
    const { [name]: removed, ...others } = contexts;
    await revoke(removed!);
    return {
      after: { ...(current !== undefined && current !== name && { current }), contexts: others },
      result: undefined,
    };
  });
  writeError('Signed out.\n');
}

/** Prints the email address of the signed-in account. */
export async function whoami(invocation: Invocation): Promise<void> {
  const { metadata, status } = await clientFor(invocation).requestAPI('GET', 'accounts/~');
  writeOut(`${status.email.address} (${metadata.name})\n`);
}
