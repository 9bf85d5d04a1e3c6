import type { VerifiedAuthenticationResponse } from '@simplewebauthn/server';
import { createHash, timingSafeEqual } from 'node:crypto';
import { readAuthenticatorData } from './authenticator-data.js';
import { fromBase64url } from './base64url.js';
import { checkClientData, type Expected } from './client-data.js';
import { alg, type CoseKey } from './cose-key.js';
import { credentialID, type Assertion } from './credential.js';
import { WebAuthnError, assert } from './assert.js';
import { webauthn } from './library.js';

/** What is known of the credential that an assertion names. */
export interface KnownCredential {
  /** COSE key, base64url. */
  readonly publicKey: string;
  readonly counter: number;
  readonly deviceType: 'singleDevice' | 'multiDevice';
  /** The user handle of the account it belongs to, base64url. */
  readonly userHandle: string;
}

/**
 * What came of an assertion: only one that was verified can be read; `why` is for audits, no one
 * else is told.
 */
export type AssertionVerdict =
  | { readonly verified: true; readonly counter: number; readonly backedUp: boolean }
  | { readonly verified: false; readonly why: string };

/**
 * Verifies an assertion (WebAuthn 3, 7.2): first what the library leaves to us, then by the
 * library; in every case one signature is verified, so that no refusal is told from another by its
 * time.
 */
export async function verifyAssertion(
  assertion: Assertion,
  expected: Expected,
  known: KnownCredential | undefined,
): Promise<AssertionVerdict> {
  try {
    await check(assertion, known);
    const { verified, authenticationInfo } = await verifySignature(assertion, expected, known!);
    if (!verified) return { verified: false, why: 'the signature is not good' };
    const { newCounter: counter, credentialBackedUp: backedUp } = authenticationInfo;
    if (!movesOn(known!.counter, counter)) return { verified: false, why: counterWentBack };
    return { verified: true, counter, backedUp };
  } catch (error) {
    if (!(error instanceof WebAuthnError)) throw error;
    await sameWork();
    return { verified: false, why: error.message };
  }
}

/**
 * Whether a counter has moved on as it must: not at all where both are zero (WebAuthn 3, 6.1.1).
 */
export const movesOn = (stored: number, received: number): boolean =>
  (stored === 0 && received === 0) || received > stored;

/** What a counter that went back is called. */
export const counterWentBack = 'the counter went back';

/** Throws a WebAuthnError where something does not hold that the library does not look at. */
async function check(assertion: Assertion, known: KnownCredential | undefined): Promise<void> {
  const { clientDataJSON, authenticatorData, signature, userHandle } = assertion.response;
  credentialID(assertion);
  assert(known !== undefined, 'no one has this credential');
  checkClientData(clientDataJSON);
  const bytes = fromBase64url(authenticatorData, 1024);
  assert(bytes !== undefined, 'authenticator data: not base64url');
  const { flags } = await readAuthenticatorData(bytes, false);
  await checkSignature(fromBase64url(signature, 1024), known.publicKey);
  assert(
    typeof userHandle === 'string' && same(userHandle, known.userHandle),
    'user handle: of no one or of another',
  );
  assert(
    flags.be === (known.deviceType === 'multiDevice'),
    'authenticator data: backup eligibility changed',
  );
}

/**
 * Throws a WebAuthnError unless a signature of ES256 has the one DER form that it has (WebAuthn 3,
 * 6.5.5): the library reads others too, and a proof must not come in two forms.
 */
async function checkSignature(bytes: Buffer | undefined, publicKey: string): Promise<void> {
  assert(bytes !== undefined, 'signature: not base64url');
  const { isoCBOR } = await webauthn();
  if (isoCBOR.decodeFirst<CoseKey>(bytesOf(publicKey)).get(alg) !== -7) return;
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

/** Whether a positive DER integer in its shortest form, of 256 bits at most, stands there. */
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

const same = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

/** What the library says of an assertion; counters are compared once it has said so. */
async function verifySignature(
  { id, response }: Pick<Assertion, 'id' | 'response'>,
  { challenge, origin, rpID }: Expected,
  { publicKey }: Pick<KnownCredential, 'publicKey'>,
): Promise<VerifiedAuthenticationResponse> {
  const { verifyAuthenticationResponse } = await webauthn();
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
    throw new WebAuthnError('the library refuses it');
  }
}

/** The base point of P-256 (SEC 2 §2.4.2), whose numbers do for a key and for a signature. */
const [x, y] = [
  '6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296',
  '4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5',
];

const encoded = (bytes: string, encoding: 'hex' | 'utf8' = 'hex'): string =>
  Buffer.from(bytes, encoding).toString('base64url');

/** An assertion of no one's: the library refuses nothing of it but its signature. */
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

/** Does the library's work on an assertion that could be good, for nothing. */
async function sameWork(): Promise<void> {
  await verifySignature(dummy.assertion, dummy.expected, dummy.known);
}
