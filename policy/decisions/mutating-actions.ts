import type { Registry } from '../../registry/store/registry.js';

const mutatingVerbs = new Set([
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
  'signUp',
]);
const cache = new WeakMap<Registry, ReadonlySet<string>>();

/** Returns whether an action changes something when it is permitted. */
export function isMutating(registry: Registry, action: string): boolean {
  let mutating = cache.get(registry);
  if (!mutating) {
    cache.set(
      registry,
      (mutating = new Set([
        ...mutatingVerbs,
        ...registry.actions
          .filter(({ verb }) => verb !== 'get')
          .map(({ of, subresource }) => `${of.resource}/${subresource}`),
      ])),
    );
  }
  return mutating.has(action);
}
