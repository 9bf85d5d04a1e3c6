import { readAuthenticatorData } from './authenticator-data.js';
import { fromBase64url } from './base64url.js';
import { checkClientData, type Expected } from './client-data.js';
import { alg, algorithms, checkKey, type CoseKey } from './cose-key.js';
import { credentialID, type NewCredential } from './credential.js';
import { WebAuthnError, assert, readable } from './assert.js';
import { webauthn } from './library.js';

/** How an authenticator can be reached (WebAuthn 3, 5.8.4, and the older cable). */
export const transports = [
  'ble',
  'cable',
  'hybrid',
  'internal',
  'nfc',
  'smart-card',
  'usb',
] as const;
type Transport = (typeof transports)[number];

/** A credential that was made for us. */
export interface Registration {
  readonly id: string;
  /** COSE key, base64url. */
  readonly publicKey: string;
  readonly counter: number;
  readonly aaguid: string;
  readonly deviceType: 'singleDevice' | 'multiDevice';
  readonly backedUp: boolean;
  readonly transports: Transport[];
}

/**
 * What came of a registration: only one that was verified can be read; `why` is for audits, no one
 * else is told.
 */
export type RegistrationVerdict =
  | { readonly verified: true; readonly registration: Registration }
  | { readonly verified: false; readonly why: string };

/**
 * Verifies a registration (WebAuthn 3, 7.1): first what the library leaves to us, then by the
 * library, on the very same bytes.
 */
export async function verifyRegistration(
  answer: NewCredential,
  expected: Expected,
): Promise<RegistrationVerdict> {
  try {
    credentialID(answer);
    checkClientData(answer.response.clientDataJSON);
    await checkAttestation(answer.response.attestationObject);
    return { verified: true, registration: await register(answer, expected) };
  } catch (error) {
    if (!(error instanceof WebAuthnError)) throw error;
    return { verified: false, why: error.message };
  }
}

/**
 * Throws a WebAuthnError where an attestation object is not written as it would be again, or its
 * key or statement is none that was asked for.
 */
async function checkAttestation(encoded: string): Promise<void> {
  const { isoCBOR } = await webauthn();
  const bytes = fromBase64url(encoded, 8192);
  assert(bytes !== undefined, 'attestation: not base64url');
  const object = readable(() => {
    const read = isoCBOR.decodeFirst<Map<string, never>>(new Uint8Array(bytes));
    assert(read.size === 3 && bytes.equals(isoCBOR.encode(read)), 'bytes or members to spare');
    return read as ReadonlyMap<string, unknown>;
  }, 'attestation: cannot be read, or bytes or members to spare');
  const authData = object.get('authData');
  assert(authData instanceof Uint8Array, 'attestation: no authenticator data');
  const { credentialPublicKey } = await readAuthenticatorData(authData, true);
  const key = isoCBOR.decodeFirst<CoseKey>(credentialPublicKey!);
  checkKey(key);
  checkStatement(object.get('fmt'), object.get('attStmt'), key.get(alg));
}

const members = new Map<unknown, number>([
  ['none', 0],
  ['packed', 2],
]);

/**
 * No attestation, or one by the credential itself: without certificates, and by its own algorithm
 * (WebAuthn 3, 8.2, 8.7).
 */
function checkStatement(format: unknown, statement: unknown, algorithm: unknown): void {
  assert(members.has(format), 'attestation: of a format that was not asked for');
  assert(
    statement instanceof Map && statement.size === members.get(format),
    'attestation: another statement than its format has',
  );
  assert(
    format === 'none' || statement.get('alg') === algorithm,
    'attestation: by another than the credential itself',
  );
}

/** The credential as the library reads it, where it verifies the answer. */
async function register(
  { id, response: { clientDataJSON, attestationObject, transports: said = [] } }: NewCredential,
  { challenge, origin, rpID }: Expected,
): Promise<Registration> {
  const { verifyRegistrationResponse } = await webauthn();
  const outcome = await verifyRegistrationResponse({
    response: {
      id,
      rawId: id,
      type: 'public-key',
      response: { clientDataJSON, attestationObject },
      clientExtensionResults: {},
    },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpID,
    expectedType: 'webauthn.create',
    requireUserPresence: true,
    requireUserVerification: true,
    supportedAlgorithmIDs: [...algorithms],
  }).catch(() => {
    throw new WebAuthnError('the library refuses it');
  });
  assert(outcome.verified === true, 'the attestation is not good');
  const { credential, credentialDeviceType, credentialBackedUp, aaguid } = outcome.registrationInfo;
  assert(credential.id === id, 'credential: an id that was not attested');
  return {
    id,
    publicKey: Buffer.from(credential.publicKey).toString('base64url'),
    counter: credential.counter,
    aaguid,
    deviceType: credentialDeviceType,
    backedUp: credentialBackedUp,
    transports: transports.filter((one) => said.includes(one)),
  };
}
