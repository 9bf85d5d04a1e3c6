import { clone } from '../../../registry/encoded-object.js';
import type { ObjectOf } from '../../../registry/kind.js';
import { Informer } from '../../../registry/store/informer.js';
import type { Store } from '../../../registry/store/store.js';
import { builtInSpec, ClaimsProvider } from './claims-provider.js';
import { builtInProvider, builtInScopes, type Scope } from './scopes.js';

/** A ClaimsProvider as the server holds it. */
export type ClaimsProviderObject = ObjectOf<typeof ClaimsProvider>;

/** An index of the claims providers and their scopes, updated from the watch cache. */
export class ScopeIndex {
  readonly #providers = new Map<string, ClaimsProviderObject>();
  readonly #informer: Informer<typeof ClaimsProvider>;
  #scopes: readonly Scope[] | undefined;

  constructor(store: Store) {
    this.#informer = new Informer(store, ClaimsProvider, (before, after) => {
      const { name } = (after ?? before)!.metadata;
      if (after) {
        this.#providers.set(name, after);
      } else {
        this.#providers.delete(name);
      }
      this.#scopes = undefined;
    });
  }

  /** Loads all providers and follows them; call it after the watch cache has started. */
  start(): Promise<void> {
    return this.#informer.start();
  }

  stop(): void {
    this.#informer.stop();
  }

  /**
   * Undefined if the index is current, else a promise that resolves once it includes this replica's
   * writes.
   */
  get settled(): Promise<boolean> | undefined {
    return this.#informer.isFresh ? undefined : this.#informer.waitUntilFresh();
  }

  provider(name: string): ClaimsProviderObject | undefined {
    return this.#providers.get(name);
  }

  /** All scopes, the built-in ones first; the same array until something changes. */
  get scopes(): readonly Scope[] {
    return (this.#scopes ??= [
      ...builtInScopes,
      ...[...this.#providers.values()]
        .sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
        .flatMap(scopesOf),
    ]);
  }
}

const builtInScopeNames: ReadonlySet<string> = new Set(builtInScopes.map(({ name }) => name));

function scopesOf({ metadata, spec }: ClaimsProviderObject): Scope[] {
  if (metadata.name === builtInProvider.name) return [];
  const { displayName, displayNames } = spec;
  const provider = { name: metadata.name, displayName, ...(displayNames && { displayNames }) };
  return spec.scopes
    .filter(({ name }) => !builtInScopeNames.has(name))
    .map((scope) => ({ ...scope, provider }));
}

/** Writes the ClaimsProvider object of the built-in provider; runs once at start. */
export async function declareBuiltIn(store: Store): Promise<void> {
  const { name } = builtInProvider;
  await store.change(store.systemCall(), async (tx) => {
    const spec = clone(builtInSpec);
    if (await tx.get(ClaimsProvider, name)) {
      await tx.update(ClaimsProvider, name, (next) => {
        next.spec = spec;
      });
    } else {
      await tx.create(ClaimsProvider, { metadata: { name }, spec });
    }
  });
}
