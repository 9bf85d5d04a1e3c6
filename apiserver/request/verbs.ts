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
const ofItems: readonly Verb[] = ['get', 'update', 'patch', 'delete'];
const ofCollections: readonly Verb[] = ['list', 'create', 'deletecollection'];

/** The HTTP method that a verb or an action answers to. */
export const methodOf = ({ verb }: { readonly verb: Verb }): string => methods[verb];

/**
 * What a method, HEAD read as GET, asks of an object or a collection; undefined where it asks for
 * nothing.
 */
export function verbOf(method: string, item: boolean, watch: boolean): Verb | undefined {
  return watch && method === 'GET'
    ? 'watch'
    : (item ? ofItems : ofCollections).find((verb) => methods[verb] === method);
}

/** What stands in `Allow`: HEAD goes wherever GET does. */
export const withHead = (allowed: readonly string[]): string[] =>
  allowed.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));

/** The methods a collection or an object of `kind` takes. */
export const allowed = (kind: AnyKind, item: boolean): string[] =>
  withHead(
    (item ? ofItems : ofCollections)
      .filter((verb) => kind.verbs.includes(verb))
      .map((verb) => methods[verb]),
  );
