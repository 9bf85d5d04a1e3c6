import { createHash, generateKeyPairSync, sign, timingSafeEqual } from 'node:crypto';
import { readAuthenticatorData } from './authenticator-data.js';
import { fromBase64url } from './base64url.js';
import { readCBORMap } from './cbor.js';
import { judgeClientData, type Expected } from './client-data.js';
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
 * What came of an assertion: only one that was verified can be read; `why` is for audits, nobody
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
    const judged = judge(assertion, expected, known);
    return (await verifySignature(assertion, expected, known!))
      ? { verified: true, ...judged }
      : { verified: false, why: 'the signature is not good' };
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

function judge(
  assertion: Assertion,
  expected: Expected,
  known: KnownCredential | undefined,
): { counter: number; backedUp: boolean } {
  const { clientDataJSON, authenticatorData, signature, userHandle } = assertion.response;
  credentialID(assertion);
  assert(known !== undefined, 'nobody has this credential');
  judgeClientData(clientDataJSON, 'webauthn.get', expected);
  const bytes = fromBase64url(authenticatorData, 1024);
  assert(bytes !== undefined, 'authenticator data: not base64url');
  const { counter, backedUp, backupEligible } = readAuthenticatorData(bytes, expected.rpID, false);
  judgeSignature(fromBase64url(signature, 1024), known.publicKey);
  assert(
    typeof userHandle === 'string' && same(userHandle, known.userHandle),
    'user handle: of nobody or of another',
  );
  assert(
    backupEligible === (known.deviceType === 'multiDevice'),
    'authenticator data: backup eligibility changed',
  );
  assert(movesOn(known.counter, counter), counterWentBack);
  return { counter, backedUp };
}

/**
 * Of ES256 the one DER form a signature has (WebAuthn 3, 6.5.5): the library reads others too, and
 * one proof must not have two faces.
 */
function judgeSignature(bytes: Buffer | undefined, publicKey: string): void {
  assert(bytes !== undefined, 'signature: not base64url');
  if (readCBORMap(Buffer.from(publicKey, 'base64url')).value.get(3) !== -7) return;
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

const same = (a: string, b: string): boolean =>
  a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));

async function verifySignature(
  { id, response }: Assertion,
  { challenge, origin, rpID }: Expected,
  { publicKey, counter }: Pick<KnownCredential, 'publicKey' | 'counter'>,
): Promise<boolean> {
  const { verifyAuthenticationResponse } = await webauthn();
  const { clientDataJSON, authenticatorData, signature } = response;
  try {
    const { verified } = await verifyAuthenticationResponse({
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
      credential: { id, publicKey: new Uint8Array(Buffer.from(publicKey, 'base64url')), counter },
    });
    return verified === true;
  } catch {
    throw new WebAuthnError('the library refuses it');
  }
}

let dummy: { assertion: Assertion; expected: Expected; publicKey: string } | undefined;

/** An assertion of nobody's, good in itself. */
function makeDummy(): NonNullable<typeof dummy> {
  const expected: Expected = {
    challenge: 'nobody',
    origin: 'https://nobody.invalid',
    rpID: 'nobody.invalid',
  };
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x, y } = pair.publicKey.export({ format: 'jwk' }) as { x: string; y: string };
  const key = Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    Buffer.from(x, 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(y, 'base64url'),
  ]);
  const clientData = Buffer.from(
    JSON.stringify({
      type: 'webauthn.get',
      challenge: expected.challenge,
      origin: expected.origin,
      crossOrigin: false,
    }),
  );
  const data = Buffer.concat([
    createHash('sha256').update(expected.rpID).digest(),
    Buffer.from([5, 0, 0, 0, 0]),
  ]);
  const signature = sign(
    'sha256',
    Buffer.concat([data, createHash('sha256').update(clientData).digest()]),
    pair.privateKey,
  );
  return {
    expected,
    publicKey: key.toString('base64url'),
    assertion: {
      id: 'bm9ib2R5',
      response: {
        clientDataJSON: clientData.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: signature.toString('base64url'),
      },
    },
  };
}

/** The library's work on an assertion that could be good, for nothing. */
async function sameWork(): Promise<void> {
  const { assertion, expected, publicKey } = (dummy ??= makeDummy());
  await verifySignature(assertion, expected, { publicKey, counter: 0 });
}
