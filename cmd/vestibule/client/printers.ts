import { typeName } from './discovery.js';
import { asJSON, asYAML, type Format } from './output-format.js';
import { fill } from './jsonpath.js';
import type { Thing } from './api-client.js';

/** Formats objects other than as a table: a single one as it is, several as a List. */
export function textOf(objects: readonly Thing[], format: Format, single: boolean): string {
  if (format.as === 'name') return objects.map((one) => `${nameOf(one)}\n`).join('');
  const value = single
    ? objects[0]!
    : { apiVersion: 'v1', items: objects, kind: 'List', metadata: { resourceVersion: '' } };
  if (format.as === 'jsonpath') return fill(format.template, value);
  return format.as === 'yaml' ? asYAML(value) : asJSON(value);
}

/** Returns an object's name with its type, such as `group.id.vestibule.org/staff`. */
export const nameOf = ({ kind, apiVersion, metadata }: Thing): string =>
  `${typeName({ kind, group: /^(.*)\//.exec(String(apiVersion))?.[1] ?? '' })}/${metadata.name}`;
