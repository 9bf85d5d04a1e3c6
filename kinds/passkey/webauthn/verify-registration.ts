import { readAuthenticatorData, type AuthenticatorData } from './authenticator-data.js';
import { fromBase64url } from './base64url.js';
import { readCBORMap, type CBORMap } from './cbor.js';
import { judgeClientData, type Expected } from './client-data.js';
import { algorithmOf, algorithms } from './cose-key.js';
import { credentialID, type NewCredential } from './credential.js';
import { WebAuthnError, assert } from './assert.js';
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
 * What came of a registration: only one that was verified can be read; `why` is for audits, nobody
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
    const data = judge(answer, expected);
    return { verified: true, registration: await confirm(answer, expected, data) };
  } catch (error) {
    if (!(error instanceof WebAuthnError)) throw error;
    return { verified: false, why: error.message };
  }
}

function judge(answer: NewCredential, expected: Expected): AuthenticatorData {
  const id = credentialID(answer);
  judgeClientData(answer.response.clientDataJSON, 'webauthn.create', expected);
  const bytes = fromBase64url(answer.response.attestationObject, 8192);
  assert(bytes !== undefined, 'attestation: not base64url');
  const { value: object, end } = readCBORMap(bytes);
  assert(end === bytes.length && object.size === 3, 'attestation: bytes or members to spare');
  const authData = object.get('authData');
  assert(authData instanceof Uint8Array, 'attestation: no authenticator data');
  const data = readAuthenticatorData(Buffer.from(authData), expected.rpID, true);
  assert(data.attested!.id.equals(id), 'credential: an id that was not attested');
  judgeStatement(object, algorithmOf(data.attested!.key));
  return data;
}

/**
 * No attestation, or one by the credential itself: without certificates, and by its own algorithm
 * (WebAuthn 3, 8.2, 8.7).
 */
function judgeStatement(object: CBORMap, algorithm: number): void {
  const [format, statement] = [object.get('fmt'), object.get('attStmt')];
  assert(statement instanceof Map, 'attestation: no statement');
  if (format === 'none') return assert(statement.size === 0, 'attestation: none with a statement');
  assert(format === 'packed', 'attestation: of a format that was not asked for');
  assert(
    statement.size === 2 &&
      statement.get('alg') === algorithm &&
      statement.get('sig') instanceof Uint8Array,
    'attestation: by another than the credential itself',
  );
}

async function confirm(
  { id, response: { clientDataJSON, attestationObject, transports: said = [] } }: NewCredential,
  { challenge, origin, rpID }: Expected,
  data: AuthenticatorData,
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
  assert(
    credential.id === id && credential.counter === data.counter && aaguid === data.attested!.aaguid,
    'the library read it otherwise',
  );
  assert(
    credentialBackedUp === data.backedUp &&
      (credentialDeviceType === 'multiDevice') === data.backupEligible,
    'the library read it otherwise',
  );
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
