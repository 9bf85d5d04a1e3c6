import { call } from '../../base/api/api.js';
import type { Kind } from './kind.js';
import { toYaml } from './yaml.js';

/** An argument of a POSIX shell. */
const quote = (text: string): string =>
  /^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

const command = (...words: readonly string[]): string => ['kubectl', ...words.map(quote)].join(' ');

/** The name of a resource that no other group can have. */
const resourceOf = ({ resource, group }: Kind): string => `${resource}.${group}`;

/** Returns the command that lists the objects that selectors match. */
export const listCommand = (kind: Kind, selectors: Readonly<Record<string, string>>): string =>
  command(
    'get',
    resourceOf(kind),
    ...(selectors.fieldSelector ? [`--field-selector=${selectors.fieldSelector}`] : []),
    ...(selectors.labelSelector ? [`--selector=${selectors.labelSelector}`] : []),
  );

/** Returns the command that prints an object. */
export const getCommand = (kind: Kind, name: string): string =>
  command('get', resourceOf(kind), name, '-o', 'yaml');

/** Returns the command that creates an object. */
export const createCommand = (body: object): string =>
  `kubectl create -f - <<'EOF'\n${toYaml(body)}EOF`;

/** Returns the command that applies a merge patch (RFC 7396). */
export const patchCommand = (kind: Kind, name: string, patch: object): string =>
  command('patch', resourceOf(kind), name, '--type=merge', '-p', JSON.stringify(patch));

/** Returns the path of an object. */
export const objectPath = ({ path }: Kind, name: string): string =>
  `${path}/${encodeURIComponent(name)}`;

/** Returns the path of an action on an object, such as `accounts/<name>/disable`. */
export const actionPath = (kind: Kind, name: string, subresource: string): string =>
  `${objectPath(kind, name)}/${subresource}`;

/** Returns the command that sends the body of an action. */
export const actionCommand = (
  kind: Kind,
  name: string,
  subresource: string,
  body: object,
): string =>
  `kubectl create --raw ${actionPath(kind, name, subresource)} -f - <<'EOF'\n${JSON.stringify(body)}\nEOF`;

/** Deletes an object, with the body that kubectl sends. */
export const deleteObject = (kind: Kind, name: string): Promise<unknown> =>
  call('DELETE', objectPath(kind, name), { propagationPolicy: 'Background' });

/** Returns the command that deletes an object. */
export const deleteCommand = (kind: Kind, name: string): string =>
  command('delete', resourceOf(kind), name);
