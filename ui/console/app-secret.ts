import { call } from '../base/api.js';
import type { Kind } from './kind.js';

const pathOf = ({ path }: Kind, name: string): string =>
  `${path}/${encodeURIComponent(name)}/secret`;

const bodyOf = ({ apiVersion }: Kind): object => ({ apiVersion, kind: 'ClientSecret', spec: {} });

/** Creates a secret of a Client. The response is the only one that contains it. */
export async function createSecret(kind: Kind, name: string): Promise<string> {
  const { status } = await call<{ status: { secret: string } }>(
    'POST',
    pathOf(kind, name),
    bodyOf(kind),
  );
  return status.secret;
}

/** Returns the command that does the same. */
export const secretCommand = (kind: Kind, name: string): string =>
  `kubectl create --raw ${pathOf(kind, name)} -f - <<'EOF'\n${JSON.stringify(bodyOf(kind))}\nEOF`;
