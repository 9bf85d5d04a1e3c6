import { createHash, timingSafeEqual } from 'node:crypto';
import type { VerifiedAuthenticationResponse } from '@simplewebauthn/server';
import { assert, WebAuthnError } from './assert.js';
import { readAuthenticatorData } from './authenticator-data.js';
import { fromBase64url } from './base64url.js';
import { checkClientData, type ExpectedResponse } from './client-data.js';
import { algorithmLabel, type CoseKey } from './cose-key.js';
import { type Assertion, credentialID } from './credential.js';
import { loadWebauthn } from './library.js';

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
  try {
    const isEligible = await checkAssertion(assertion, known);
    const { verified, authenticationInfo } = await verifySignature(assertion, expected, known!);
    if (!verified) return { verified: false, why: 'invalid signature' };
    const { newCounter: counter, credentialBackedUp: backedUp } = authenticationInfo;
    if (!isCounterIncreased(known!.counter, counter))
      return { verified: false, why: counterNotIncreased };
    if (isEligible !== (known!.deviceType === 'multiDevice'))
      return { verified: false, why: backupEligibilityChanged };
    return { verified: true, counter, backedUp };
  } catch (error) {
    if (!(error instanceof WebAuthnError)) throw error;
    await verifyDummy();
    return { verified: false, why: error.message };
  }
}

/** Returns true if the signature counter increased, or if both are zero (WebAuthn 3 §6.1.1). */
export const isCounterIncreased = (stored: number, received: number): boolean =>
  (stored === 0 && received === 0) || received > stored;

/** The `why` of a backup eligibility that changed; only who has the key learns of it. */
export const backupEligibilityChanged = 'the backup eligibility changed';

/** The `why` of a signature counter that did not increase. */
export const counterNotIncreased = 'the signature counter did not increase';

/**
 * Throws a WebAuthnError for a fault that the library does not check. Returns whether the passkey can
 * be backed up (flag BE).
 */
async function checkAssertion(
  assertion: Assertion,
  known: KnownCredential | undefined,
): Promise<boolean> {
  const { clientDataJSON, authenticatorData, signature, userHandle } = assertion.response;
  credentialID(assertion);
  assert(known !== undefined, 'unknown credential');
  checkClientData(clientDataJSON);
  const bytes = fromBase64url(authenticatorData, 1024);
  assert(bytes !== undefined, 'authenticator data: not base64url');
  const { flags } = await readAuthenticatorData(bytes, false);
  await checkSignature(fromBase64url(signature, 1024), known.publicKey);
  assert(
    typeof userHandle === 'string' && isSameText(userHandle, known.userHandle),
    'user handle: missing or of another account',
  );
  return flags.be;
}

/**
 * Throws a WebAuthnError unless an ES256 signature is strict DER (WebAuthn 3 §6.5.5). The library
 * also accepts other encodings, but a proof must have a single encoding.
 */
async function checkSignature(bytes: Buffer | undefined, publicKey: string): Promise<void> {
  assert(bytes !== undefined, 'signature: not base64url');
  const { isoCBOR } = await loadWebauthn();
  if (isoCBOR.decodeFirst<CoseKey>(bytesOf(publicKey)).get(algorithmLabel) !== -7) return;
  const [r = 0, s = 0] = [bytes[3], bytes[5 + (bytes[3] ?? 0)]];
  assert(
    bytes[0] === 0x30 &&
      bytes[1] === bytes.length - 2 &&
      6 + r + s === bytes.length &&
      isInteger(bytes, 2) &&
      isInteger(bytes, 4 + r),
    'signature: not DER',
  );
}

/**
 * Returns true if a positive DER integer in its shortest form, of at most 256 bits, begins at
 * `offset`.
 */
function isInteger(bytes: Buffer, at: number): boolean {
  const [tag, length = 0, first = 0, second = 0] = bytes.subarray(at, at + 4);
  return (
    tag === 2 &&
    length >= 1 &&
    length <= 33 &&
    first < 128 &&
    (first !== 0 || length === 1 || second >= 128)
  );
}

const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(text, 'base64url'));

const isSameText = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

/** Verifies an assertion with the library. The signature counter is compared afterwards. */
async function verifySignature(
  { id, response }: Pick<Assertion, 'id' | 'response'>,
  { challenge, origin, rpID }: ExpectedResponse,
  { publicKey }: Pick<KnownCredential, 'publicKey'>,
): Promise<VerifiedAuthenticationResponse> {
  const { verifyAuthenticationResponse } = await loadWebauthn();
  const { clientDataJSON, authenticatorData, signature } = response;
  try {
    return await verifyAuthenticationResponse({
      response: {
        id,
        rawId: id,
        type: 'public-key',
        response: { clientDataJSON, authenticatorData, signature },
        clientExtensionResults: {},
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpID,
      expectedType: 'webauthn.get',
      requireUserVerification: true,
      credential: { id, publicKey: bytesOf(publicKey), counter: 0 },
    });
  } catch {
    throw new WebAuthnError('refused by the library');
  }
}

/**
 * The base point of P-256 (SEC 2 §2.4.2); its coordinates serve as the key and the signature of the
 * dummy.
 */
const [x, y] = [
  '6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296',
  '4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5',
];

const encoded = (bytes: string, encoding: 'hex' | 'utf8' = 'hex'): string =>
  Buffer.from(bytes, encoding).toString('base64url');

/** An assertion that is valid except for its signature. */
const dummy = {
  expected: { challenge: 'unknown', origin: 'https://unknown.invalid', rpID: 'unknown.invalid' },
  known: { publicKey: encoded(`a5010203262001215820${x}225820${y}`) },
  assertion: {
    id: 'bm9ib2R5',
    response: {
      clientDataJSON: encoded(
        '{"type":"webauthn.get","challenge":"unknown","origin":"https://unknown.invalid"}',
        'utf8',
      ),
      authenticatorData: encoded(
        `${createHash('sha256').update('unknown.invalid').digest('hex')}0500000000`,
      ),
      signature: encoded(`30440220${x}0220${y}`),
    },
  },
};

/** Spends the time of one verification, so that refusals take as long as successes. */
async function verifyDummy(): Promise<void> {
  await verifySignature(dummy.assertion, dummy.expected, dummy.known);
}
