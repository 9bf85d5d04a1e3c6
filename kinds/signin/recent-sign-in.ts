import type { Call } from '../../registry/kind.js';
import { minuteMs } from '../../registry/schema/units.js';
import { forbidden, type KindNames } from '../../registry/status/status.js';

/** Every method to sign in. */
export const anyMethod = ['EmailCode', 'EmailLink', 'Passkey'] as const;
/** The method that an account with a passkey needs for changes of itself. */
export const passkeyOnly = ['Passkey'] as const;

/** The methods and the time (seconds since the epoch) of the last sign-in. */
export interface SignInProof {
  readonly methods: readonly string[];
  readonly seconds: number;
}

/**
 * Requires a sign-in within `limits.recentSignIn`, by passkey if the account has any (`passkeys` is
 * their number): access to the mailbox alone must not change an account that has a stronger method.
 * Throws 403 with cause ReauthenticationRequired and, in `details.methods`, the methods that
 * suffice.
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
    ? `sign in again by passkey; this requires a sign-in by passkey within the last ${minutesText(recentSignIn)}`
    : `sign in again; this requires a sign-in within the last ${minutesText(recentSignIn)}`;
  const message = byPasskey
    ? `the account has a passkey: this requires a sign-in by method Passkey within the last ${minutesText(recentSignIn)}`
    : 'the last sign-in is too old for this';
  throw forbidden(why, of, name, {
    methods: byPasskey ? passkeyOnly : anyMethod,
    causes: [{ reason: 'ReauthenticationRequired', message }],
  });
}

/**
 * Requires a recent sign-in of the caller, by passkey if its account has any. Pass `passkeys` if
 * the transaction has read the account. A token is not a sign-in; Machines and the service itself
 * are exempt.
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

const minutesText = (milliseconds: number): string =>
  milliseconds === 10 * minuteMs ? 'ten minutes' : `${Math.round(milliseconds / minuteMs)} minutes`;
