import type { Registry } from '../../registry/registry.js';

const changing = new Set(['create', 'update', 'patch', 'delete', 'deletecollection', 'signUp']);
const known = new WeakMap<Registry, ReadonlySet<string>>();

/** Whether an action changes something where it is permitted. */
export function isChange(registry: Registry, action: string): boolean {
  let all = known.get(registry);
  if (!all)
    known.set(
      registry,
      (all = new Set([
        ...changing,
        ...registry.actions
          .filter(({ verb }) => verb !== 'get')
          .map(({ of, subresource }) => `${of.resource}/${subresource}`),
      ])),
    );
  return all.has(action);
}
