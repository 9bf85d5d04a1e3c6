import type { ObjectOf } from '../../registry/kind.js';
import { Informer } from '../../registry/informer.js';
import type { Store } from '../../registry/store.js';
import { clone } from '../../registry/encoded-object.js';
import { builtInSpec, ClaimsProvider } from './claims-provider.js';
import { builtInProvider, builtInScopes, type Scope } from './scopes.js';

/** A ClaimsProvider as the server holds it. */
export type ClaimsProviderObject = ObjectOf<typeof ClaimsProvider>;

/** The services that supply claims and the scopes there are with them, kept by the watch cache. */
export class Suppliers {
  readonly #providers = new Map<string, ClaimsProviderObject>();
  readonly #mirror: Informer<typeof ClaimsProvider>;
  #scopes: readonly Scope[] | undefined;

  constructor(store: Store) {
    this.#mirror = new Informer(store, ClaimsProvider, (before, after) => {
      const { name } = (after ?? before)!.metadata;
      if (after) this.#providers.set(name, after);
      else this.#providers.delete(name);
      this.#scopes = undefined;
    });
  }

  /** Loads all providers and follows them; after the watch cache has begun. */
  start(): Promise<void> {
    return this.#mirror.start();
  }

  stop(): void {
    this.#mirror.stop();
  }

  /** Nothing to wait for, or a promise of what this replica wrote having come back. */
  get settled(): Promise<boolean> | undefined {
    return this.#mirror.isFresh ? undefined : this.#mirror.waitUntilFresh();
  }

  named(name: string): ClaimsProviderObject | undefined {
    return this.#providers.get(name);
  }

  /** All scopes there are, the built-in ones first: the same array until something changes. */
  get scopes(): readonly Scope[] {
    return (this.#scopes ??= [
      ...builtInScopes,
      ...[...this.#providers.values()]
        .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
        .flatMap(scopesOf),
    ]);
  }
}

const own: ReadonlySet<string> = new Set(builtInScopes.map(({ name }) => name));

function scopesOf({ metadata, spec }: ClaimsProviderObject): Scope[] {
  if (metadata.name === builtInProvider.name) return [];
  const provider = { name: metadata.name, displayName: spec.displayName };
  return spec.scopes.filter(({ name }) => !own.has(name)).map((scope) => ({ ...scope, provider }));
}

/** Makes the built-in provider's object say what this release supplies; once a start. */
export async function declareBuiltIn(store: Store): Promise<void> {
  const { name } = builtInProvider;
  await store.change(store.systemCall(), async (tx) => {
    const spec = clone(builtInSpec);
    if (await tx.get(ClaimsProvider, name))
      await tx.update(ClaimsProvider, name, (next) => {
        next.spec = spec;
      });
    else await tx.create(ClaimsProvider, { metadata: { name }, spec });
  });
}
