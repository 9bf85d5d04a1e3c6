import { z } from 'zod';
import { defineAction } from '../../../registry/action.js';
import type { Call, ObjectOf, Transaction } from '../../../registry/kind.js';
import { fromTimestamp, toTimestamp } from '../../../registry/schema/timestamp.js';
import { invalidValue } from '../../../registry/status/field-errors.js';
import { conflict, invalid } from '../../../registry/status/status.js';
import { Account } from '../../people/account/account.js';
import { authorName } from '../../signin/caller.js';
import { mailPerson } from '../../signin/mail-person.js';
import { line, timestamp } from '../../signin/schema-types.js';
import { AccessRequest, type AccessRequestObject, phaseAt } from './access-request.js';
import { beginAccess } from './membership.js';

const message = () => line(200).optional().describe('A message to the person who asks.');

/** POST accessrequests/<name>/approve: the person becomes a member in this commit. */
export const approve = defineAction({
  of: AccessRequest,
  subresource: 'approve',
  verb: 'create',
  kind: 'AccessRequestApproval',
  description: 'Approves the request: the person becomes a member of the Group until its end.',
  spec: z.object({
    until: timestamp().optional().describe('An earlier end than the request asks for.'),
    message: message(),
  }),
  run: (call, { metadata: { name } }, { spec }) =>
    call.change(async (tx) => {
      const { request, account } = await pendingRequest(tx, name, call.now);
      const until = spec.until ?? request.spec.until;
      const ends = fromTimestamp(until);
      if (ends <= call.now || ends > fromTimestamp(request.spec.until)) {
        throw invalid(AccessRequest, name, [
          invalidValue('spec.until', 'must be in the future, and not after the requested end'),
        ]);
      }
      const { address } = account.status.email;
      await beginAccess(tx, request, { email: address, until }, call.now);
      return decide(tx, call, { request, account }, { phase: 'Approved', until, ...spec });
    }),
});

/** POST accessrequests/<name>/deny: denies a pending request. */
export const deny = defineAction({
  of: AccessRequest,
  subresource: 'deny',
  verb: 'create',
  kind: 'AccessRequestDenial',
  description: 'Denies the request.',
  spec: z.object({ message: message() }),
  run: (call, { metadata: { name } }, { spec }) =>
    call.change(async (tx) =>
      decide(tx, call, await pendingRequest(tx, name, call.now), { phase: 'Denied', ...spec }),
    ),
});

/** A pending request and the account that made it. */
interface PendingRequest {
  readonly request: AccessRequestObject;
  readonly account: ObjectOf<typeof Account>;
}

/** Returns a pending request; throws 409 if it was decided or has expired. */
async function pendingRequest(tx: Transaction, name: string, now: number): Promise<PendingRequest> {
  const request = (await tx.get(AccessRequest, name))!;
  const account = await tx.get(Account, request.status.account);
  if (!account || account.status.disabledTimestamp || account.metadata.deletionTimestamp) {
    throw conflict(AccessRequest, name, 'its account is disabled or being deleted');
  }
  const phase = phaseAt(request, now);
  if (phase !== 'Pending') throw conflict(AccessRequest, name, `it is already ${phase}`);
  return { request, account };
}

/** What is decided about a request. */
type Verdict = Pick<AccessRequestObject['status'], 'until' | 'message'> & {
  readonly phase: 'Approved' | 'Denied';
};

/** Notes the decision, and mails the person. */
async function decide(
  tx: Transaction,
  call: Call,
  { request, account }: PendingRequest,
  { phase, until, message: said }: Verdict,
): Promise<AccessRequestObject> {
  const { name } = request.metadata;
  const { group } = request.spec;
  const { baseURL } = call.settings;
  const accessDecided = {
    host: new URL(baseURL).host,
    account: `${baseURL}/account`,
    group,
    ...(until !== undefined && { until: fromTimestamp(until) }),
  };
  await mailPerson(tx, call, account, { accessDecided });
  tx.after(() =>
    call.ports.audit(phase === 'Approved' ? 'access.approved' : 'access.denied', {
      account: account.metadata.name,
      accessRequest: name,
      group,
    }),
  );
  return tx.update(AccessRequest, name, ({ status }) => {
    status.phase = phase;
    status.decidedTimestamp = toTimestamp(call.now);
    status.decidedBy = authorName(call.caller);
    if (until !== undefined) status.until = until;
    if (said !== undefined) status.message = said;
  });
}
