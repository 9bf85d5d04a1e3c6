import { assert, readable, WebAuthnError } from './assert.js';
import { readAuthenticatorData } from './authenticator-data.js';
import { fromBase64url } from './base64url.js';
import { checkClientData, type ExpectedResponse } from './client-data.js';
import { algorithms, type CoseKey, checkKey } from './cose-key.js';
import { credentialID, type NewCredential } from './credential.js';
import { loadWebauthn } from './library.js';

/** The authenticator transports (WebAuthn 3 §5.8.4, and the older `cable`). */
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

/** Enough for the chains of certificates of all formats that are registered. */
const maxAttestationBytes = 12_288;

/** A verified new credential. */
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

/** The result of a verification; `why` is for audits only. */
export type RegistrationVerdict =
  | { readonly verified: true; readonly registration: Registration }
  | { readonly verified: false; readonly why: string };

/**
 * Verifies a registration (WebAuthn 3 §7.1): first what the library does not check, then with the
 * library, on the same authenticator data.
 */
export async function verifyRegistration(
  response: NewCredential,
  expected: ExpectedResponse,
): Promise<RegistrationVerdict> {
  try {
    credentialID(response);
    checkClientData(response.response.clientDataJSON);
    const attestationObject = await withoutAttestation(response.response.attestationObject);
    const plain = { ...response, response: { ...response.response, attestationObject } };
    return { verified: true, registration: await verifyWithLibrary(plain, expected) };
  } catch (error) {
    if (!(error instanceof WebAuthnError)) throw error;
    return { verified: false, why: error.message };
  }
}

/**
 * Returns the attestation object without an attestation: none was requested, and authenticators and
 * platforms send one all the same (WebAuthn 3 §5.4.7, §7.1). Throws a WebAuthnError if the object is
 * not canonical CBOR, or for its key.
 */
async function withoutAttestation(encoded: string): Promise<string> {
  const { isoCBOR } = await loadWebauthn();
  const bytes = fromBase64url(encoded, maxAttestationBytes);
  assert(bytes !== undefined, 'attestation: not base64url');
  const object = readable(() => {
    const read = isoCBOR.decodeFirst<Map<string, never>>(new Uint8Array(bytes));
    assert(read.size === 3 && bytes.equals(isoCBOR.encode(read)), 'extra bytes or members');
    return read as ReadonlyMap<string, unknown>;
  }, 'attestation: malformed, or extra bytes or members');
  const authData = object.get('authData');
  assert(authData instanceof Uint8Array, 'attestation: no authenticator data');
  const { credentialPublicKey } = await readAuthenticatorData(authData, true);
  checkKey(isoCBOR.decodeFirst<CoseKey>(credentialPublicKey!));
  const format = object.get('fmt');
  assert(
    typeof format === 'string' && /^[\x21-\x7e]{1,32}$/.test(format),
    'attestation: malformed format',
  );
  assert(object.get('attStmt') instanceof Map, 'attestation: no statement');
  if (format === 'none') return encoded;
  const plain = new Map<string, unknown>([
    ['fmt', 'none'],
    ['attStmt', new Map()],
    ['authData', authData],
  ]);
  return Buffer.from(isoCBOR.encode(plain as never)).toString('base64url');
}

/** Verifies the response with the library and returns the credential. */
async function verifyWithLibrary(
  { id, response: { clientDataJSON, attestationObject, transports: reported = [] } }: NewCredential,
  { challenge, origin, rpID }: ExpectedResponse,
): Promise<Registration> {
  const { verifyRegistrationResponse } = await loadWebauthn();
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
    throw new WebAuthnError('refused by the library');
  });
  assert(outcome.verified === true, 'invalid attestation');
  const { credential, credentialDeviceType, credentialBackedUp, aaguid } = outcome.registrationInfo;
  assert(credential.id === id, 'credential: id differs from the attested one');
  return {
    id,
    publicKey: Buffer.from(credential.publicKey).toString('base64url'),
    counter: credential.counter,
    aaguid,
    deviceType: credentialDeviceType,
    backedUp: credentialBackedUp,
    transports: transports.filter((one) => reported.includes(one)),
  };
}
