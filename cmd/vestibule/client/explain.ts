import { discover, find, type Resource } from './discovery.js';
import { CommandError, Told } from '../terminal/errors.js';
import type { Asked } from '../terminal/flags.js';
import { out } from '../terminal/output.js';
import { program } from '../terminal/program-name.js';
import { serviceOf, type ApiClient } from './api-client.js';

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
export async function explain(asked: Asked): Promise<void> {
  const [what, ...more] = asked.args;
  if (what === undefined || more.length > 0)
    throw new CommandError(
      `explain takes one type, or a field of it: ${program} explain TYPE.spec`,
      2,
    );
  const service = serviceOf(asked);
  const all = await discover(service);
  const { resource, path } = read(all, what);
  const fields = new Fields(await schemasOf(service, resource));
  const heading = `${resource.group && `GROUP:      ${resource.group}\n`}KIND:       ${resource.kind}\nVERSION:    ${resource.version}\n\n`;
  const { name, schema } = fields.at(resource, path);
  out(
    `${heading}${name === undefined ? '' : fields.title(name, schema)}${fields.describe(schema, asked.flags.recursive === true)}`,
  );
}

/**
 * Splits the argument into a type and fields. A group belongs to the type
 * (`groups.id.vestibule.org.spec`).
 */
function read(all: readonly Resource[], what: string): { resource: Resource; path: string[] } {
  const [type, ...rest] = what.split('.');
  const named = all.find(
    ({ plural, singular, kind, shortNames, group }) =>
      [plural, singular, kind.toLowerCase(), ...shortNames].includes(type!.toLowerCase()) &&
      group !== '' &&
      `${rest.join('.')}.`.startsWith(`${group}.`),
  );
  return named
    ? { resource: named, path: rest.slice(named.group.split('.').length) }
    : { resource: find(all, type!)[0]!, path: rest };
}

async function schemasOf(service: ApiClient, { group, version }: Resource): Promise<Schemas> {
  const { paths } = (await service.request('GET', '/openapi/v3')) as unknown as {
    paths: Record<string, { serverRelativeURL: string }>;
  };
  const at = paths[`apis/${group}/${version}`]?.serverRelativeURL;
  if (!at?.startsWith('/'))
    throw new CommandError(`${service.server} does not describe ${group}/${version}`);
  return ((await service.request('GET', at)) as unknown as { components: { schemas: Schemas } })
    .components.schemas;
}

/** The schemas of one API group version. */
class Fields {
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
      if (!next) throw new Told(`error: field "${name}" does not exist`);
      schema = next;
    }
    return { name: path.at(-1), schema };
  }

  /** Formats the heading of a field. */
  title(name: string, schema: Schema): string {
    const { enum: values } = this.#plain(schema);
    return `FIELD: ${name} <${this.#typeOf(schema)}>\n${values ? `ENUM:\n${values.map((one) => `    ${String(one)}\n`).join('')}` : '\n'}\n`;
  }

  /** Formats the description of a type or field, and the fields below it. */
  describe(schema: Schema, recursive: boolean): string {
    const fields = recursive ? this.#tree(schema, 1) : this.#list(schema);
    return `DESCRIPTION:\n${wrapped(this.#description(schema), 4)}    \n${fields && `FIELDS:\n${fields}`}\n`;
  }

  #typeOf(schema: Schema): string {
    const { $ref } = schema.allOf?.length === 1 ? { ...schema.allOf[0], ...schema } : schema;
    const to = this.#plain(schema);
    if (to.items) return `[]${this.#typeOf(to.items)}`;
    if (typeof to.additionalProperties === 'object')
      return `map[string]${this.#typeOf(to.additionalProperties)}`;
    if ($ref !== undefined) return $ref.split(/[./]/).at(-1)!;
    return to.type === 'object' || to.type === undefined ? 'Object' : to.type;
  }

  /** Resolves the reference of a schema. */
  #plain(schema: Schema): Schema {
    const within =
      schema.allOf?.length === 1
        ? ({ ...schema.allOf[0], ...schema, allOf: undefined } as Schema)
        : schema;
    const name = within.$ref?.replace('#/components/schemas/', '');
    return name === undefined
      ? within
      : {
          ...this.#plain(this.#schemas[name] ?? {}),
          ...(within.description !== undefined && { description: within.description }),
        };
  }

  #description(schema: Schema): string {
    return this.#plain(schema).description ?? '<no description>';
  }

  #holder(schema: Schema): Schema {
    const to = this.#plain(schema);
    if (to.items) return this.#holder(to.items);
    if (typeof to.additionalProperties === 'object') return this.#holder(to.additionalProperties);
    return to;
  }

  #fieldsOf(schema: Schema): Readonly<Record<string, Schema>> {
    return this.#holder(schema).properties ?? {};
  }

  #line(schema: Schema, name: string, field: Schema, depth: number): string {
    const { enum: values } = this.#plain(field);
    const known =
      values &&
      `${'  '.repeat(depth)}enum: ${values.length > 4 ? `${values.slice(0, 4).join(', ')}, ....` : values.join(', ')}\n`;
    return `${'  '.repeat(depth)}${name}\t<${this.#typeOf(field)}>${this.#holder(schema).required?.includes(name) ? ' -required-' : ''}\n${known ?? ''}`;
  }

  #list(schema: Schema): string {
    return Object.entries(this.#fieldsOf(schema))
      .sort(byName)
      .map(
        ([name, field]) =>
          `${this.#line(schema, name, field, 1)}${wrapped(this.#description(field), 4)}\n`,
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
function wrapped(text: string, indent: number): string {
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
