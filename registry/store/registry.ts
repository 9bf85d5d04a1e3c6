import type { Action } from '../action.js';
import type { AnyKind } from '../kind.js';
import { trackedSchema } from '../managedfields/tracked-fields.js';
import { type JSONSchema, toJSONSchema, Validator } from '../schema/schema.js';
import { type SecretField, secretFields } from '../schema/secret-schema.js';
import type { ServedVersion } from '../served-version.js';
import { type KindView, viewIn } from '../versions/kind-view.js';
import { type ApiGroup, groupsOf } from './api-group.js';

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
  /** The API groups, in the order of their kinds. */
  readonly groups: readonly ApiGroup[];
  /** The first group, which is also served below `/api`. */
  readonly mainGroup: ApiGroup;
  readonly actions: readonly Action[];
  /** The kind whose objects are events about others. */
  readonly eventKind: AnyKind | undefined;
  readonly #schemas = new Map<string, KindSchemas>();
  readonly #bodies = new Map<Action, Validator>();

  constructor(kinds: readonly AnyKind[], actions: readonly Action[]) {
    const groups = groupsOf(kinds);
    const [first] = groups;
    if (!first) throw new Error('a registry must have a kind');
    this.kinds = kinds;
    this.groups = groups;
    this.mainGroup = first;
    this.actions = actions.filter((action) => kinds.includes(action.of));
    this.eventKind = kinds.find(({ events }) => events);
    for (const kind of kinds) this.#schemas.set(kind.storageName, schemasOf(kind));
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

  /** The name of the first group. */
  get group(): string {
    return this.mainGroup.name;
  }

  /** The version of the first group that clients should use. */
  get version(): string {
    return this.mainGroup.version;
  }

  /** The first group and its version as in objects. */
  get apiVersion(): string {
    return this.mainGroup.apiVersion;
  }

  /** All versions of the first group that are served, the preferred one first. */
  get versions(): readonly ServedVersion[] {
    return this.mainGroup.versions;
  }

  /** The version in which objects of the first group are written. */
  get storedVersion(): string {
    return this.mainGroup.storedVersion;
  }

  set storedVersion(version: string) {
    this.mainGroup.storedVersion = version;
  }

  /** Returns the kind of a resource in a group, by default in the first one. */
  kindOf(resource: string, group = this.group): AnyKind | undefined {
    return this.kinds.find((kind) => kind.resource === resource && kind.group === group);
  }

  /** Returns the group of a kind. */
  groupOf({ group }: AnyKind): ApiGroup {
    return this.groups.find(({ name }) => name === group)!;
  }

  /** Returns a kind as it is written to the store. */
  storedView(kind: AnyKind): KindView {
    return viewIn(kind, this.groupOf(kind).storedVersion)!;
  }

  /** Returns the actions on `<resource>/<name>/<subresource>`. */
  actionsOn(kind: AnyKind, subresource: string): Action[] {
    return this.actions.filter(
      (action) => action.of === kind && action.subresource === subresource,
    );
  }

  schemas(kind: AnyKind): KindSchemas {
    return this.#schemas.get(kind.storageName)!;
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
