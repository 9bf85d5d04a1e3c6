import { useEffect, useState } from 'preact/hooks';
import type { ClaimsProviderList, Grant, GrantList } from '../api.js';
import { call } from '../base/api.js';
import { nameOf, scopeTitle } from '../base/local-text.js';

/** Returns the display name of an app or a scope in the language of the page, or else its name. */
export interface Names {
  readonly client: (name: string) => string;
  readonly scope: (name: string) => string;
}

const unknown: Names = { client: (name) => name, scope: (name) => name };

function namesOf(grants: readonly Grant[], providers: ClaimsProviderList['items']): Names {
  const clients = new Map(grants.map(({ status: { client } }) => [client.name, client]));
  const scopes = new Map(
    providers.flatMap(({ metadata, spec }) =>
      spec.scopes.map((scope) => [scope.name, { ...scope, provider: metadata.name }] as const),
    ),
  );
  return {
    client(name) {
      const client = clients.get(name);
      return client ? nameOf(client) : name;
    },
    scope(name) {
      const scope = scopes.get(name);
      return scope ? scopeTitle(scope.provider, scope) : name;
    },
  };
}

/**
 * Reads the display names from grants and claims providers. A failed read leaves the names of the
 * API.
 */
export function useNames(account: string): Names {
  const [names, set] = useState(unknown);
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
      set(namesOf(grantList, providerList)),
    );
  }, [account]);
  return names;
}
