import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { CreateActionBody, Transaction } from '../../../registry/kind.js';
import { fromTimestamp, toTimestamp } from '../../../registry/schema/timestamp.js';
import { dayMs } from '../../../registry/schema/units.js';
import { invalidValue } from '../../../registry/status/field-errors.js';
import { type Cause, invalid } from '../../../registry/status/status.js';
import { randomName } from '../../../registry/store/random-name.js';
import { defineKind } from '../../define-kind.js';
import {
  canonicalAddress,
  emailAddress,
  isWithinLengths,
  newAddressFaults,
} from '../../signin/email-address.js';
import { profileOf } from '../../signin/mail-language.js';
import { isOperator } from '../../signin/operator-caller.js';
import { requireRecentAuthentication } from '../../signin/recent-sign-in.js';
import { updateLimit } from '../../signin/update-limit.js';
import { enqueueDeletion } from './deletion-row.js';
import { recordGivenUpAddress } from './given-up-address.js';
import { profileFaults } from './profile-faults.js';
import { AccountInternal, type AccountObject, AccountSpec, AccountStatus } from './schema.js';

/**
 * A person, identified by an address that a sign-in verifies. The name is 20 random characters, is
 * never reused, and is the `sub` claim.
 */
export const Account = defineKind({
  kind: 'Account',
  resource: 'accounts',
  shortNames: ['acct'],
  names: { v1alpha1: { 'spec.websiteURI': 'website', 'spec.timeZone': 'zoneinfo' } },
  owner: 'metadata.name',
  ownName: (caller) => (caller.type === 'Account' ? caller.account : undefined),
  cached: true,
  nameSource: 'service',
  changeLimit: updateLimit,
  description: 'A person who signs in, identified by a verified email address.',
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
  spec: AccountSpec,
  status: AccountStatus,
  internal: AccountInternal,
  unique: {
    email: heldAddress,
  },
  selectableFields: {
    'status.email.address': { unique: 'email', normalize: canonicalAddress },
  },
  orders: {
    'spec.displayName': ({ spec }) => spec.displayName,
    'status.email.address': ({ status }) => status.email.address,
    'status.lastSignInTimestamp': newestDayFirst,
  },
  search: ({ spec, status }) => [
    status.email.address,
    ...[spec.displayName, spec.givenName, spec.familyName].flatMap((name) => name ?? []),
  ],
  columns: {
    Email: (account) => account.status.email.address,
    Disabled: (account) => account.status.disabledTimestamp !== undefined,
    Passkeys: (account) => account.status.passkeys,
    'Display-Name': (account) => account.spec.displayName,
    'Last-Sign-In': { wide: (account) => account.status.lastSignInTimestamp },
  },
  create: {
    spec: AccountSpec.extend({
      email: emailAddress().describe('The address. The first sign-in verifies it.'),
    }),
    dryRun: true,
    run: (call, { spec: { email, ...spec }, metadata }): Promise<AccountObject> =>
      call.change((tx) => {
        const isVouchedFor = isOperator(call.caller);
        const name = randomName(20);
        return createAccount(tx, { name, address: email, spec, metadata, isVouchedFor });
      }),
  },
  strategy: {
    validate: ({ spec }, old) => profileFaults(spec, old?.spec),
    beforeCommit(tx, next, old, { now }) {
      const former = old && heldAddress(old);
      const current = next && heldAddress(next);
      if (former !== undefined && former !== current) recordGivenUpAddress(tx, former, now);
      if (!next) return;
      if (old && !isDeepStrictEqual(old.spec, next.spec)) {
        next.status.profileTimestamp = toTimestamp(now);
      }
      const missing: AccountObject['status']['setup']['missing'] = [];
      if (!next.spec.displayName) missing.push('displayName');
      if (next.status.passkeys === 0) missing.push('passkey');
      next.status.setup = { complete: missing.length === 0, missing };
    },
    /**
     * This commit blocks sign-ins and frees the address. A worker deletes the owned objects
     * afterwards, and the account last.
     */
    async beginDelete(tx, old, call) {
      const isOwn = call.caller.type === 'Account' && call.caller.account === old.metadata.name;
      requireRecentAuthentication(
        call,
        Account,
        old.metadata.name,
        isOwn ? old.status.passkeys : undefined,
      );
      if (old.metadata.deletionTimestamp) return;
      await tx.update(Account, old.metadata.name, ({ metadata }) => {
        metadata.deletionTimestamp = toTimestamp(call.now);
      });
      await enqueueDeletion(
        tx,
        call,
        { account: old.metadata.name, why: 'Deleted' },
        profileOf(old),
      );
      if (isOwn) tx.after(() => call.ports.clearSessionCookie());
    },
  },
});

/** Sorts the latest sign-in first, by days: another one on the same day writes no row. */
function newestDayFirst({ status }: AccountObject): string | undefined {
  if (status.lastSignInTimestamp === undefined) return undefined;
  const day = Math.floor(fromTimestamp(status.lastSignInTimestamp) / dayMs);
  return String(99_999_999 - day);
}

/** Returns the address that an account holds; none while the account is being deleted. */
function heldAddress({
  metadata,
  status,
}: Pick<AccountObject, 'metadata' | 'status'>): string | undefined {
  return metadata.deletionTimestamp ? undefined : canonicalAddress(status.email.address);
}

const addressFaults = (email: string): Cause[] =>
  isWithinLengths(email)
    ? newAddressFaults(email, 'spec.email')
    : [invalidValue('spec.email', 'must be an email address')];

/**
 * A new account. `verified` is when its address was verified, in ms since the epoch; `isVouchedFor`
 * is true if an operator created it.
 */
interface NewAccount {
  readonly name: string;
  readonly address: string;
  readonly spec?: AccountObject['spec'];
  readonly metadata?: CreateActionBody['metadata'];
  readonly verified?: number;
  readonly isVouchedFor?: boolean;
  /** The time zone of the browser, as in the tz database. */
  readonly timeZone?: string | undefined;
}

/**
 * Creates an account; throws 409 if another has its address, and 422 if no new account may have it.
 */
export async function createAccount(
  tx: Transaction,
  { name, address, spec = {}, metadata = {}, verified, isVouchedFor = false, timeZone }: NewAccount,
): Promise<AccountObject> {
  const causes = addressFaults(address);
  if (causes.length > 0) throw invalid(Account, '', causes);
  const verifiedTimestamp = verified === undefined ? undefined : toTimestamp(verified);
  return tx.create(Account, {
    metadata: { ...metadata, name },
    spec,
    status: {
      email: { address, ...(verifiedTimestamp && { verifiedTimestamp }) },
      setup: { complete: false, missing: [] },
      passkeys: 0,
      ...(verifiedTimestamp && { lastSignInTimestamp: verifiedTimestamp }),
    },
    internal: {
      userHandle: randomBytes(64).toString('base64url'),
      ...(isVouchedFor && { isVouchedFor }),
      ...(timeZone !== undefined && { timeZone }),
    },
  });
}

/** Returns the account as a sign-in shows it. */
export const accountSummary = ({ metadata, spec, status }: AccountObject) => ({
  name: metadata.name,
  email: status.email.address,
  setup: status.setup,
  ...(spec.displayName && { displayName: spec.displayName }),
});
