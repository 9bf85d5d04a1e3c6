import { z } from 'zod';
import type { Call, KindObject, ObjectOf, Transaction } from '../../../registry/kind.js';
import { perMinute } from '../../../registry/limits/rate-limit.js';
import { conditions, withTransitionTimes } from '../../../registry/schema/conditions.js';
import { toTimestamp } from '../../../registry/schema/timestamp.js';
import { invalidValue } from '../../../registry/status/field-errors.js';
import {
  conflict,
  invalid,
  type StatusError,
  unauthorized,
} from '../../../registry/status/status.js';
import { randomName } from '../../../registry/store/random-name.js';
import { defineKind } from '../../define-kind.js';
import { mailPerson } from '../../signin/mail-person.js';
import { type TakenChallenge, takeChallenge } from '../../signin/passkey-challenge.js';
import { requireRecentAuthentication } from '../../signin/recent-sign-in.js';
import { line, timestamp } from '../../signin/schema-types.js';
import { updateLimit } from '../../signin/update-limit.js';
import { describeBrowser } from '../../signin/user-agent.js';
import { Account } from '../account/account.js';
import { isSessionValid, revokeOtherSessions } from '../account/end-sessions.js';
import { endTokens } from '../account/end-tokens.js';
import { addedPasskeyAt } from '../session/added-passkey.js';
import { Session } from '../session/session.js';
import { authenticatorName } from './aaguid-names.js';
import { canSignInWithoutPasskey } from './last-passkey.js';
import {
  fullStrengthState,
  fullStrengthTimestampOf,
  hasFullStrength,
  type RegisteredAfter,
} from './strength.js';
import { awaitFullStrength } from './strength-row.js';
import { type NewCredential, NewPasskey } from './webauthn/credential.js';
import {
  type Registration,
  transports,
  verifyRegistration,
} from './webauthn/verify-registration.js';

const displayName = () => line(64).describe('The name that its owner chose.');

/** The body of a registration. */
export const newPasskey = NewPasskey(displayName());

/** Limits registrations by client network. */
export const passkeyLimit = perMinute('passkeys', 'passkeysPerNetwork');

const PasskeySpec = z.object({ displayName: displayName() });

const PasskeyStatus = z.object({
  account: z.string().describe('The Account it signs in to.'),
  deviceType: z
    .enum(['singleDevice', 'multiDevice'])
    .describe('Whether it can be synced to several devices.'),
  backedUp: z.boolean().describe('Whether it was backed up at its last use.'),
  transports: z.array(z.enum(transports)).describe('The transports of the authenticator.'),
  authenticator: z
    .object({
      aaguid: z.string().describe('The AAGUID that the authenticator reports.'),
      name: z.string().optional().describe('The name that the vendor publishes for the AAGUID.'),
    })
    .describe('The authenticator that stores it.'),
  lastUsedTimestamp: timestamp()
    .nullable()
    .describe('The last sign-in with it; null if never used.'),
  fullStrengthTimestamp: timestamp().describe(
    'When sign-ins with it start to count as phishing-resistant: later than its creation if ' +
      'it was added after a sign-in by mail, or if the account took an address that was in use ' +
      'before.',
  ),
  conditions: conditions('FullStrength').optional(),
});

const PasskeyInternal = z.object({
  /** Base64url. */
  credentialID: z.string(),
  /** COSE key, base64url. */
  publicKey: z.string(),
  counter: z.number().int(),
  /**
   * From when it counts in full once someone vouches for the person at the address; absent if only
   * time helps.
   */
  vouchedTimestamp: z.string().optional(),
});

type AccountObject = ObjectOf<typeof Account>;
type PasskeyObject = KindObject<
  z.infer<typeof PasskeySpec>,
  z.infer<typeof PasskeyStatus>,
  z.infer<typeof PasskeyInternal>
>;

/**
 * A passkey of a person. Registering one answers a challenge (docs/design/security.md#passkeys).
 */
export const Passkey = defineKind({
  kind: 'Passkey',
  resource: 'passkeys',
  shortNames: ['pk'],
  owner: 'status.account',
  nameSource: 'service',
  bodyLimit: 64 << 10,
  changeLimit: updateLimit,
  description: 'A passkey that a person signs in with.',
  verbs: ['get', 'list', 'watch', 'create', 'patch', 'update', 'delete'],
  spec: PasskeySpec,
  status: PasskeyStatus,
  internal: PasskeyInternal,
  unique: { credential: ({ internal }) => internal.credentialID },
  columns: {
    'Display-Name': ({ spec }) => spec.displayName,
    'Device-Type': ({ status }) => status.deviceType,
    'Last-Used': { since: ({ status }) => status.lastUsedTimestamp },
    Account: { wide: ({ status }) => status.account },
  },
  create: {
    spec: newPasskey,
    limit: passkeyLimit,
    run: (call, { spec }): Promise<PasskeyObject> =>
      registerSignedIn(call, spec as RegistrationRequest),
  },
  strategy: {
    default({ status }, old, { now }) {
      status.conditions = withTransitionTimes(
        [fullStrengthState(status, now)],
        old?.status.conditions,
        now,
      );
    },
    async beforeCommit(tx, next, old, call) {
      if (next && old) return;
      const account = await tx.get(Account, (next ?? old)!.status.account);
      if (!account) return;
      if (!next) await assertRemovable(call, account, old!.metadata.name);
      await tx.update(Account, account.metadata.name, ({ status }) => {
        status.passkeys += next ? 1 : -1;
      });
      if (call.caller.type === 'System') return;
      if (next) {
        await endTokens(tx, account.metadata.name);
      } else {
        await revokeOtherSessions(tx, call, account.metadata.name);
      }
      const notice = passkeyNotice(call, account, (next ?? old)!, next ? 'Added' : 'Removed');
      await mailPerson(tx, call, account, { passkey: notice });
      tx.after(() =>
        call.ports.audit(next ? 'passkey.added' : 'passkey.removed', {
          account: account.metadata.name,
          passkey: (next ?? old)!.metadata.name,
        }),
      );
    },
  },
});

