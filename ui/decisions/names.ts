import { useEffect, useState } from 'preact/hooks';
import type { ClaimsProviderList, GrantList } from '../api.js';
import { call } from '../base/api.js';

/** Display names of apps and scopes, by their names in the API. */
export interface Names {
  readonly clients: ReadonlyMap<string, string>;
  readonly scopes: ReadonlyMap<string, string>;
}

/**
 * Reads the display names from grants and claims providers. A failed read leaves the names of the
 * API.
 */
export function useNames(account: string): Names {
  const [names, set] = useState<Names>({ clients: new Map(), scopes: new Map() });
  useEffect(() => {
    const grants = call<GrantList>('GET', `grants?fieldSelector=status.account%3D${account}`).then(
      ({ items }) => items,
      () => [],
    );
    const providers = call<ClaimsProviderList>('GET', 'claimsproviders').then(
      ({ items }) => items,
      () => [],
    );
    void Promise.all([grants, providers]).then(([grantList, providerList]) =>
      set({
        clients: new Map(
          grantList.map(({ status: { client } }) => [client.name, client.displayName]),
        ),
        scopes: new Map(
          providerList.flatMap(({ spec }) => spec.scopes.map(({ name, title }) => [name, title])),
        ),
      }),
    );
  }, [account]);
  return names;
}
