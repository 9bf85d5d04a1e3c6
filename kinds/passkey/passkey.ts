import { z } from 'zod';
import {
  defineKind,
  type Call,
  type KindObject,
  type ObjectOf,
  type Transaction,
} from '../../registry/kind.js';
import { perMinute } from '../../registry/rate-limit.js';
import { ownChanges } from '../signin/update-limit.js';
import { conflict, invalid, unauthorized, type StatusError } from '../../registry/status.js';
import { randomName } from '../../registry/transaction.js';
import { Account } from '../account/account.js';
import { requireRecentAuthentication } from '../signin/recent-sign-in.js';
import { revokeOtherSessions, isSessionValid } from '../account/end-sessions.js';
import { Session } from '../session/session.js';
import { line, timestamp } from '../signin/schema-types.js';
import { describeBrowser } from '../signin/user-agent.js';
import { authenticatorName } from './aaguid-names.js';
import { takeChallenge, type Taken } from '../signin/passkey-challenge.js';
import { NewPasskey, type NewCredential } from './webauthn/credential.js';
import { entersWithoutPasskey } from './last-passkey.js';
import {
  transports,
  verifyRegistration,
  type Registration,
} from './webauthn/verify-registration.js';
import { fullStrengthFrom, type Binding } from './strength.js';

const noticeFor = 86_400_000;

const displayName = () => line(64).describe('The name its owner gave it.');

/** What registers a passkey. */
export const newPasskey = NewPasskey(displayName());

/** Limits registrations by client network. */
export const passkeyLimit = perMinute('passkeys', 'passkeysPerNetwork');

const PasskeySpec = z.object({ displayName: displayName() });

const PasskeyStatus = z.object({
  account: z.string().describe('The Account it signs in to.'),
  deviceType: z
    .enum(['singleDevice', 'multiDevice'])
    .describe('Whether it may be on several devices.'),
  backedUp: z.boolean().describe('A copy exists elsewhere, as of its last use.'),
  transports: z.array(z.enum(transports)).describe('How its authenticator can be reached.'),
  authenticator: z
    .object({
      aaguid: z.string().describe('The kind of authenticator, as it says itself.'),
      name: z.string().optional().describe('What its maker calls that kind.'),
    })
    .describe('What keeps it.'),
  lastUsedTimestamp: timestamp()
    .nullable()
    .describe('The last sign-in by it; null when never used.'),
  fullStrengthTimestamp: timestamp()
    .optional()
    .describe(
      'From when a sign-in by it counts as phishing-resistant: later than its creation where it ' +
        'was added after a sign-in by mail. Absent on passkeys of earlier releases, which count.',
    ),
});

const PasskeyInternal = z.object({
  /** Base64url. */
  credentialID: z.string(),
  /** COSE key, base64url. */
  publicKey: z.string(),
  counter: z.number().int(),
});

type AccountObject = ObjectOf<typeof Account>;
type PasskeyObject = KindObject<
  z.infer<typeof PasskeySpec>,
  z.infer<typeof PasskeyStatus>,
  z.infer<typeof PasskeyInternal>
>;

/**
 * A passkey a person signs in with; registering one answers a challenge (docs/design/security.md#passkeys).
 */
export const Passkey = defineKind({
  kind: 'Passkey',
  resource: 'passkeys',
  shortNames: ['pk'],
  owner: 'status.account',
  nameSource: 'service',
  bodyLimit: 64 << 10,
  changeLimit: ownChanges,
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
    run: (call, { spec }): Promise<PasskeyObject> => registerSignedIn(call, spec as Sent),
  },
  strategy: {
    async beforeCommit(tx, next, old, call) {
      if (next && old) return;
      const account = await tx.get(Account, (next ?? old)!.status.account);
      if (!account) return;
      if (!next) await refuseRemoval(call, account, old!.metadata.name);
      await tx.update(Account, account.metadata.name, ({ status }) => {
        status.passkeys += next ? 1 : -1;
      });
      if (call.caller.type === 'System') return;
      await tx.enqueue(
        'mail',
        {
          to: account.status.email.address,
          passkey: noticeOf(call, account, (next ?? old)!, next ? 'Added' : 'Removed'),
        },
        call.now + noticeFor,
      );
      if (!next) await revokeOtherSessions(tx, call, account.metadata.name);
      tx.after(() =>
        call.ports.audit(next ? 'passkey.added' : 'passkey.removed', {
          account: account.metadata.name,
          passkey: (next ?? old)!.metadata.name,
        }),
      );
    },
  },
});

