import type { Account, ClaimsProvider, PolicyDecision } from '../../api.js';
import { call, readItems } from '../../base/api/api.js';
import { Ltr } from '../../base/text/message.js';
import { useRead } from '../../base/api/use-read.js';
import { namesOf, unknownNames, type Names } from '../../decisions/names.js';
import { wordFor } from '../../decisions/words.js';

interface Client {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly displayName: string;
    readonly displayNames?: Readonly<Record<string, string>>;
  };
}

/** Reads the display names of apps and scopes. A failed read leaves the names of the API. */
export function useDisplayNames(): Names {
  const { value: names = unknownNames } = useRead(async () => {
    const [clients, providers] = await Promise.all([
      readItems<Client>('clients'),
      readItems<ClaimsProvider>('claimsproviders'),
    ]);
    return namesOf(new Map(clients.map(({ metadata, spec }) => [metadata.name, spec])), providers);
  }, []);
  return names;
}

const addresses = new Map<string, Promise<string | undefined>>();

/** Reads the address of an account once; undefined if the caller may not read it. */
export function addressOf(account: string): Promise<string | undefined> {
  const known = addresses.get(account);
  if (known) return known;
  const read = call<Account>('GET', `accounts/${encodeURIComponent(account)}`).then(
    ({ status }) => status.email.address,
    () => undefined,
  );
  addresses.set(account, read);
  return read;
}

/** An account, by its address. */
function Person({ account }: { account: string }) {
  const { value: address } = useRead(() => addressOf(account), [account]);
  return <Ltr of={address ?? account} />;
}

/** Who made the request of a decision, or whose sign-in it was. */
export function Who({ decision: { spec } }: { decision: PolicyDecision }) {
  const { type, name } = spec.input.caller;
  const isNamed = type !== 'Browser' && name !== undefined;
  if (spec.account) return <Person account={spec.account} />;
  return (
    <>
      {wordFor('who', type)} {isNamed && <Ltr of={name} />}
    </>
  );
}
