import type {
  AuthorizationAttributes,
  Authorizer,
  LoadedEntities,
} from '../../registry/authorizer.js';
import type { EncodedObject } from '../../registry/encoded-object.js';
import type { AuthorizedResourceRequest } from '../http/message.js';
import {
  type AuthorizationRequestContext,
  actionOf,
  collectionVerbs,
  objectAttributes,
  selectorOf,
} from './authorization-attributes.js';

/**
 * Loads the facts that the rules mention about a request and about reading its object, which a
 * refusal asks; undefined if they are in memory.
 */
export const loadForRequest = (
  authorizer: Authorizer,
  context: AuthorizationRequestContext,
  target: EncodedObject | undefined,
): Promise<LoadedEntities> | undefined => authorizer.load?.(questionsOf(context, target));

/** Loads the facts that the rules mention about objects of a list or watch, into the request. */
export function loadForObjects(
  { load }: Authorizer,
  authorized: AuthorizedResourceRequest,
  objects: readonly EncodedObject[],
): Promise<AuthorizedResourceRequest> | undefined {
  const loading = load?.(objects.map((object) => objectAttributes(authorized, object)));
  return loading?.then((entities) => ({
    ...authorized,
    entities: new Map([...(authorized.entities ?? []), ...entities]),
  }));
}

/** Returns what may be asked about a request, for the facts that it needs. */
function questionsOf(
  context: AuthorizationRequestContext,
  target: EncodedObject | undefined,
): AuthorizationAttributes[] {
  const { requestInfo, caller, facts, mayCreate } = context;
  const { kind, name, namespace, verb, subresource } = requestInfo;
  const own = kind.owner && caller.owner;
  const selected = name === undefined ? selectorOf(requestInfo) : undefined;
  const asked = (scope: object): AuthorizationAttributes => ({
    caller,
    action: actionOf(requestInfo),
    verb,
    kind,
    namespace,
    subresource,
    facts,
    ...scope,
  });
  if (name !== undefined) {
    const one = { name, ...(target && { object: target.object }) };
    return [
      asked(one),
      asked({ ...one, action: 'get', verb: 'get' }),
      ...(mayCreate && !target ? [asked({ action: 'create', verb: 'create' })] : []),
    ];
  }
  return [
    {},
    { owner: selected?.owner ?? own },
    ...(selected?.name === undefined ? [] : [{ name: selected.name }]),
    ...(collectionVerbs.has(verb) ? [{ every: true }] : []),
  ].map(asked);
}
