import assert from 'node:assert/strict';
import { checkClientData, type ExpectedResponse } from './client-data.js';
import { algorithms, checkKey } from './cose-key.js';
import type { NewCredential } from './credential.js';
import { loadWebauthn, type WebAuthnLibrary } from './library.js';

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
type RegistrationVerdict =
  | { readonly verified: true; readonly registration: Registration }
  | { readonly verified: false; readonly why: string };

/** Verifies a registration (WebAuthn 3 §7.1) with the library, and what the library does not check. */
export async function verifyRegistration(
  response: NewCredential,
  expected: ExpectedResponse,
): Promise<RegistrationVerdict> {
  const library = await loadWebauthn();
  try {
    checkClientData(library, response.response.clientDataJSON);
    return { verified: true, registration: await verifyWithLibrary(library, response, expected) };
  } catch (error) {
    return { verified: false, why: String(error) };
  }
}

/**
 * Returns the attestation object without an attestation: none was requested, and authenticators and
 * platforms send one all the same (WebAuthn 3 §5.4.7, §7.1).
 */
function withoutAttestation(
  { decodeAttestationObject, isoBase64URL, isoCBOR }: WebAuthnLibrary,
  encoded: string,
): string {
  const object = decodeAttestationObject(isoBase64URL.toBuffer(encoded));
  const plain = new Map<string | number, Parameters<typeof isoCBOR.encode>[0]>([
    ['fmt', 'none'],
    ['attStmt', new Map()],
    ['authData', object.get('authData')],
  ]);
  return isoBase64URL.fromBuffer(isoCBOR.encode(plain));
}

/** Verifies the response with the library and returns the credential. */
async function verifyWithLibrary(
  library: WebAuthnLibrary,
  { id, rawId = id, type = 'public-key', response }: NewCredential,
  { challenge, origin, rpID }: ExpectedResponse,
): Promise<Registration> {
  const { clientDataJSON, attestationObject, transports: reported = [] } = response;
  assert(type === 'public-key', 'credential: type is not public-key');
  const outcome = await library.verifyRegistrationResponse({
    response: {
      id,
      rawId,
      type,
      response: {
        clientDataJSON,
        attestationObject: withoutAttestation(library, attestationObject),
      },
      clientExtensionResults: {},
    },
    expectedChallenge: challenge,
    expectedOrigin: origin,
    expectedRPID: rpID,
    expectedType: 'webauthn.create',
    requireUserPresence: true,
    requireUserVerification: true,
    supportedAlgorithmIDs: [...algorithms],
  });
  assert(outcome.verified, 'invalid attestation');
  const { credential, credentialDeviceType, credentialBackedUp, aaguid } = outcome.registrationInfo;
  const { length } = Buffer.from(id, 'base64url');
  assert(credential.id === id, 'credential: id differs from the attested one');
  assert(length >= 16 && length <= 1023, 'credential: id is too short or too long');
  await checkKey(library, credential.publicKey);
  return {
    id,
    publicKey: Buffer.from(credential.publicKey).toString('base64url'),
    counter: credential.counter,
    aaguid,
    deviceType: credentialDeviceType,
    backedUp: credentialBackedUp,
    transports: transports.filter((transport) => reported.includes(transport)),
  };
}
