import type { ParsedAuthenticatorData } from '@simplewebauthn/server/helpers';
import { assert, readable } from './assert.js';
import { webauthn } from './library.js';

const mapType = 5;

/**
 * Authenticator data as the library parses it (WebAuthn 3, 6.1), where a credential is in it in the
 * one ceremony that makes one, and its CBOR is whole and stands there as it would be written again;
 * else a WebAuthnError.
 */
export async function readAuthenticatorData(
  bytes: Uint8Array,
  attested: boolean,
): Promise<ParsedAuthenticatorData> {
  const { parseAuthenticatorData } = await webauthn();
  const data = readable(
    () => parseAuthenticatorData(new Uint8Array(bytes)),
    'authenticator data: cannot be read',
  );
  assert(data.flags.at === attested, 'authenticator data: a credential in the wrong ceremony');
  const { credentialPublicKey: key, extensionsDataBuffer: extensions } = data;
  const written = Buffer.concat([key, extensions].filter((part) => part !== undefined));
  assert(
    written.equals(bytes.subarray(bytes.length - written.length)),
    'authenticator data: CBOR that is cut off or not in its shortest form',
  );
  assert(
    extensions === undefined || extensions[0]! >> 5 === mapType,
    'authenticator data: extensions that are no map',
  );
  return data;
}