const passkeyNotice = (
  call: Call,
  account: AccountObject,
  { spec }: PasskeyObject,
  change: 'Added' | 'Removed',
) => ({
  change,
  name: spec.displayName,
  host: new URL(call.settings.baseURL).host,
  account: `${call.settings.baseURL}/account`,
  now: call.now,
  ...((call.caller.type === 'Browser' || isOwner(call, account)) && {
    browser: describeBrowser(call.request.userAgent),
  }),
});

const isOwner = ({ caller }: Pick<Call, 'caller'>, { metadata }: AccountObject): boolean =>
  caller.type === 'Account' && caller.account === metadata.name;

/**
 * Throws 403 without a recent sign-in, and 409 if its owner could not sign in without it. Operators
 * may remove any passkey.
 */
async function assertRemovable(call: Call, account: AccountObject, name: string): Promise<void> {
  requireRecentAuthentication(
    call,
    Passkey,
    name,
    isOwner(call, account) ? account.status.passkeys : undefined,
  );
  if (
    !isOwner(call, account) ||
    account.status.passkeys > 1 ||
    (await canSignInWithoutPasskey(call, account))
  ) {
    return;
  }
  throw conflict(Passkey, name, 'policy requires a passkey, and this is the last one');
}

/**
 * Returns the 422 for every fault of a registration, with or without a challenge
 * (docs/design/security.md#passkeys).
 */
const notAccepted = (name: string): StatusError =>
  invalid(Passkey, name, [invalidValue('spec.credential', 'this passkey was not accepted')]);

/** The spec of a registration request. */
interface RegistrationRequest {
  readonly displayName?: string;
  readonly credential: NewCredential;
}

/** Verifies a registration against its challenge; throws 422 for every fault. */
export async function verifiedRegistration(
  call: Pick<Call, 'settings'>,
  { credential }: RegistrationRequest,
  challenge: string,
): Promise<Registration> {
  const { baseURL, rpID } = call.settings;
  const verdict = await verifyRegistration(credential, { challenge, origin: baseURL, rpID });
  if (!verdict.verified) throw notAccepted('');
  return verdict.registration;
}

/**
 * Creates the Passkey in this commit. Throws 409 if the account has the maximum number of passkeys
 * or if the credential is registered already.
 */
export async function addPasskey(
  tx: Transaction,
  call: Call,
  { account, binding }: { account: AccountObject; binding: RegisteredAfter },
  { registration, called }: { registration: Registration; called?: string | undefined },
): Promise<PasskeyObject> {
  const {
    id,
    publicKey,
    counter,
    aaguid,
    deviceType,
    backedUp,
    transports: reached,
  } = registration;
  const { name } = account.metadata;
  const max = call.settings.limits.passkeysPerAccount;
  if (account.status.passkeys >= max) {
    throw conflict(Account, name, `an account may have at most ${max} passkeys`);
  }
  const known = authenticatorName(aaguid);
  const fullStrengthTimestamp = fullStrengthTimestampOf(
    binding,
    call.now,
    call.settings.limits.recoveryWait,
  );
  const passkey = `${name}-${randomName(10)}`;
  await awaitFullStrength(tx, passkey, { fullStrengthTimestamp }, call.now);
  return tx.create(Passkey, {
    metadata: { name: passkey },
    spec: { displayName: called ?? known ?? 'Passkey' },
    status: {
      account: name,
      deviceType,
      backedUp,
      transports: reached,
      authenticator: { aaguid, ...(known && { name: known }) },
      lastUsedTimestamp: null,
      fullStrengthTimestamp,
    },
    internal: {
      credentialID: id,
      publicKey,
      counter,
      ...(binding.isTakenAddress && { vouchedTimestamp: toTimestamp(call.now) }),
    },
  });
}

/**
 * POST passkeys: registers a passkey with the Register challenge of the caller's session. The
 * challenge is used up even if the registration fails. The passkey counts as a sign-in with it.
 */
async function registerSignedIn(call: Call, sent: RegistrationRequest): Promise<PasskeyObject> {
  const { caller } = call;
  if (caller.type !== 'Account') throw unauthorized();
  requireRecentAuthentication(call, Passkey);
  const challenge = call.ports.signIns.challengeOf(
    await call.change(async (tx) => {
      let taken!: TakenChallenge;
      await tx.update(Session, caller.session!, ({ internal }) => {
        taken = takeChallenge(internal, 'Register', call.now);
      });
      return taken;
    }),
  );
  const registration = await verifiedRegistration(call, sent, challenge);
  return call.change(async (tx) => {
    const [account, session] = [
      await tx.get(Account, caller.account),
      await tx.get(Session, caller.session!),
    ];
    if (
      !account ||
      account.status.disabledTimestamp ||
      !session ||
      session.metadata.deletionTimestamp
    ) {
      throw unauthorized();
    }
    if (!isSessionValid(account, session.metadata.name, session.internal.loginSeconds)) {
      throw unauthorized();
    }
    requireRecentAuthentication(call, Passkey, undefined, account.status.passkeys);
    const passkey = await addPasskey(
      tx,
      call,
      { account, binding: { acr: session.status.assurance } },
      { registration, called: sent.displayName },
    );
    await tx.update(Session, session.metadata.name, ({ internal }) => {
      internal.addedPasskey = addedPasskeyAt(call.now, hasFullStrength(passkey.status, call.now));
    });
    return passkey;
  });
}
