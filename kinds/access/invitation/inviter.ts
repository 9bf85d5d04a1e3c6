import { refusalMessage } from '../../../registry/authorizer.js';
import type { Call, Caller, Decision, Transaction } from '../../../registry/kind.js';
import { fromTimestamp } from '../../../registry/schema/timestamp.js';
import { invalidValue } from '../../../registry/status/field-errors.js';
import { forbidden, invalid } from '../../../registry/status/status.js';
import { Account } from '../../people/account/account.js';
import { addressOf, isInGroup } from '../../people/group/caller-rights.js';
import { Group, operators } from '../../people/group/group.js';
import { checkedGroups } from '../../people/group/membership-index.js';
import { naming } from './naming.js';
import type { InvitationObject, Inviter } from './schema.js';

/** Who asks the policy, with the facts that replace those of the request. */
interface Asker {
  readonly caller: Caller;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** What seals a network: it opens nowhere else. */
const networkContext = 'invitation network';

/** Returns who invites, as the Invitation keeps it; undefined for the service itself. */
export function inviterOf({ caller, request, keys }: Call): Inviter | undefined {
  if (caller.type === 'System') return undefined;
  const { network, site } = request;
  const from = {
    ...(site && { site }),
    ...(network && { network: keys.seal(networkContext, network).toString('base64url') }),
  };
  if (caller.type !== 'Account') return { caller, ...from };
  const { expires: _, ...person } = caller;
  return { caller: { ...person, email: '', groups: [] }, ...from };
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
    if (!decision.allowed) {
      throw forbidden(
        `an invitation to Group ${name} needs permission to update it: ${refusalMessage(decision)}`,
        naming,
        metadata.name,
      );
    }
    if (!(await tx.get(Group, name))) {
      throw invalid(naming, metadata.name, [invalidValue(`spec.groups[${i}]`, 'no such Group')]);
    }
  }
}

/**
 * Returns whether who invited could do so still: by the request and the sign-in of that moment, and with
 * today's account, groups and policy; undefined if the policy could not be applied or the network cannot
 * be opened any more. The commit checks the account and the Groups that were read.
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
  const network = networkOf(inviter, call);
  const isWhole = (network === undefined) === (inviter.network === undefined);
  const at = fromTimestamp(metadata.creationTimestamp);
  const asker: Asker = { caller, facts: { site: inviter.site, network, at } };
  const about = { kind: naming, name: metadata.name, caller };
  const creation = await call.decideQuietly('create', {
    ...about,
    ...asker.facts,
    client: spec.client,
  });
  if (!creation.allowed) return isFailure(creation) || !isWhole ? undefined : false;
  for (const name of spec.groups) {
    if (!(await tx.get(Group, name))) continue;
    const decision = await decideGroup(tx, call, name, asker);
    if (!decision.allowed) return isFailure(decision) || !isWhole ? undefined : false;
  }
  return true;
}

/** Returns the network of who invited; undefined if none was kept, or its key was dropped. */
function networkOf({ network }: Inviter, { keys }: Call): string | undefined {
  const sealed = Buffer.from(network ?? '', 'base64url');
  if (network === undefined || !keys.opens(sealed)) return undefined;
  return keys.open(networkContext, sealed).toString();
}

/** Returns whether a decision refuses because no policy could be applied. */
const isFailure = ({ reasons }: Decision): boolean => reasons[0]?.rule === 'error';

/**
 * Returns the inviter with the rights of now; undefined for an account that cannot sign in. An index
 * that is behind gives no Group: those that a commit checks are read.
 */
async function callerNow(tx: Transaction, caller: Caller, call: Call): Promise<Caller | undefined> {
  if (caller.type !== 'Account') return caller;
  const account = await tx.get(Account, caller.account);
  const email = addressOf(account);
  if (!account || email === undefined) return undefined;
  const groups = new Set(await call.ports.groupsOf(email));
  for (const name of checkedGroups([...groups])) {
    if (!isInGroup(name, await tx.get(Group, name), email, call)) groups.delete(name);
  }
  const { passkeys } = account.status;
  const operator = groups.has(operators);
  return { ...caller, email, groups: [...groups], operator, passkeys };
}

const decideGroup = async (
  tx: Transaction,
  call: Call,
  name: string,
  { caller, facts }: Asker,
): Promise<Decision> =>
  call.decideQuietly('update', {
    ...facts,
    caller,
    kind: Group,
    name,
    object: await tx.get(Group, name),
  });
