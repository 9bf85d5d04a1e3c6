import type { z } from 'zod';
import type { GroupVersion, Kind, KindDefinition } from './kind.js';
import type { ServedVersion } from './served-version.js';
import { byPriority } from './versions/kind-view.js';

/** The argument of kindsOf. */
export interface KindDefaults extends GroupVersion {
  /** The categories of kinds that name none; none by default. */
  readonly categories?: readonly string[];
  /** Further versions in which all kinds are served; `version` is the one of their schemas. */
  readonly versions?: readonly ServedVersion[];
  /**
   * Whether callers may set finalizers, which delay a deletion as long as they like; by default they
   * may. Kinds that delete in steps or expire never take them: their objects go by themselves.
   */
  readonly allowsFinalizers?: boolean;
  /**
   * Whether keys in the store have the group, as in `objects/widgets.wardle.example.com/`; by default
   * not. Of the groups of a server, all but one need it. It cannot change while objects are stored.
   */
  readonly hasQualifiedKeys?: boolean;
}

/**
 * Defines a kind of one API group and version.
 *
 * @example
 * ```ts
 * export const Widget = defineKind({
 *   kind: 'Widget',
 *   resource: 'widgets',
 *   description: 'A thing that operators give a name.',
 *   verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
 *   spec: z.object({ displayName: line(64).describe('Its display name.') }),
 *   status: z.object({}),
 *   columns: { 'Display-Name': ({ spec }) => spec.displayName },
 * });
 * ```
 */
export type DefineKind = <
  S extends z.ZodTypeAny,
  T extends z.ZodTypeAny,
  I extends z.ZodTypeAny = z.ZodTypeAny,
>(
  definition: KindDefinition<S, T, I>,
) => Kind<z.infer<S>, z.infer<T>, z.infer<I>>;

/**
 * Returns the function that defines the kinds of an API group and version.
 *
 * @example
 * ```ts
 * export const defineWardleKind = kindsOf({ group: 'wardle.example.com', version: 'v1beta1' });
 * ```
 */
export function kindsOf({
  group,
  version,
  categories = [],
  versions = [],
  allowsFinalizers = true,
  hasQualifiedKeys = false,
}: KindDefaults): DefineKind {
  const apiVersion = `${group}/${version}`;
  const served = [{ version }, ...versions].sort((a, b) => byPriority(a.version, b.version));
  return (definition) => ({
    ...definition,
    group,
    version,
    apiVersion,
    scope: definition.scope ?? 'Cluster',
    storageName: hasQualifiedKeys ? `${definition.resource}.${group}` : definition.resource,
    versions: served,
    names: definition.names ?? {},
    singular: definition.singular ?? definition.kind.toLowerCase(),
    shortNames: definition.shortNames ?? [],
    categories: definition.categories ?? categories,
    allowsFinalizers: allowsFinalizers && !definition.expires && !definition.strategy?.beginDelete,
    unique: definition.unique ?? {},
    selectableFields: definition.selectableFields ?? {},
    orders: definition.orders ?? {},
    strategy: definition.strategy ?? {},
  });
}
