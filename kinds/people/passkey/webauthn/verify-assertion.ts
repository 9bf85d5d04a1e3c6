import assert from 'node:assert/strict';
import type { VerifiedAuthenticationResponse } from '@simplewebauthn/server';
import { checkClientData, type ExpectedResponse } from './client-data.js';
import { verifyDummy } from './cose-key.js';
import type { Assertion } from './credential.js';
import { loadWebauthn, type WebAuthnLibrary } from './library.js';

/** The stored credential that an assertion names. */
export interface KnownCredential {
  /** COSE key, base64url. */
  readonly publicKey: string;
  readonly counter: number;
  readonly deviceType: 'singleDevice' | 'multiDevice';
  /** The user handle of the account it belongs to, base64url. */
  readonly userHandle: string;
}

/** The result of a verification; `why` is for audits only. */
export type AssertionVerdict =
  | { readonly verified: true; readonly counter: number; readonly backedUp: boolean }
  | { readonly verified: false; readonly why: string };

/**
 * Verifies an assertion (WebAuthn 3 §7.2): first what the library does not check, then with the
 * library. Every path verifies one signature, so that timing does not reveal the reason of a
 * refusal.
 */
export async function verifyAssertion(
  assertion: Assertion,
  expected: ExpectedResponse,
  known: KnownCredential | undefined,
): Promise<AssertionVerdict> {
  const library = await loadWebauthn();
  try {
    assert(known !== undefined, 'unknown credential');
    const { clientDataJSON, userHandle } = assertion.response;
    assert(userHandle === known.userHandle, 'user handle: missing or of another account');
    checkClientData(library, clientDataJSON);
    return verdictOf(await verifyWithLibrary(library, assertion, expected, known), known);
  } catch (error) {
    await verifyDummy(library);
    return { verified: false, why: String(error) };
  }
}

/** Returns true if the signature counter increased, or if both are zero (WebAuthn 3 §6.1.1). */
export const isCounterIncreased = (stored: number, received: number): boolean =>
  (stored === 0 && received === 0) || received > stored;

/** The `why` of a backup eligibility that changed; only who has the key learns of it. */
export const backupEligibilityChanged = 'the backup eligibility changed';

/** The `why` of a signature counter that did not increase. */
export const counterNotIncreased = 'the signature counter did not increase';

/** Compares with the stored credential what the signature covers. */
function verdictOf(
  { verified, authenticationInfo }: VerifiedAuthenticationResponse,
  known: KnownCredential,
): AssertionVerdict {
  const { newCounter: counter, credentialBackedUp: backedUp } = authenticationInfo;
  if (!verified) return { verified, why: 'invalid signature' };
  if (!isCounterIncreased(known.counter, counter)) {
    return { verified: false, why: counterNotIncreased };
  }
  return authenticationInfo.credentialDeviceType === known.deviceType
    ? { verified, counter, backedUp }
    : { verified: false, why: backupEligibilityChanged };
}

/** Verifies an assertion with the library. The signature counter is compared afterwards. */
async function verifyWithLibrary(
  { verifyAuthenticationResponse }: WebAuthnLibrary,
  { id, rawId = id, type = 'public-key', response }: Assertion,
  { challenge, origin, rpID }: ExpectedResponse,
  { publicKey }: KnownCredential,
): Promise<VerifiedAuthenticationResponse> {
  const { clientDataJSON, authenticatorData, signature } = response;
  assert(type === 'public-key', 'credential: type is not public-key');
  return verifyAuthenticationResponse({
    response: {
      id,
      rawId,
      type,
      response: { clientDataJSON, authenticatorData, signature },
      clientExtensionResults: {},
    },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpID,
    expectedType: 'webauthn.get',
    requireUserVerification: true,
    credential: { id, publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')), counter: 0 },
  });
}
