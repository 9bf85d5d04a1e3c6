import { CommandError, KubectlStyleError } from '../terminal/errors.js';
import type { Invocation } from '../terminal/flags.js';
import { writeOut } from '../terminal/output.js';
import { program } from '../terminal/program-name.js';
import { type ApiClient, clientFor } from './connection/api-client.js';
import { discover, findResources, type Resource } from './connection/discovery.js';

/** An OpenAPI 3.0 schema as kubectl reads it (docs/design/kubernetes.md#openapi). */
interface Schema {
  readonly $ref?: string;
  /** A reference that has a description beside it. */
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly 'x-kubernetes-group-version-kind'?: readonly Pick<
    Resource,
    'group' | 'version' | 'kind'
  >[];
}
type Schemas = Readonly<Record<string, Schema>>;

/** A field of a document, with its references resolved. */
interface Field {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly values: readonly string[];
  readonly isRequired: boolean;
  /** The fields of the object, or of those that a list or a map has. */
  fields(): Field[];
}

/**
 * Describes a type or one of its fields from the service's OpenAPI document, in the layout of
 * `kubectl explain`.
 */
export async function explain(invocation: Invocation): Promise<void> {
  const [target, ...more] = invocation.args;
  if (target === undefined || more.length > 0)
    throw new CommandError(
      `explain takes one type, or a field of it: ${program} explain TYPE.spec`,
      2,
    );
  const service = clientFor(invocation);
  const { resource, path } = parseTarget(await discover(service), target);
  const { group, version, kind } = resource;
  const field = fieldAt(resource, path, await schemasOf(service, resource));
  const title =
    path.length > 0 ? `FIELD: ${field.name} <${field.type}>\n${enumBlock(field)}\n` : '';
  const fields = listFields(field, 1, invocation.flags.recursive === true);
  writeOut(
    `${group && `GROUP:      ${group}\n`}KIND:       ${kind}\nVERSION:    ${version}\n\n${title}` +
      `DESCRIPTION:\n${indentText(field.description)}    \n${fields && `FIELDS:\n${fields}`}\n`,
  );
}

/**
 * Splits the argument into a type and fields. A group belongs to the type
 * (`groups.id.vestibule.org.spec`).
 */
function parseTarget(
  all: readonly Resource[],
  target: string,
): { resource: Resource; path: string[] } {
  const [type, ...path] = target.split('.');
  const resource = findResources(all, type!)[0]!;
  const isQualified = `${path.join('.')}.`.startsWith(`${resource.group}.`);
  return {
    resource,
    path: isQualified ? path.slice(resource.group.split('.').length) : path,
  };
}

async function schemasOf(service: ApiClient, { group, version }: Resource): Promise<Schemas> {
  const { paths } = await service.request<{
    paths: Record<string, { serverRelativeURL: string }>;
  }>('GET', '/openapi/v3');
  const path = paths[`apis/${group}/${version}`]?.serverRelativeURL;
  if (!path?.startsWith('/'))
    throw new CommandError(`${service.server} does not describe ${group}/${version}`);
  const { components } = await service.request<{ components: { schemas: Schemas } }>('GET', path);
  return components.schemas;
}

function fieldAt(resource: Resource, path: readonly string[], schemas: Schemas): Field {
  const root = Object.values(schemas).find((schema) =>
    schema['x-kubernetes-group-version-kind']?.some(
      ({ group, version, kind }) =>
        group === resource.group && version === resource.version && kind === resource.kind,
    ),
  );
  if (!root) throw new CommandError(`the service does not describe ${resource.kind}`);
  let field = fieldOf(resource.kind, root, false, schemas);
  for (const name of path) {
    const next = field.fields().find((one) => one.name === name);
    if (!next) throw new KubectlStyleError(`error: field "${name}" does not exist`);
    field = next;
  }
  return field;
}

function fieldOf(name: string, schema: Schema, isRequired: boolean, schemas: Schemas): Field {
  const reference = schema.$ref ?? schema.allOf?.[0]?.$ref;
  const target = schemas[reference?.replace('#/components/schemas/', '') ?? ''];
  const { type, description, enum: values = [], items, ...rest } = { ...target, ...schema };
  const { properties = {}, required = [], additionalProperties } = rest;
  const mapped = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  const elements = items ?? mapped;
  const element = elements && fieldOf(name, elements, false, schemas);
  const plainType = type === undefined || type === 'object' ? 'Object' : type;
  return {
    name,
    type: element
      ? `${items ? '[]' : 'map[string]'}${element.type}`
      : (reference?.split(/[./]/).at(-1) ?? plainType),
    description: description ?? '<no description>',
    values,
    isRequired,
    fields: () =>
      element?.fields() ??
      Object.entries(properties)
        .map(([field, one]) => fieldOf(field, one, required.includes(field), schemas))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

const enumBlock = ({ values }: Field): string =>
  values.length > 0 ? `ENUM:\n${values.map((value) => `    ${value}\n`).join('')}` : '\n';

/** Formats the fields below a field: with their descriptions, or with all that is below them. */
function listFields(field: Field, depth: number, isRecursive: boolean): string {
  if (depth > 12) return '';
  const indent = '  '.repeat(depth);
  const lines = field.fields().map((one) => {
    const { name, type, description, values, isRequired } = one;
    const shown = values.length > 4 ? [...values.slice(0, 4), '....'] : values;
    return (
      `${indent}${name}\t<${type}>${isRequired ? ' -required-' : ''}\n` +
      (values.length > 0 ? `${indent}enum: ${shown.join(', ')}\n` : '') +
      (isRecursive ? listFields(one, depth + 1, true) : `${indentText(description)}\n`)
    );
  });
  return lines.join('');
}

/** Wraps text at 80 characters, indented by four. */
function indentText(text: string): string {
  const lines: string[] = [];
  for (const paragraph of text.split('\n')) {
    let line = '';
    for (const word of paragraph.split(/\s+/)) {
      if (line !== '' && line.length + word.length >= 76) {
        lines.push(line);
        line = word;
      } else line = line === '' ? word : `${line} ${word}`;
    }
    lines.push(line);
  }
  return lines.map((line) => `    ${line}\n`).join('');
}