const noticeOf = (
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
 * 403 after more than ten minutes; 409 where its owner could not get in without it. Who runs the
 * service may take any away.
 */
async function refuseRemoval(call: Call, account: AccountObject, name: string): Promise<void> {
  requireRecentAuthentication(
    call,
    Passkey,
    name,
    isOwner(call, account) ? account.status.passkeys : undefined,
  );
  if (
    !isOwner(call, account) ||
    account.status.passkeys > 1 ||
    (await entersWithoutPasskey(call, account))
  )
    return;
  throw conflict(Passkey, name, 'policy requires a passkey, and this is the last one');
}

/**
 * 422: whatever is wrong with the answer, and whether or not there was a challenge to it
 * (docs/design/security.md#passkeys).
 */
const notAccepted = (name: string): StatusError =>
  invalid(Passkey, name, [
    {
      reason: 'FieldValueInvalid',
      field: 'spec.credential',
      message: 'Invalid value: this passkey was not accepted',
    },
  ]);

/** What a browser sends to register. */
interface Sent {
  readonly displayName?: string;
  readonly credential: NewCredential;
}

/** Verifies what was sent against the challenge that was taken for it; 422 for every fault. */
export async function verifiedRegistration(
  call: Pick<Call, 'settings'>,
  { credential }: Sent,
  challenge: string,
): Promise<Registration> {
  const { baseURL, rpID } = call.settings;
  const verdict = await verifyRegistration(credential, { challenge, origin: baseURL, rpID });
  if (!verdict.verified) throw notAccepted('');
  return verdict.registration;
}

/**
 * Creates the Passkey in this commit: 409 where the account has as many as it may or anyone has the
 * credential already.
 */
export async function addPasskey(
  tx: Transaction,
  call: Call,
  { account, binding }: { account: AccountObject; binding: Binding },
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
  if (account.status.passkeys >= max)
    throw conflict(Account, name, `an account may have ${max} passkeys`);
  const known = authenticatorName(aaguid);
  return tx.create(Passkey, {
    metadata: { name: `${name}-${randomName(10)}` },
    spec: { displayName: called ?? known ?? 'Passkey' },
    status: {
      account: name,
      deviceType,
      backedUp,
      transports: reached,
      authenticator: { aaguid, ...(known && { name: known }) },
      lastUsedTimestamp: null,
      fullStrengthTimestamp: fullStrengthFrom(binding, call.now, call.settings.limits.recoveryWait),
    },
    internal: { credentialID: id, publicKey, counter },
  });
}

/**
 * POST passkeys: answers a Register challenge of one's own session; the challenge is used up
 * whatever comes of it.
 */
async function registerSignedIn(call: Call, sent: Sent): Promise<PasskeyObject> {
  const { caller } = call;
  if (caller.type !== 'Account') throw unauthorized();
  requireRecentAuthentication(call, Passkey);
  const challenge = call.ports.signIns.challengeOf(
    await call.change(async (tx) => {
      let taken!: Taken;
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
    )
      throw unauthorized();
    if (
      !isSessionValid(
        account.internal.signedOut,
        session.metadata.name,
        session.internal.loginSeconds,
      )
    )
      throw unauthorized();
    requireRecentAuthentication(call, Passkey, undefined, account.status.passkeys);
    return addPasskey(
      tx,
      call,
      { account, binding: { acr: session.status.assurance } },
      { registration, called: sent.displayName },
    );
  });
}
