import type { AnyKind, Verb } from '../../registry/kind.js';

/** The HTTP method of each verb (Kubernetes API conventions). */
const methods: Readonly<Record<Verb, string>> = {
  get: 'GET',
  list: 'GET',
  watch: 'GET',
  create: 'POST',
  update: 'PUT',
  patch: 'PATCH',
  delete: 'DELETE',
  deletecollection: 'DELETE',
};
/** The verbs of a status subresource. */
export const statusVerbs: readonly Verb[] = ['get', 'patch', 'update'];

const ofItems: readonly Verb[] = ['get', 'update', 'patch', 'delete'];
const ofCollections: readonly Verb[] = ['list', 'create', 'deletecollection'];

/** Returns the HTTP method of a verb or an action. */
export const methodOf = ({ verb }: { readonly verb: Verb }): string => methods[verb];

/**
 * Returns the verb of a method on an object or a collection, with HEAD as GET; undefined if there
 * is none.
 */
export function verbOf(method: string, item: boolean, watch: boolean): Verb | undefined {
  return watch && method === 'GET'
    ? 'watch'
    : (item ? ofItems : ofCollections).find((verb) => methods[verb] === method);
}

/** Returns the value of `Allow`, in which HEAD accompanies GET. */
export const withHead = (allowed: readonly string[]): string[] =>
  allowed.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));

/** Returns the allowed methods of a collection or an object. */
export const allowed = (kind: AnyKind, item: boolean): string[] =>
  withHead(
    (item ? ofItems : ofCollections)
      .filter((verb) => kind.verbs.includes(verb))
      .map((verb) => methods[verb]),
  );
