import { CommandError, KubectlStyleError } from '../terminal/errors.js';
import type { Invocation } from '../terminal/flags.js';
import { writeOut } from '../terminal/output.js';
import { program } from '../terminal/program-name.js';
import { type ApiClient, clientFor } from './connection/api-client.js';
import { discover, findResources, type Resource } from './connection/discovery.js';

/** An OpenAPI 3.0 schema as kubectl reads it (docs/design/kubernetes.md#openapi). */
interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: Schema | boolean;
  readonly 'x-kubernetes-group-version-kind'?: readonly {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }[];
}
type Schemas = Readonly<Record<string, Schema>>;

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
  const resources = await discover(service);
  const { resource, path } = parseTarget(resources, target);
  const printer = new SchemaPrinter(await schemasOf(service, resource));
  const heading = `${resource.group && `GROUP:      ${resource.group}\n`}KIND:       ${resource.kind}\nVERSION:    ${resource.version}\n\n`;
  const { name, schema } = printer.at(resource, path);
  writeOut(
    `${heading}${name === undefined ? '' : printer.title(name, schema)}${printer.describe(schema, invocation.flags.recursive === true)}`,
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
  const [type, ...rest] = target.split('.');
  const qualified = all.find(
    ({ plural, singular, kind, shortNames, group }) =>
      [plural, singular, kind.toLowerCase(), ...shortNames].includes(type!.toLowerCase()) &&
      group !== '' &&
      `${rest.join('.')}.`.startsWith(`${group}.`),
  );
  return qualified
    ? { resource: qualified, path: rest.slice(qualified.group.split('.').length) }
    : { resource: findResources(all, type!)[0]!, path: rest };
}

async function schemasOf(service: ApiClient, { group, version }: Resource): Promise<Schemas> {
  const { paths } = (await service.request('GET', '/openapi/v3')) as unknown as {
    paths: Record<string, { serverRelativeURL: string }>;
  };
  const path = paths[`apis/${group}/${version}`]?.serverRelativeURL;
  if (!path?.startsWith('/'))
    throw new CommandError(`${service.server} does not describe ${group}/${version}`);
  return ((await service.request('GET', path)) as unknown as { components: { schemas: Schemas } })
    .components.schemas;
}

/** The schemas of one API group version. */
class SchemaPrinter {
  readonly #schemas: Schemas;

  constructor(schemas: Schemas) {
    this.#schemas = schemas;
  }

  /** Returns the schema at a path, and the name of its last field. */
  at(
    { group, version, kind }: Resource,
    path: readonly string[],
  ): { name: string | undefined; schema: Schema } {
    const root = Object.values(this.#schemas).find((one) =>
      one['x-kubernetes-group-version-kind']?.some(
        (of) => of.group === group && of.version === version && of.kind === kind,
      ),
    );
    if (!root) throw new CommandError(`the service does not describe ${kind}`);
    let schema: Schema = root;
    for (const name of path) {
      const next = this.#fieldsOf(schema)[name];
      if (!next) throw new KubectlStyleError(`error: field "${name}" does not exist`);
      schema = next;
    }
    return { name: path.at(-1), schema };
  }

  /** Formats the heading of a field. */
  title(name: string, schema: Schema): string {
    const { enum: values } = this.#resolve(schema);
    return `FIELD: ${name} <${this.#typeOf(schema)}>\n${values ? `ENUM:\n${values.map((one) => `    ${String(one)}\n`).join('')}` : '\n'}\n`;
  }

  /** Formats the description of a type or field, and the fields below it. */
  describe(schema: Schema, recursive: boolean): string {
    const fields = recursive ? this.#tree(schema, 1) : this.#list(schema);
    return `DESCRIPTION:\n${wrapText(this.#description(schema), 4)}    \n${fields && `FIELDS:\n${fields}`}\n`;
  }

  #typeOf(schema: Schema): string {
    const { $ref } = schema.allOf?.length === 1 ? { ...schema.allOf[0], ...schema } : schema;
    const resolved = this.#resolve(schema);
    if (resolved.items) return `[]${this.#typeOf(resolved.items)}`;
    if (typeof resolved.additionalProperties === 'object')
      return `map[string]${this.#typeOf(resolved.additionalProperties)}`;
    if ($ref !== undefined) return $ref.split(/[./]/).at(-1)!;
    return resolved.type === 'object' || resolved.type === undefined ? 'Object' : resolved.type;
  }

  /** Resolves the reference of a schema. */
  #resolve(schema: Schema): Schema {
    const merged =
      schema.allOf?.length === 1
        ? ({ ...schema.allOf[0], ...schema, allOf: undefined } as Schema)
        : schema;
    const name = merged.$ref?.replace('#/components/schemas/', '');
    return name === undefined
      ? merged
      : {
          ...this.#resolve(this.#schemas[name] ?? {}),
          ...(merged.description !== undefined && { description: merged.description }),
        };
  }

  #description(schema: Schema): string {
    return this.#resolve(schema).description ?? '<no description>';
  }

  #element(schema: Schema): Schema {
    const to = this.#resolve(schema);
    if (to.items) return this.#element(to.items);
    if (typeof to.additionalProperties === 'object') return this.#element(to.additionalProperties);
    return to;
  }

  #fieldsOf(schema: Schema): Readonly<Record<string, Schema>> {
    return this.#element(schema).properties ?? {};
  }

  #line(schema: Schema, name: string, field: Schema, depth: number): string {
    const { enum: values } = this.#resolve(field);
    const enumLine =
      values &&
      `${'  '.repeat(depth)}enum: ${values.length > 4 ? `${values.slice(0, 4).join(', ')}, ....` : values.join(', ')}\n`;
    return `${'  '.repeat(depth)}${name}\t<${this.#typeOf(field)}>${this.#element(schema).required?.includes(name) ? ' -required-' : ''}\n${enumLine ?? ''}`;
  }

  #list(schema: Schema): string {
    return Object.entries(this.#fieldsOf(schema))
      .sort(byName)
      .map(
        ([name, field]) =>
          `${this.#line(schema, name, field, 1)}${wrapText(this.#description(field), 4)}\n`,
      )
      .join('');
  }

  #tree(schema: Schema, depth: number): string {
    return depth > 12
      ? ''
      : Object.entries(this.#fieldsOf(schema))
          .sort(byName)
          .map(
            ([name, field]) =>
              `${this.#line(schema, name, field, depth)}${this.#tree(field, depth + 1)}`,
          )
          .join('');
  }
}

const byName = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  a < b ? -1 : 1;

/** Wraps text at 80 characters, indented. */
function wrapText(text: string, indent: number): string {
  const lines = text.split('\n').flatMap((paragraph) =>
    paragraph.split(/\s+/).reduce<string[]>(
      (all, word) => {
        const last = all.at(-1)!;
        return last === '' || last.length + word.length + 1 <= 80 - indent
          ? [...all.slice(0, -1), last === '' ? word : `${last} ${word}`]
          : [...all, word];
      },
      [''],
    ),
  );
  return lines.map((line) => `${' '.repeat(indent)}${line}\n`).join('');
}
