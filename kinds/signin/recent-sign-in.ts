import type { Call } from '../../registry/kind.js';
import { forbidden, type KindNames } from '../../registry/status.js';

const anyMethod = ['EmailCode', 'EmailLink', 'Passkey'] as const;
const passkeyAlone = ['Passkey'] as const;

/** How and when (seconds since the epoch) someone signed in last. */
export interface SignInProof {
  readonly methods: readonly string[];
  readonly seconds: number;
}

/**
 * Demands a sign-in as recent as `limits.recentSignIn` says, by passkey where the person's account
 * has any: proof of the mailbox alone must not change an account that is held by more. `passkeys`
 * is how many the account has. Throws 403 with cause ReauthenticationRequired and, in
 * `details.methods`, the methods that suffice.
 */
export function requireRecentProof(
  proof: SignInProof | undefined,
  passkeys: number,
  { now, settings }: Pick<Call, 'now' | 'settings'>,
  of: KindNames,
  name?: string,
): void {
  const { recentSignIn } = settings.limits;
  const isRecent =
    proof !== undefined && Math.floor(now / 1000) - proof.seconds <= recentSignIn / 1000;
  const byPasskey = passkeys > 0;
  if (isRecent && (!byPasskey || proof.methods.includes('Passkey'))) return;
  const why = byPasskey
    ? `sign in again by passkey, this may only follow a sign-in by passkey of the last ${minutes(recentSignIn)}`
    : `sign in again, this may only follow a sign-in of the last ${minutes(recentSignIn)}`;
  const message = byPasskey
    ? `the account has a passkey: this needs a sign-in by method Passkey of the last ${minutes(recentSignIn)}`
    : 'the last sign-in is too old for this';
  throw forbidden(why, of, name, {
    methods: byPasskey ? passkeyAlone : anyMethod,
    causes: [{ reason: 'ReauthenticationRequired', message }],
  });
}

/**
 * Demands the same of anyone who asks: a person, by the passkeys of their own account, which a caller
 * that has read the account in its transaction passes on. A token is no sign-in; Machines and this
 * service itself have none to renew.
 */
export function requireRecentAuthentication(
  { caller, now, settings }: Pick<Call, 'caller' | 'now' | 'settings'>,
  of: KindNames,
  name?: string,
  passkeys?: number,
): void {
  if (caller.type !== 'Account') return;
  const { session, authenticated, methods = [] } = caller;
  const proof =
    session !== undefined && authenticated !== undefined
      ? { methods, seconds: authenticated }
      : undefined;
  requireRecentProof(proof, passkeys ?? caller.passkeys ?? 0, { now, settings }, of, name);
}

const minutes = (milliseconds: number): string =>
  milliseconds === 600_000 ? 'ten minutes' : `${Math.round(milliseconds / 60_000)} minutes`;
