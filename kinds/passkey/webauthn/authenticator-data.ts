import { createHash } from 'node:crypto';
import { readCBORMap, type CBORMap } from './cbor.js';
import { assert } from './assert.js';

/** What an authenticator says of itself (WebAuthn 3, 6.1). */
export interface AuthenticatorData {
  readonly counter: number;
  /** The credential may be on several devices. */
  readonly backupEligible: boolean;
  readonly backedUp: boolean;
  /** Of a registration: the credential made. */
  readonly attested?: { readonly aaguid: string; readonly id: Buffer; readonly key: CBORMap };
}

const flag = {
  present: 1,
  verified: 4,
  backupEligible: 8,
  backedUp: 16,
  attested: 64,
  extended: 128,
};

/**
 * Takes authenticator data apart and holds it to what every ceremony needs: our own id, a person
 * present and verified, flags that do not contradict each other, nothing missing and nothing to
 * spare; else a Fault.
 */
export function readAuthenticatorData(
  bytes: Buffer,
  rpID: string,
  attested: boolean,
): AuthenticatorData {
  assert(bytes.length >= 37, 'authenticator data: cut off');
  assert(
    bytes.subarray(0, 32).equals(createHash('sha256').update(rpID).digest()),
    'authenticator data: for another relying party',
  );
  const flags = bytes[32]!;
  const has = (one: number): boolean => (flags & one) !== 0;
  assert(has(flag.present), 'authenticator data: nobody was present');
  assert(has(flag.verified), 'authenticator data: nobody was verified');
  assert(
    has(flag.backupEligible) || !has(flag.backedUp),
    'authenticator data: backed up and not to be backed up',
  );
  assert(has(flag.attested) === attested, 'authenticator data: a credential in the wrong ceremony');
  const credential = attested ? readCredential(bytes) : undefined;
  let end = credential?.end ?? 37;
  if (has(flag.extended)) end = readCBORMap(bytes, end).end;
  assert(end === bytes.length, 'authenticator data: bytes to spare');
  return {
    counter: bytes.readUInt32BE(33),
    backupEligible: has(flag.backupEligible),
    backedUp: has(flag.backedUp),
    ...(credential && { attested: credential }),
  };
}

/** Attested credential data: AAGUID, id and key (WebAuthn 3, 6.5.1). */
function readCredential(
  bytes: Buffer,
): NonNullable<AuthenticatorData['attested']> & { end: number } {
  assert(bytes.length >= 55, 'authenticator data: cut off');
  const length = bytes.readUInt16BE(53);
  assert(bytes.length >= 55 + length, 'authenticator data: cut off');
  const aaguid = bytes
    .toString('hex', 37, 53)
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  const { value: key, end } = readCBORMap(bytes, 55 + length);
  return { aaguid, id: bytes.subarray(55, 55 + length), key, end };
}
