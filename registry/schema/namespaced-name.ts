/** What names an object among its kind. */
interface Named {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/**
 * Returns the name of an object in keys of the store, for readers and for transactions: that of its
 * metadata, or `<namespace>/<name>` of a namespaced kind (client-go: MetaNamespaceKeyFunc).
 */
export const namespacedName = ({ namespace, name }: Named): string =>
  namespace === undefined ? name : `${namespace}/${name}`;

/** Returns the name in the metadata of an object that `namespacedName` names. */
export const plainName = (name: string): string => name.slice(name.indexOf('/') + 1);

/** Returns the namespace of an object that `namespacedName` names; undefined without one. */
export function namespaceOf(name: string): string | undefined {
  const slash = name.indexOf('/');
  return slash < 0 ? undefined : name.slice(0, slash);
}

/** Returns namespace and name in the metadata of an object that `namespacedName` names. */
export function splitName(name: string): { namespace?: string; name: string } {
  const namespace = namespaceOf(name);
  return { ...(namespace !== undefined && { namespace }), name: plainName(name) };
}
