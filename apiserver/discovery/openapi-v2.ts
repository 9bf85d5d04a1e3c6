import type { JSONSchema } from '../../registry/schema/schema.js';
import { type Document, mapped, type Operation } from './openapi-kubectl.js';

type Value = Record<string, unknown>;

/**
 * Returns the OpenAPI 2.0 document of the kinds in all versions: those of Kubernetes' clients (OpenAPI
 * 3.0), converted. Its definitions have the names of their groups, because a cluster merges the documents of
 * its API servers.
 */
export function openapiV2(
  documents: readonly {
    readonly group: string;
    readonly version: string;
    readonly document: unknown;
  }[],
): unknown {
  const converted = documents.map(({ group, version, document }) =>
    inOneVersion(document as Document, `${group.split('.').reverse().join('.')}.${version}.`),
  );
  return {
    swagger: '2.0',
    info: (documents[0]!.document as Document).info,
    paths: Object.assign({}, ...converted.map(({ paths }) => paths)),
    definitions: Object.assign({}, ...converted.map(({ definitions }) => definitions)),
  };
}

function inOneVersion({ paths, components }: Document, prefix: string) {
  const converted = mapped(paths, (methods) =>
    mapped(methods, (operation) => operationOf(operation, prefix)),
  );
  const definitions = new Map(
    Object.entries(components.schemas).map(([name, schema]) => [
      prefix + name,
      schemaOf(schema, prefix),
    ]),
  );
  return { paths: converted, definitions: Object.fromEntries(reached(converted, definitions)) };
}

/**
 * Returns the definitions that the paths lead to. A cluster that takes one version drops those of the
 * other's paths, and keeps what no path leads to, with references to what it dropped.
 */
function reached(paths: Value, definitions: ReadonlyMap<string, JSONSchema>) {
  const found = new Map<string, JSONSchema>();
  const follow = (from: object): void => {
    JSON.stringify(from, (key, value) => {
      const name: string = key === '$ref' ? value.slice('#/definitions/'.length) : '';
      const definition = found.has(name) ? undefined : definitions.get(name);
      if (definition) follow(found.set(name, definition).get(name)!);
      return value;
    });
  };
  follow(paths);
  return found;
}

function operationOf(operation: Operation, prefix: string): Value {
  const { parameters = [], requestBody, responses, ...rest } = operation;
  const body = contentOf(requestBody, prefix);
  return {
    ...rest,
    ...(body.types.length > 0 && { consumes: body.types }),
    produces: ['application/json'],
    parameters: [
      ...parameters.map(({ schema, ...parameter }) => ({
        ...parameter,
        ...schemaOf(schema, prefix),
      })),
      ...(body.schema ? [{ name: 'body', in: 'body', required: true, schema: body.schema }] : []),
    ],
    responses: mapped(responses, (response) => {
      const { schema } = contentOf(response, prefix);
      return { description: response.description, ...(schema && { schema }) };
    }),
  };
}

/** Returns the media types of a body, and the schema of the first one. */
function contentOf(
  body: Operation['requestBody'],
  prefix: string,
): { types: string[]; schema?: JSONSchema } {
  const content = Object.entries(body?.content ?? {});
  return {
    types: content.map(([type]) => type),
    ...(content[0] && { schema: schemaOf(content[0][1].schema, prefix) }),
  };
}

/** Converts a schema: references lead to definitions, with a description beside them; no `nullable`. */
function schemaOf(schema: JSONSchema, prefix: string): JSONSchema {
  const { $ref, allOf, nullable: _, properties, items, additionalProperties, ...rest } = schema;
  const ref = ($ref ?? (allOf as JSONSchema[] | undefined)?.[0]?.$ref) as string | undefined;
  return {
    ...rest,
    ...(ref !== undefined && {
      $ref: ref.replace('#/components/schemas/', `#/definitions/${prefix}`),
    }),
    ...(properties && { properties: mapped(properties, (one) => schemaOf(one, prefix)) }),
    ...(items && { items: schemaOf(items, prefix) }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === 'object'
          ? schemaOf(additionalProperties, prefix)
          : additionalProperties,
    }),
  };
}
