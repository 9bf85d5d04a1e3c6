import type { ApiObject } from '../connection/api-client.js';
import { typeName } from '../connection/discovery.js';
import { type Format, formatJSON, formatYAML } from './output-format.js';

/** Formats objects other than as a table: a single one as it is, several as a List. */
export function formatObjects(
  objects: readonly ApiObject[],
  format: Format,
  isSingle: boolean,
): string {
  if (format === 'name') return objects.map((object) => `${qualifiedName(object)}\n`).join('');
  const value = isSingle
    ? objects[0]!
    : { apiVersion: 'v1', items: objects, kind: 'List', metadata: { resourceVersion: '' } };
  return format === 'yaml' ? formatYAML(value) : formatJSON(value);
}

/** Returns an object's name with its type, such as `group.id.vestibule.org/staff`. */
export const qualifiedName = ({ kind, apiVersion, metadata }: ApiObject): string =>
  `${typeName({ kind, group: /^(.*)\//.exec(String(apiVersion))?.[1] ?? '' })}/${metadata.name}`;
