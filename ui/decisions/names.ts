import { useEffect, useState } from 'preact/hooks';
import type { ClaimsProvider, Grant } from '../api.js';
import { readItems } from '../base/api/api.js';
import { claimTitle, nameOf, scopeTitle } from '../base/text/local-text.js';

/** Returns the display name of an app or a scope in the language of the page, or else its name. */
export interface Names {
  /** False until they were read: lists that show names wait for that. */
  readonly isKnown: boolean;
  readonly client: (name: string) => string;
  readonly scope: (name: string) => string;
  readonly claim: (provider: string, name: string) => string;
}

/** Names of which nothing is known yet. */
export const unknownNames: Names = {
  isKnown: false,
  client: (name) => name,
  scope: (name) => name,
  claim: (provider, name) => claimTitle(provider, { claim: name, title: name }),
};

/** The display name of a Client, and those in other languages. */
type ClientNames = Parameters<typeof nameOf>[0];

type GrantedAudience = NonNullable<Grant['status']['audiences']>[number];

/**
 * Returns names from what is known of Clients, by name, from the claims providers, and from the
 * Audiences of grants.
 */
export function namesOf(
  clients: ReadonlyMap<string, ClientNames>,
  providers: readonly ClaimsProvider[],
  audiences: readonly GrantedAudience[] = [],
): Names {
  const scopes = new Map([
    ...providers.flatMap(({ metadata, spec }) =>
      spec.scopes.map((scope) => [scope.name, { ...scope, provider: metadata.name }] as const),
    ),
    ...audiences.flatMap(({ name: provider, scopes: own }) =>
      own.map((scope) => [`${provider}/${scope.name}`, { ...scope, provider }] as const),
    ),
  ]);
  const claims = new Map(
    providers.flatMap(({ metadata, spec }) =>
      spec.scopes.flatMap((scope) =>
        scope.claims.map(
          (claim) => [`${metadata.name}/${claim.name}`, { ...claim, claim: claim.name }] as const,
        ),
      ),
    ),
  );
  return {
    isKnown: true,
    client(name) {
      const client = clients.get(name);
      return client ? nameOf(client) : name;
    },
    scope(name) {
      const scope = scopes.get(name);
      return scope ? scopeTitle(scope.provider, scope) : name;
    },
    claim(provider, name) {
      const claim = claims.get(`${provider}/${name}`);
      return claimTitle(provider, claim ?? { claim: name, title: name });
    },
  };
}

const clientsOf = (grants: readonly Grant[]): ReadonlyMap<string, ClientNames> =>
  new Map(grants.map(({ status: { client } }) => [client.name, client]));

/**
 * Reads the display names from grants and claims providers. A failed read leaves the names of the
 * API.
 */
export function useNames(account: string): Names {
  const [names, set] = useState(unknownNames);
  // without `useRead`, which would split the script of the account page in two
  useEffect(() => {
    void Promise.all([
      readItems<Grant>(`grants?fieldSelector=status.account%3D${account}`),
      readItems<ClaimsProvider>('claimsproviders'),
    ]).then(([grants, providers]) => {
      const audiences = grants.flatMap(({ status }) => status.audiences ?? []);
      set(namesOf(clientsOf(grants), providers, audiences));
    });
  }, [account]);
  return names;
}
