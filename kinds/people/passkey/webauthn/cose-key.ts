import assert from 'node:assert/strict';
import type { WebAuthnLibrary } from './library.js';

/**
 * The signature algorithms that are offered and accepted, in order of preference: EdDSA, ES256,
 * RS256 (RFC 9053 §2, RFC 8812 §2).
 */
export const algorithms = [-8, -7, -257] as const;

/** The labels of a COSE key: its type, algorithm and curve (RFC 9053 §7). */
const [type, algorithm, curve] = [1, 3, -1];

/** The type of key of each algorithm, and its curve: Ed25519, P-256, or none for RSA. */
const keyTypes = new Map<unknown, { readonly type: number; readonly curve?: number }>([
  [-8, { type: 1, curve: 6 }],
  [-7, { type: 2, curve: 1 }],
  [-257, { type: 3 }],
]);

/**
 * A signature that no key made: the base point of P-256 (SEC 2 §2.4.2), whose coordinates serve as
 * the two numbers.
 */
const [x, y] = [
  '6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296',
  '4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5',
];
const signature = bytesOf(`30440220${x}0220${y}`);
const pointKey = bytesOf(`a5010203262001215820${x}225820${y}`);

/**
 * Throws if a COSE key has another type or curve than its algorithm, or cannot verify signatures: a
 * member is missing, or it is no point on its curve.
 */
export async function checkKey(
  { isoCBOR, verifySignature }: WebAuthnLibrary,
  credentialPublicKey: Uint8Array<ArrayBuffer>,
): Promise<void> {
  const key = isoCBOR.decodeFirst<ReadonlyMap<number, unknown>>(credentialPublicKey);
  const expected = keyTypes.get(key.get(algorithm));
  assert(expected !== undefined, 'key: algorithm was not offered');
  assert(key.get(type) === expected.type, 'key: type of another algorithm');
  assert(
    expected.curve === undefined || key.get(curve) === expected.curve,
    'key: curve of another algorithm',
  );
  await verifySignature({ signature, data: new Uint8Array(), credentialPublicKey });
}

/** Spends the time of one verification, so that refusals take as long as successes. */
export async function verifyDummy({ verifySignature }: WebAuthnLibrary): Promise<void> {
  await verifySignature({ signature, data: new Uint8Array(69), credentialPublicKey: pointKey });
}

function bytesOf(hex: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(hex, 'hex'));
}
