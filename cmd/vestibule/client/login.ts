import { authorityOf, isTrustworthy } from './server-address.js';
import { changeContexts, contextsFile } from './contexts.js';
import { CommandError } from '../terminal/errors.js';
import type { Asked } from '../terminal/flags.js';
import { out, say } from '../terminal/output.js';
import { program } from '../terminal/program-name.js';
import { serviceOf } from './api-client.js';
import { revoke, signIn } from './device-flow.js';

/** Signs in to a service and saves the tokens. */
export async function login({ args: [url], flags, environment }: Asked): Promise<void> {
  if (url === undefined || !URL.canParse(url))
    throw new CommandError(
      `login takes the URL of the service: ${program} login https://id.example.com`,
      2,
    );
  if (!isTrustworthy(url))
    throw new CommandError('the address must be https, or http on loopback', 2);
  const { origin: server, host } = new URL(url);
  const authority = authorityOf(flags);
  const context = await signIn(
    { server, ...(authority !== undefined && { certificateAuthority: authority }) },
    say,
  );
  const called = flags.context ?? host;
  await changeContexts(contextsFile(environment), async ({ contexts }) => ({
    after: { current: called, contexts: { ...contexts, [called]: context } },
    result: undefined,
  }));
  say(`Signed in to ${server}.\n`);
}

/** Revokes the tokens of a context, and removes it. */
export async function logout({ flags, environment }: Asked): Promise<void> {
  await changeContexts(contextsFile(environment), async ({ current, contexts }) => {
    const called = flags.context ?? environment.VESTIBULE_CONTEXT ?? current;
    if (called === undefined || !contexts[called]) throw new CommandError('you are not signed in');
    const { [called]: gone, ...others } = contexts;
    await revoke(gone!);
    return {
      after: { ...(current !== undefined && current !== called && { current }), contexts: others },
      result: undefined,
    };
  });
  say('Signed out.\n');
}

/** Prints the email address of the signed-in account. */
export async function whoami(asked: Asked): Promise<void> {
  const { metadata, status } = await serviceOf(asked).ask('GET', 'accounts/~');
  out(`${status.email.address} (${metadata.name})\n`);
}
