import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { defineAction } from '../../../registry/action.js';
import type { Call, Settings, Transaction } from '../../../registry/kind.js';
import { perMinute } from '../../../registry/limits/rate-limit.js';
import { toTimestamp } from '../../../registry/schema/timestamp.js';
import { dayMs } from '../../../registry/schema/units.js';
import { conflict, notFound, unauthorized } from '../../../registry/status/status.js';
import type { Store } from '../../../registry/store/store.js';
import { digest } from '../../../security/keyring.js';
import { Group, operators } from '../../people/group/group.js';
import { endWaitsOfAddress } from '../../people/passkey/delay-strength.js';
import { Invitation } from './invitation.js';
import { type InvitationObject, isPending } from './schema.js';

/** The name of the Invitation of the first operator. */
const firstOperator = 'first-operator';

/** How long its link is valid, in milliseconds. */
const linkLifetimeMs = dayMs;

const acceptLimit = perMinute('invitation-accept', 'invitationAcceptsPerNetwork');

/**
 * Returns a new link that makes the first person who opens it and signs in the operator, or
 * undefined if someone operates this service. Earlier links become invalid. Only the hash of the
 * token is stored.
 */
export async function inviteFirstOperator(store: Store): Promise<string | undefined> {
  const token = randomBytes(32).toString('base64url');
  const call = store.systemCall();
  const isInvited = await call.change(async (tx) => {
    if (await isOperated(tx, call.settings)) return false;
    await renewInvitation(tx, call.now, digest(token));
    return true;
  });
  return isInvited ? `${call.settings.baseURL}/invitation#${firstOperator}.${token}` : undefined;
}

async function renewInvitation(tx: Transaction, now: number, token: string): Promise<void> {
  const spec = { groups: [operators], until: toTimestamp(now + linkLifetimeMs) };
  const status = { phase: 'Pending' } as const;
  const internal = { token };
  if ((await tx.get(Invitation, firstOperator)) === undefined) {
    await tx.create(Invitation, { metadata: { name: firstOperator }, spec, status, internal });
  } else {
    await tx.update(Invitation, firstOperator, (next) => {
      Object.assign(next, { spec, status, internal });
    });
  }
}

/** Reports whether Group `operators` lists someone, or the settings name someone. */
async function isOperated(
  tx: Transaction,
  settings: Pick<Settings, 'operators'>,
): Promise<boolean> {
  const group = await tx.get(Group, operators);
  return settings.operators.length > 0 || (group?.spec.members.length ?? 0) > 0;
}

/**
 * POST invitations/<name>/accept: makes the signed-in person the first operator, with the token of
 * the link on the console. Throws the same 404 for a wrong token and an absent Invitation, and 409
 * if someone operates this service.
 */
export const acceptByToken = defineAction({
  of: Invitation,
  subresource: 'accept',
  verb: 'create',
  kind: 'InvitationAcceptance',
  limit: acceptLimit,
  description: 'Makes the caller the first operator, with the token that the service printed.',
  spec: z.object({
    token: z
      .string()
      .regex(/^[A-Za-z0-9_-]{43}$/)
      .describe('The token of the link.'),
  }),
  run: (call: Call, { metadata: { name } }, { spec: { token } }) => {
    const { caller } = call;
    if (caller.type !== 'Account') throw unauthorized();
    return call.change(async (tx) => {
      const invitation = await tx.get(Invitation, name);
      if (!isLinkOf(invitation, token, call.now)) throw notFound(Invitation, name);
      if (await isOperated(tx, call.settings)) {
        throw conflict(Invitation, name, 'someone operates this service already');
      }
      await addOperator(tx, caller.email);
      await endWaitsOfAddress(tx, call, caller.account);
      tx.after(() => call.ports.audit('operator.first', { account: caller.account }));
      return tx.update(Invitation, name, (next) => {
        next.status = {
          phase: 'Accepted',
          account: caller.account,
          acceptedTimestamp: toTimestamp(call.now),
          groups: [operators],
        };
        next.internal = undefined;
      });
    });
  },
});

const isLinkOf = (
  invitation: InvitationObject | undefined,
  token: string,
  now: number,
): invitation is InvitationObject =>
  invitation !== undefined &&
  isPending(invitation, now) &&
  invitation.internal?.token === digest(token);

/** The commit checks that the Group is unchanged, so that two people cannot both become the first. */
async function addOperator(tx: Transaction, email: string): Promise<void> {
  if (await tx.get(Group, operators)) {
    await tx.update(Group, operators, ({ spec }) => {
      spec.members = [email];
    });
  } else {
    await tx.create(Group, {
      metadata: { name: operators },
      spec: { displayName: 'Operators', members: [email] },
    });
  }
}
