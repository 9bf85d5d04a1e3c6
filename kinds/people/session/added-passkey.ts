import type { AddedPasskey } from '../../signin/added-passkey.js';
import { authenticationClaims, phishingResistant } from './acr.js';

/** Returns the record of a passkey that is added at `now` (ms since the epoch). */
export const addedPasskeyAt = (now: number, isFullStrength: boolean): AddedPasskey => ({
  seconds: Math.floor(now / 1000),
  acr: authenticationClaims('Passkey', isFullStrength).acr,
});

/** The facts of a session's sign-in; `authenticated` in seconds since the epoch. */
interface SessionSignIn {
  readonly authenticated: number;
  readonly methods: readonly string[];
  readonly assurance: string;
}

/** Returns the facts of a sign-in with those of a passkey that was added after it. */
export function withAddedPasskey(
  signIn: SessionSignIn,
  added: AddedPasskey | undefined,
): SessionSignIn {
  if (!added) return signIn;
  return {
    authenticated: Math.max(signIn.authenticated, added.seconds),
    methods: [...new Set([...signIn.methods, 'Passkey'])],
    assurance: added.acr === phishingResistant ? added.acr : signIn.assurance,
  };
}
