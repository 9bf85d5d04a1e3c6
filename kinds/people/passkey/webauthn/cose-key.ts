import { createPublicKey } from 'node:crypto';
import { assert, readable } from './assert.js';

/**
 * The signature algorithms that are offered and accepted, in order of preference: EdDSA, ES256,
 * RS256 (RFC 9053 §2, RFC 8812 §2).
 */
export const algorithms = [-8, -7, -257] as const;

/** A COSE key: its members by their labels (RFC 9053 §7). */
export type CoseKey = ReadonlyMap<number, unknown>;

/** The label of a key's algorithm. */
export const algorithmLabel = 3;

/**
 * The members of a key of one algorithm, besides the algorithm: fixed labels, JWK members, and the
 * JWK names of byte strings.
 */
interface KeyFormat {
  readonly fixed: Readonly<Record<number, number>>;
  readonly jwk: Readonly<Record<string, string>>;
  readonly bytes: Readonly<Record<string, number>>;
}

const keyFormats = new Map<unknown, KeyFormat>([
  [-7, { fixed: { 1: 2, [-1]: 1 }, jwk: { kty: 'EC', crv: 'P-256' }, bytes: { x: -2, y: -3 } }],
  [-8, { fixed: { 1: 1, [-1]: 6 }, jwk: { kty: 'OKP', crv: 'Ed25519' }, bytes: { x: -2 } }],
  [-257, { fixed: { 1: 3 }, jwk: { kty: 'RSA' }, bytes: { n: -1, e: -2 } }],
]);

/**
 * Throws a WebAuthnError unless a COSE key has an offered algorithm and exactly the members of its
 * type, and is a point on its curve or an RSA key of 2,048 to 4,096 bits.
 */
export function checkKey(key: CoseKey): void {
  assert(key instanceof Map, 'key: not a map');
  const form = keyFormats.get(key.get(algorithmLabel));
  assert(form !== undefined, 'key: algorithm was not offered');
  const [fixed, bytes] = [Object.entries(form.fixed), Object.entries(form.bytes)];
  assert(
    key.size === 1 + fixed.length + bytes.length &&
      fixed.every(([label, value]) => key.get(Number(label)) === value),
    'key: wrong members for its algorithm',
  );
  const members = Object.fromEntries(
    bytes.map(([name, label]) => [name, base64urlOf(key.get(label))]),
  );
  const imported = readable(
    () => createPublicKey({ key: { ...form.jwk, ...members }, format: 'jwk' }),
    'key: cannot be imported',
  );
  const exported: Readonly<Record<string, unknown>> = imported.export({ format: 'jwk' });
  assert(
    Object.entries(members).every(([name, value]) => exported[name] === value),
    'key: member of the wrong length',
  );
  const { modulusLength = 2048, publicExponent = 65_537n } = imported.asymmetricKeyDetails!;
  assert(
    modulusLength >= 2048 && modulusLength <= 4096 && publicExponent === 65_537n,
    'key: modulus size or exponent not accepted',
  );
  if (form.jwk.crv === 'Ed25519')
    assert(isLargeOrderPoint(key.get(-2) as Uint8Array), 'key: not a point on its curve');
}

function base64urlOf(value: unknown): string {
  assert(value instanceof Uint8Array, 'key: member is not a byte string');
  return Buffer.from(value).toString('base64url');
}

const prime = 2n ** 255n - 19n;
const d = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;

/**
 * Returns true if the 32 bytes are a point of Ed25519 whose order does not divide eight (RFC 8032
 * §5.1.3). OpenSSL does not check the order; under a point of small order, one signature verifies
 * for many messages.
 */
function isLargeOrderPoint(bytes: Uint8Array): boolean {
  const y = BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`) & (2n ** 255n - 1n);
  if (y >= prime || y === 0n) return false; // y = 0: order four
  const square = (y * y) % prime;
  const [u, v] = [square - 1n, d * square + 1n]; // x² = u / v
  if ((u + square * v) % prime === 0n) return false; // x² = −y²: order eight
  return modularPower((u * v) % prime, (prime - 1n) / 2n) === 1n; // y = ±1, where u = 0, included
}

function modularPower(base: bigint, exponent: bigint): bigint {
  let [result, square] = [1n, base];
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % prime;
    square = (square * square) % prime;
  }
  return result;
}
