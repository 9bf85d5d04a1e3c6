import { refusalMessage } from '../../registry/authorizer.js';
import { invalidValue } from '../../registry/field-errors.js';
import type { Call, Caller, Decision, Transaction } from '../../registry/kind.js';
import { forbidden, invalid } from '../../registry/status.js';
import { Account } from '../account/account.js';
import { Group, operators } from '../group/group.js';
import { checkedGroups } from '../group/membership-index.js';
import { canonicalAddress } from '../signin/email-address.js';
import { naming } from './naming.js';
import type { InvitationObject, Inviter } from './schema.js';

/** Who asks the policy, with the facts that replace those of the request. */
interface Asker {
  readonly caller: Caller;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** Returns the caller who invites, as the Invitation keeps it; undefined for the service itself. */
export function inviterOf({ caller, now }: Call): Inviter | undefined {
  if (caller.type === 'System') return undefined;
  if (caller.type !== 'Account') return { caller, signedInRecently: false };
  const { recentUntil = 0, standing: _, ...person } = caller;
  const kept = { ...person, email: '', groups: [] };
  return { caller: kept, signedInRecently: now / 1000 <= recentUntil };
}

/**
 * Throws 403 unless the caller is permitted to update each Group of the Invitation, and 422 if a
 * Group is absent: an Invitation adds a member later (docs/design/api.md#invitations).
 */
export async function assertMayInvite(
  tx: Transaction,
  { metadata, spec }: InvitationObject,
  call: Call,
): Promise<void> {
  if (call.caller.type === 'System') return;
  for (const [i, name] of spec.groups.entries()) {
    const decision = await decideGroup(tx, call, name, { caller: call.caller, facts: {} });
    if (!decision.allowed)
      throw forbidden(
        `an invitation to Group ${name} needs permission to update it: ${refusalMessage(decision)}`,
        naming,
        metadata.name,
      );
    if (!(await tx.get(Group, name)))
      throw invalid(naming, metadata.name, [invalidValue(`spec.groups[${i}]`, 'no such Group')]);
  }
}

/**
 * Returns whether who invited could invite still: with the sign-in of that moment, and with today's
 * account, groups and policy; undefined if the policy could not be applied. The commit checks the
 * account and the Groups that were read.
 */
export async function mayStillInvite(
  tx: Transaction,
  { metadata, spec, internal }: InvitationObject,
  call: Call,
): Promise<boolean | undefined> {
  const inviter = internal?.inviter;
  if (!inviter) return true;
  const caller = await callerNow(tx, inviter.caller, call);
  if (!caller) return false;
  const { signedInRecently } = inviter;
  const asker: Asker = {
    caller,
    facts: { signedInRecently, site: undefined, network: undefined },
  };
  const about = { kind: naming, name: metadata.name, caller, record: 'never' };
  const creation = await call.decide('create', { ...about, ...asker.facts, client: spec.client });
  if (!creation.allowed) return isFailure(creation) ? undefined : false;
  for (const name of spec.groups) {
    if (!(await tx.get(Group, name))) continue;
    const decision = await decideGroup(tx, call, name, asker);
    if (!decision.allowed) return isFailure(decision) ? undefined : false;
  }
  return true;
}

/** Returns whether a decision refuses because no policy could be applied. */
const isFailure = ({ reasons }: Decision): boolean => reasons[0]?.rule === 'error';

/** Returns the inviter with the rights of now; undefined for an account that cannot sign in. */
async function callerNow(tx: Transaction, caller: Caller, call: Call): Promise<Caller | undefined> {
  if (caller.type !== 'Account') return caller;
  const account = await tx.get(Account, caller.account);
  if (!account || account.status.disabledTimestamp || account.metadata.deletionTimestamp)
    return undefined;
  const email = canonicalAddress(account.status.email.address);
  const groups = await call.ports.groupsOf(email);
  for (const group of checkedGroups(groups)) await tx.get(Group, group);
  const { passkeys } = account.status;
  return { ...caller, email, groups, operator: groups.includes(operators), passkeys };
}

const decideGroup = async (
  tx: Transaction,
  call: Call,
  name: string,
  { caller, facts }: Asker,
): Promise<Decision> =>
  call.decide('update', {
    ...facts,
    caller,
    kind: Group,
    name,
    object: await tx.get(Group, name),
    record: 'never',
  });
