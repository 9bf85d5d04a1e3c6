import type { Account } from '../../api.js';

/** What is known of the operators, from the Group `operators` and the accounts of its members. */
export type OperatorsFinding = 'NoMembers' | 'NoPasskey' | 'Done';

interface Group {
  readonly spec: { readonly members?: readonly string[] };
}

const canSignInByPasskey = ({ metadata, status }: Account): boolean =>
  status.passkeys > 0 && !status.disabledTimestamp && !metadata.deletionTimestamp;

/**
 * Returns whether the Group has members, and whether one of them has a passkey; `read` gets a path
 * of the API. Asks for one account after the other, since nearly always an early one has a passkey.
 */
export async function readOperators(
  read: <T>(path: string) => Promise<T>,
  groups: string,
  accounts: string,
): Promise<OperatorsFinding> {
  const { spec } = await read<Group>(`${groups}/operators`);
  const members = spec.members ?? [];
  if (members.length === 0) return 'NoMembers';
  for (const address of members) {
    const selector = encodeURIComponent(`status.email.address=${address}`);
    const path = `${accounts}?fieldSelector=${selector}`;
    const { items } = await read<{ items: Account[] }>(path);
    if (items.some(canSignInByPasskey)) return 'Done';
  }
  return 'NoPasskey';
}
