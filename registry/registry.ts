import type { Action } from './action.js';
import type { AnyKind } from './kind.js';
import { toJSONSchema, Validator, type JSONSchema } from './schema.js';

/** The validators and schemas of one kind, converted once. */
interface KindSchemas {
  readonly spec: Validator;
  readonly status: JSONSchema /** What is sent to create one. */;
  readonly sent: Validator;
}

function schemasOf(kind: AnyKind): KindSchemas {
  const spec = new Validator(toJSONSchema(kind.spec, `${kind.kind}.spec`));
  const sent = kind.create?.spec
    ? new Validator(toJSONSchema(kind.create.spec, `${kind.kind}.create`))
    : spec;
  return { spec, sent, status: toJSONSchema(kind.status, `${kind.kind}.status`) };
}

/** All kinds and actions, by the names in paths; a contradiction between them fails the start. */
export class Registry {
  readonly kinds: readonly AnyKind[];
  readonly actions: readonly Action[];
  readonly #byResource: ReadonlyMap<string, AnyKind>;
  readonly #schemas = new Map<string, KindSchemas>();
  readonly #bodies = new Map<Action, Validator>();

  constructor(kinds: readonly AnyKind[], actions: readonly Action[]) {
    this.kinds = kinds;
    this.actions = actions.filter((action) => kinds.includes(action.of));
    this.#byResource = new Map(kinds.map((kind) => [kind.resource, kind]));
    for (const kind of kinds) this.#schemas.set(kind.kind, schemasOf(kind));
    for (const action of this.actions)
      if (action.spec && action.verb === 'create')
        this.#bodies.set(
          action,
          new Validator(toJSONSchema(action.spec, `${action.of.kind}/${action.subresource}`)),
        );
  }

  kindOf(resource: string): AnyKind | undefined {
    return this.#byResource.get(resource);
  }

  /** The actions on `<resource>/<name>/<subresource>`. */
  actionsOn(kind: AnyKind, subresource: string): Action[] {
    return this.actions.filter(
      (action) => action.of === kind && action.subresource === subresource,
    );
  }

  schemas(kind: AnyKind): KindSchemas {
    return this.#schemas.get(kind.kind)!;
  }

  /** The validator of an action's body: of a `patch`, its kind's spec; of a `get`, none. */
  body(action: Action): Validator | undefined {
    return this.#bodies.get(action);
  }

  /** Compiles all validators before the first request. */
  warm(): void {
    for (const { spec, sent } of this.#schemas.values()) {
      spec.warm();
      sent.warm();
    }
    for (const validator of this.#bodies.values()) validator.warm();
  }
}
