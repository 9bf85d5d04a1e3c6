import type { Action } from '../action.js';
import type { AnyKind } from '../kind.js';
import type { JSONSchema } from '../schema/json-schema.js';
import { type KindView, viewIn } from '../versions/kind-view.js';
import type { ApiGroup } from './api-group.js';
import type { Registry } from './registry.js';

/** The schemas of one kind, as a version has them. */
export interface ViewSchemas {
  readonly spec: JSONSchema;
  readonly status: JSONSchema;
  readonly createSpec: JSONSchema;
}

const known = new WeakMap<Registry, Map<KindView, ViewSchemas>>();

/** Returns the schemas of a kind as a version has them; converted once. */
export function schemasIn(registry: Registry, view: KindView): ViewSchemas {
  const byView = known.get(registry) ?? new Map<KindView, ViewSchemas>();
  known.set(registry, byView);
  const found = byView.get(view);
  if (found) return found;
  const { spec, createSpec, status } = registry.schemas(view.kind);
  const renamed = (part: string, schema: JSONSchema): JSONSchema =>
    view.names?.at(part)?.schemaFromHub(schema) ?? schema;
  const schemas = {
    spec: renamed('spec', spec.schema),
    createSpec: renamed('spec', createSpec.schema),
    status: renamed('status', status.schema),
  };
  byView.set(view, schemas);
  return schemas;
}

/** What documents are made from: the kinds and actions of a group as one version has them. */
export interface RegistryView {
  readonly registry: Registry;
  /** The path of its objects, without an end: below `/api` if the group is served there. */
  readonly root: string;
  readonly group: string;
  readonly version: string;
  /** Group and version as in objects. */
  readonly apiVersion: string;
  readonly kinds: readonly AnyKind[];
  readonly actions: readonly Action[];
  schemas(kind: AnyKind): ViewSchemas;
  /** Returns the schema of an action's body; undefined for `get` and `patch`. */
  body(action: Action): JSONSchema | undefined;
}

/** Returns the fields by which objects are selected, as a version calls them. */
function fieldsIn(kind: AnyKind, version: string): Partial<AnyKind> {
  const names = viewIn(kind, version)?.names;
  if (!names) return {};
  const ordersIn = Object.entries(kind.orders).map(
    ([path, valueOf]) => [names.path(path) ?? path, valueOf] as const,
  );
  return {
    orders: Object.fromEntries(ordersIn),
    ...(kind.owner && { owner: names.path(kind.owner) as typeof kind.owner }),
    selectableFields: Object.fromEntries(
      names
        .paths(Object.keys(kind.selectableFields))
        .map((path) => [path, kind.selectableFields[names.hubPath(path)!]!]),
    ),
  };
}

/**
 * Whether a version of a group is also served at `/api/<version>`: those of the first group are, but at
 * `/api/v1` is Kubernetes' core group.
 */
export const isServedBelowApi = (
  { mainGroup }: { readonly mainGroup: object },
  group: object,
  version: string,
): boolean => group === mainGroup && version !== 'v1';

const actionsOf = ({ actions }: Registry, { name }: ApiGroup): readonly Action[] =>
  actions.filter(({ of }) => of.group === name);

/** Returns a group of a registry as a version has it, by default the first group. */
export function inVersion(
  registry: Registry,
  version: string,
  group: ApiGroup = registry.mainGroup,
): RegistryView {
  const apiVersion = `${group.name}/${version}`;
  const views = new Map(
    group.kinds.map((kind) => [kind, { ...kind, version, apiVersion, ...fieldsIn(kind, version) }]),
  );
  const hubs = new Map([...views].map(([hub, view]) => [view, hub]));
  const viewOf = (kind: AnyKind): AnyKind => views.get(kind) ?? kind;
  const actions = new Map(
    actionsOf(registry, group).map((action): [Action, Action] => [
      {
        ...action,
        of: viewOf(action.of),
        ...(action.answers &&
          'resource' in action.answers && { answers: viewOf(action.answers as AnyKind) }),
      },
      action,
    ]),
  );
  return {
    registry,
    root: isServedBelowApi(registry, group, version) ? `/api/${version}` : `/apis/${apiVersion}`,
    group: group.name,
    version,
    apiVersion,
    kinds: [...views.values()],
    actions: [...actions.keys()],
    schemas: (kind) => schemasIn(registry, viewIn(hubs.get(kind) ?? kind, version)!),
    body: (action) => registry.body(actions.get(action) ?? action)?.schema,
  };
}
