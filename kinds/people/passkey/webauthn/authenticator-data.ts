import type { ParsedAuthenticatorData } from '@simplewebauthn/server/helpers';
import { assert, readable } from './assert.js';
import { loadWebauthn } from './library.js';

const cborMapType = 5;

/**
 * Returns authenticator data as the library parses it (WebAuthn 3 §6.1). Throws a WebAuthnError
 * unless it holds a credential exactly if `isRegistration`, and its CBOR is complete and canonical.
 */
export async function readAuthenticatorData(
  bytes: Uint8Array,
  isRegistration: boolean,
): Promise<ParsedAuthenticatorData> {
  const { parseAuthenticatorData } = await loadWebauthn();
  const data = readable(
    () => parseAuthenticatorData(new Uint8Array(bytes)),
    'authenticator data: malformed',
  );
  assert(
    data.flags.at === isRegistration,
    'authenticator data: credential data in the wrong ceremony',
  );
  const { credentialPublicKey: key, extensionsDataBuffer: extensions } = data;
  const canonicalCbor = Buffer.concat([key, extensions].filter((part) => part !== undefined));
  assert(
    canonicalCbor.equals(bytes.subarray(bytes.length - canonicalCbor.length)),
    'authenticator data: CBOR is truncated or not canonical',
  );
  assert(
    extensions === undefined || extensions[0]! >> 5 === cborMapType,
    'authenticator data: extensions are not a map',
  );
  return data;
}
