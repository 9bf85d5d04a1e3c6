import { call } from '../../base/api/api.js';
import type { Kind } from '../base/kind.js';
import { actionCommand, actionPath } from '../base/kubectl.js';

const bodyOf = ({ apiVersion }: Kind): object => ({ apiVersion, kind: 'ClientSecret', spec: {} });

/** Creates a secret of a Client. The response is the only one that contains it. */
export async function createSecret(kind: Kind, name: string): Promise<string> {
  const { status } = await call<{ status: { secret: string } }>(
    'POST',
    actionPath(kind, name, 'secret'),
    bodyOf(kind),
  );
  return status.secret;
}

/** Returns the command that does the same. */
export const secretCommand = (kind: Kind, name: string): string =>
  actionCommand(kind, name, 'secret', bodyOf(kind));
