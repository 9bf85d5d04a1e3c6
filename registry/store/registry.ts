import { isDeepStrictEqual } from 'node:util';
import type { Action } from '../action.js';
import type { AnyKind } from '../kind.js';
import { trackedSchema } from '../managedfields/tracked-fields.js';
import { type JSONSchema, toJSONSchema, Validator } from '../schema/schema.js';
import { type SecretField, secretFields } from '../schema/secret-schema.js';
import type { ServedVersion } from '../served-version.js';
import { type KindView, viewIn } from '../versions/kind-view.js';

/** The validators and schemas of one kind, converted once. */
interface KindSchemas {
  readonly spec: Validator;
  readonly status: Validator;
  /** The validator of the spec in a create request. */
  readonly createSpec: Validator;
  /** The schema of the fields that have owners. */
  readonly tracked: JSONSchema;
  /** The fields of the spec that are stored and never shown. */
  readonly secrets: readonly SecretField[];
}

function schemasOf(kind: AnyKind): KindSchemas {
  const spec = new Validator(toJSONSchema(kind.spec, `${kind.kind}.spec`));
  const createSpec = kind.create?.spec
    ? new Validator(toJSONSchema(kind.create.spec, `${kind.kind}.create`))
    : spec;
  const status = new Validator(toJSONSchema(kind.status, `${kind.kind}.status`));
  return {
    spec,
    createSpec,
    status,
    tracked: trackedSchema(spec.schema, kind.hasStatusSubresource ? status.schema : undefined),
    secrets: secretFields(spec.schema, `${kind.kind}.spec`),
  };
}

/**
 * All kinds and actions by their names in paths. The constructor throws if they contradict each
 * other.
 */
export class Registry {
  readonly kinds: readonly AnyKind[];
  /** The API group of all kinds. */
  readonly group: string;
  /** The version that clients should use. */
  readonly version: string;
  /** Group and version as in objects. */
  readonly apiVersion: string;
  /** All versions that are served, the preferred one first. */
  readonly versions: readonly ServedVersion[];
  /** The version in which objects are written; by default that of the schemas. */
  storedVersion: string;
  readonly actions: readonly Action[];
  /** The kind whose objects are events about others. */
  readonly eventKind: AnyKind | undefined;
  readonly #byResource: ReadonlyMap<string, AnyKind>;
  readonly #schemas = new Map<string, KindSchemas>();
  readonly #bodies = new Map<Action, Validator>();

  constructor(kinds: readonly AnyKind[], actions: readonly Action[]) {
    const [first] = kinds;
    if (!first) throw new Error('a registry must have a kind');
    const other = kinds.find(
      ({ apiVersion, versions }) =>
        apiVersion !== first.apiVersion || !isDeepStrictEqual(versions, first.versions),
    );
    if (other) {
      throw new Error(
        `all kinds must be of one group and its versions: ${first.kind} is of ${first.apiVersion}, ` +
          `${other.kind} of ${other.apiVersion}`,
      );
    }
    this.kinds = kinds;
    this.group = first.group;
    this.versions = first.versions;
    this.version = first.versions[0]!.version;
    this.apiVersion = `${first.group}/${this.version}`;
    this.storedVersion = first.version;
    this.actions = actions.filter((action) => kinds.includes(action.of));
    this.eventKind = kinds.find(({ events }) => events);
    this.#byResource = new Map(kinds.map((kind) => [kind.resource, kind]));
    for (const kind of kinds) this.#schemas.set(kind.kind, schemasOf(kind));
    for (const action of this.actions) {
      if (action.subresource === 'status' && action.of.hasStatusSubresource) {
        throw new Error(`${action.of.kind} has a status subresource, and an action of that name`);
      }
      if (action.spec && action.verb === 'create') {
        this.#bodies.set(
          action,
          new Validator(toJSONSchema(action.spec, `${action.of.kind}/${action.subresource}`)),
        );
      }
    }
  }

  kindOf(resource: string): AnyKind | undefined {
    return this.#byResource.get(resource);
  }

  /** Returns a kind as it is written to the store. */
  storedView(kind: AnyKind): KindView {
    return viewIn(kind, this.storedVersion)!;
  }

  /** Returns the actions on `<resource>/<name>/<subresource>`. */
  actionsOn(kind: AnyKind, subresource: string): Action[] {
    return this.actions.filter(
      (action) => action.of === kind && action.subresource === subresource,
    );
  }

  schemas(kind: AnyKind): KindSchemas {
    return this.#schemas.get(kind.kind)!;
  }

  /** Returns the validator of an action's body; undefined for `get` and `patch`. */
  body(action: Action): Validator | undefined {
    return this.#bodies.get(action);
  }

  /** Compiles all validators before the first request. */
  compileValidators(): void {
    for (const kind of this.kinds) {
      const { spec, createSpec, status } = this.schemas(kind);
      spec.compile();
      createSpec.compile();
      if (kind.hasStatusSubresource) status.compile();
    }
    for (const validator of this.#bodies.values()) validator.compile();
  }
}
