import { isRecord } from '../schema/is-record.js';
import type { JSONSchema } from '../schema/json-schema.js';
import type { FieldNames } from '../served-version.js';

/** Names the members that identify an item of a list. */
const mapKeys = 'x-kubernetes-list-map-keys';

interface Field {
  /** The name in the version; null if it is not there. */
  name: string | null;
  below: FieldTree | undefined;
}

/**
 * The names of fields in another version of a kind, as a tree of those that differ. All conversions
 * rename alone, so that they hold for objects, patches, schemas, sets of fields and paths alike
 * (docs/design/versions.md).
 */
export class FieldTree {
  /** By the name in the hub. */
  readonly #fields = new Map<string, Field>();
  /** Names in the hub by the name in the version. */
  readonly #hubNames = new Map<string, string>();

  static of(names: FieldNames): FieldTree {
    const tree = new FieldTree();
    for (const [path, name] of Object.entries(names)) tree.#add(path.split('.'), name);
    tree.#index();
    return tree;
  }

  #add([segment, ...rest]: readonly string[], name: string | null): void {
    const field = this.#fields.get(segment!) ?? { name: segment!, below: undefined };
    this.#fields.set(segment!, field);
    if (rest.length > 0) {
      field.below ??= new FieldTree();
      field.below.#add(rest, name);
    } else {
      field.name = name;
    }
  }

  #index(): void {
    for (const [name, { name: as, below }] of this.#fields) {
      if (as !== null && this.#fields.get(as)?.name === null) {
        throw new Error(`a version calls ${name} ${as}, and has no ${as} of the hub`);
      }
      if (as !== null) this.#hubNames.set(as, name);
      if (below) below.#index();
    }
  }

  /** Whether the version has no name for some field. */
  get hides(): boolean {
    return [...this.#fields.values()].some(({ name, below }) => name === null || below?.hides);
  }

  /** Returns the tree below a field of the hub. */
  at(name: string): FieldTree | undefined {
    return this.#fields.get(name)?.below;
  }

  /**
   * Returns a value of the hub as the version has it. What it does not have is left out, but not of
   * what is stored, which keeps it under the name of the hub.
   */
  fromHub(value: unknown, isStored = false): unknown {
    if (Array.isArray(value)) return value.map((item) => this.fromHub(item, isStored));
    if (!isRecord(value)) return value;
    const renamed: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(value)) {
      const { name: as, below } = this.#fields.get(name) ?? { name, below: undefined };
      if (as === null && !isStored) continue;
      renamed[as ?? name] = below ? below.fromHub(member, isStored) : member;
    }
    return renamed;
  }

  /** Returns a value of the version as the hub has it: what {@link fromHub} returned. */
  toHub(value: unknown, isStored = false): unknown {
    if (Array.isArray(value)) return value.map((item) => this.toHub(item, isStored));
    if (!isRecord(value)) return value;
    const renamed: Record<string, unknown> = {};
    for (const [name, member] of Object.entries(value)) {
      const as = this.#hubNameOf(name) ?? (isStored ? name : undefined);
      if (as === undefined) continue;
      const below = this.#fields.get(as)?.below;
      renamed[as] = below ? below.toHub(member, isStored) : member;
    }
    return renamed;
  }

  /** Returns a value of the hub with the fields of a former one that the version does not have. */
  withHidden(value: unknown, former: unknown): unknown {
    if (!isRecord(value) || !isRecord(former)) return value;
    const kept: Record<string, unknown> = { ...value };
    for (const [name, { name: as, below }] of this.#fields) {
      if (as === null && former[name] !== undefined) kept[name] = former[name];
      if (!below || kept[name] === undefined) continue;
      kept[name] = below.withHidden(kept[name], former[name]);
    }
    return kept;
  }

  /** Returns the schema of a value of the hub as the version has it. */
  schemaFromHub(schema: JSONSchema): JSONSchema {
    const renamed: JSONSchema = { ...schema };
    if (schema.items) renamed.items = this.schemaFromHub(schema.items);
    for (const keyword of ['anyOf', 'oneOf'] as const) {
      const parts = schema[keyword];
      if (parts) renamed[keyword] = parts.map((part) => this.schemaFromHub(part));
    }
    if (schema.properties) {
      renamed.properties = Object.fromEntries(
        Object.entries(schema.properties).flatMap(([name, member]) => {
          const { name: as, below } = this.#fields.get(name) ?? { name, below: undefined };
          return as === null ? [] : [[as, below ? below.schemaFromHub(member) : member]];
        }),
      );
    }
    const keys = schema[mapKeys] as readonly string[] | undefined;
    if (keys) renamed[mapKeys] = keys.flatMap((name) => this.#nameOf(name));
    if (schema.required) renamed.required = schema.required.flatMap((name) => this.#nameOf(name));
    return renamed;
  }

  /** Returns a set of fields (FieldsV1) of the version as the hub has it, or the other way round. */
  fields(fieldsV1: object, to: 'hub' | 'version'): object {
    const renamed: Record<string, unknown> = {};
    for (const [element, children] of Object.entries(fieldsV1)) {
      const field = element.startsWith('f:') ? element.slice(2) : undefined;
      if (field === undefined) {
        const item = element.startsWith('k:') ? this.#itemKey(element, to) : element;
        renamed[item] = element === '.' ? children : this.fields(children, to);
        continue;
      }
      const [as] = this.#other(field, to);
      if (as === undefined) continue;
      const below = this.at(to === 'hub' ? as : field);
      renamed[`f:${as}`] = below ? below.fields(children, to) : children;
    }
    return renamed;
  }

  /** Returns the path of a field of the hub, such as `spec.scopes[0].name`, as the version has it. */
  path(path: string): string {
    const at: (FieldTree | undefined)[] = [this];
    return path.replaceAll(/\[[^[\]]*\]|[^.[]+/g, (segment) => {
      const tree = at.at(-1);
      if (segment.startsWith('[') || !tree) return segment;
      at.push(tree.at(segment));
      return tree.#nameOf(segment)[0] ?? segment;
    });
  }

  /** Returns those of some paths of the hub that the version has, as it calls them. */
  paths(paths: readonly string[]): string[] {
    return paths
      .map((path) => this.path(path))
      .filter((path, i) => this.hubPath(path) === paths[i]);
  }

  /** Returns the path in the hub of a field, such as `spec.displayName`; undefined if it is not there. */
  hubPath(path: string): string | undefined {
    const [segment = '', ...rest] = path.split('.');
    const name = this.#hubNameOf(segment);
    if (name === undefined || rest.length === 0) return name;
    const tree = this.at(name);
    const below = tree ? tree.hubPath(rest.join('.')) : rest.join('.');
    return below === undefined ? undefined : `${name}.${below}`;
  }

  /** Returns the element of an item of a list of maps, with the names of its keys. */
  #itemKey(element: string, to: 'hub' | 'version'): string {
    const keys = Object.entries(JSON.parse(element.slice(2)) as Record<string, unknown>);
    const renamed = keys.flatMap(([name, value]) =>
      this.#other(name, to).map((as) => [as, value] as const),
    );
    return `k:${JSON.stringify(Object.fromEntries(renamed))}`;
  }

  #other(name: string, to: 'hub' | 'version'): string[] {
    if (to === 'version') return this.#nameOf(name);
    const hub = this.#hubNameOf(name);
    return hub === undefined ? [] : [hub];
  }

  #hubNameOf(name: string): string | undefined {
    return this.#hubNames.get(name) ?? (this.#fields.has(name) ? undefined : name);
  }

  /** Returns the name in the version, or nothing. */
  #nameOf(name: string): string[] {
    const field = this.#fields.get(name);
    if (!field) return [name];
    return field.name === null ? [] : [field.name];
  }
}
