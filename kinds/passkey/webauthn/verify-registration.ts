import { readAuthenticatorData } from './authenticator-data.js';
import { fromBase64url } from './base64url.js';
import { checkClientData, type ExpectedResponse } from './client-data.js';
import { algorithmLabel, algorithms, checkKey, type CoseKey } from './cose-key.js';
import { credentialID, type NewCredential } from './credential.js';
import { WebAuthnError, assert, readable } from './assert.js';
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
 * library, on the same bytes.
 */
export async function verifyRegistration(
  response: NewCredential,
  expected: ExpectedResponse,
): Promise<RegistrationVerdict> {
  try {
    credentialID(response);
    checkClientData(response.response.clientDataJSON);
    await checkAttestation(response.response.attestationObject);
    return { verified: true, registration: await verifyWithLibrary(response, expected) };
  } catch (error) {
    if (!(error instanceof WebAuthnError)) throw error;
    return { verified: false, why: error.message };
  }
}

/**
 * Throws a WebAuthnError if an attestation object is not canonical CBOR, or if its key or statement
 * was not requested.
 */
async function checkAttestation(encoded: string): Promise<void> {
  const { isoCBOR } = await loadWebauthn();
  const bytes = fromBase64url(encoded, 8192);
  assert(bytes !== undefined, 'attestation: not base64url');
  const object = readable(() => {
    const read = isoCBOR.decodeFirst<Map<string, never>>(new Uint8Array(bytes));
    assert(read.size === 3 && bytes.equals(isoCBOR.encode(read)), 'extra bytes or members');
    return read as ReadonlyMap<string, unknown>;
  }, 'attestation: malformed, or extra bytes or members');
  const authData = object.get('authData');
  assert(authData instanceof Uint8Array, 'attestation: no authenticator data');
  const { credentialPublicKey } = await readAuthenticatorData(authData, true);
  const key = isoCBOR.decodeFirst<CoseKey>(credentialPublicKey!);
  checkKey(key);
  checkStatement(object.get('fmt'), object.get('attStmt'), key.get(algorithmLabel));
}

const statementSizes = new Map<unknown, number>([
  ['none', 0],
  ['packed', 2],
]);

/**
 * Accepts no attestation, or self attestation without certificates and with the credential's own
 * algorithm (WebAuthn 3 §8.2, §8.7).
 */
function checkStatement(format: unknown, statement: unknown, algorithm: unknown): void {
  assert(statementSizes.has(format), 'attestation: format was not requested');
  assert(
    statement instanceof Map && statement.size === statementSizes.get(format),
    'attestation: statement does not match its format',
  );
  assert(
    format === 'none' || statement.get('alg') === algorithm,
    'attestation: not a self attestation',
  );
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
