import { createPublicKey } from 'node:crypto';
import type { CBOR, CBORMap } from './cbor.js';
import { WebAuthnError, assert } from './assert.js';

/**
 * The signature algorithms that are offered and taken, in order: EdDSA, ES256, RS256 (RFC 9053
 * §2, RFC 8812 §2).
 */
export const algorithms = [-8, -7, -257] as const;
export type Algorithm = (typeof algorithms)[number];

const [kty, alg] = [1, 3];

/**
 * The algorithm of a COSE key (RFC 9053) that has exactly the members of its type, and is a point
 * of its curve or an RSA key of 2,048 to 4,096 bits; else a Fault.
 */
export function algorithmOf(key: CBORMap): Algorithm {
  const algorithm = key.get(alg);
  const judge = judges.get(algorithm as Algorithm);
  assert(judge !== undefined, 'key: an algorithm that was not offered');
  judge(key);
  return algorithm as Algorithm;
}

const judges = new Map<Algorithm, (key: CBORMap) => void>([
  [-7, judgeP256],
  [-8, judgeEd25519],
  [-257, judgeRSA],
]);

/** The members with fixed values and those of bytes, and no other. */
function members(
  key: CBORMap,
  fixed: Readonly<Record<number, number>>,
  bytes: readonly number[],
): Uint8Array[] {
  const expected = Object.entries(fixed);
  assert(key.size === expected.length + bytes.length, 'key: members missing or to spare');
  for (const [label, value] of expected)
    assert(key.get(Number(label)) === value, 'key: of another type than its algorithm');
  return bytes.map((label) => bytesOf(key.get(label)));
}

function bytesOf(value: CBOR | undefined): Uint8Array {
  assert(value instanceof Uint8Array, 'key: a member that is not bytes');
  return value;
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url');

function judgeP256(key: CBORMap): void {
  const [x, y] = members(key, { [kty]: 2, [alg]: -7, [-1]: 1 }, [-2, -3]) as [
    Uint8Array,
    Uint8Array,
  ];
  assert(x.length === 32 && y.length === 32, 'key: coordinates of another length');
  importable({ kty: 'EC', crv: 'P-256', x: text(x), y: text(y) });
}

function judgeEd25519(key: CBORMap): void {
  const [x] = members(key, { [kty]: 1, [alg]: -8, [-1]: 6 }, [-2]) as [Uint8Array];
  assert(x.length === 32 && isOnCurve(x), 'key: no point of its curve');
  importable({ kty: 'OKP', crv: 'Ed25519', x: text(x) });
}

function judgeRSA(key: CBORMap): void {
  const [n, e] = members(key, { [kty]: 3, [alg]: -257 }, [-1, -2]) as [Uint8Array, Uint8Array];
  assert(
    n.length >= 256 && n.length <= 512 && n[0]! >= 128 && (n.at(-1)! & 1) === 1,
    'key: a modulus of another size',
  );
  assert(Buffer.from(e).equals(Buffer.from([1, 0, 1])), 'key: another exponent than 65537');
  importable({ kty: 'RSA', n: text(n), e: text(e) });
}

/** OpenSSL refuses a point off its curve. */
function importable(key: Record<string, string>): void {
  try {
    createPublicKey({ key, format: 'jwk' });
  } catch {
    throw new WebAuthnError('key: cannot be imported');
  }
}

const prime = 2n ** 255n - 19n;

function power(base: bigint, exponent: bigint): bigint {
  let [result, square] = [1n, base % prime];
  for (let left = exponent; left > 0n; left >>= 1n) {
    if (left & 1n) result = (result * square) % prime;
    square = (square * square) % prime;
  }
  return result;
}

const d = ((prime - 121665n) * power(121666n, prime - 2n)) % prime;
const eighth = BigInt('0x05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826');

/**
 * The y of points whose order divides eight: what verifies under them says nothing (RFC 8032 5.1;
 * RFC 7748 6).
 */
const small: ReadonlySet<bigint> = new Set([0n, 1n, prime - 1n, eighth, prime - eighth]);

/**
 * Whether 32 bytes are a point of Ed25519, of more than a small order (RFC 8032 5.1.3); OpenSSL
 * does not look.
 */
function isOnCurve(bytes: Uint8Array): boolean {
  const y = BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`) & (2n ** 255n - 1n);
  if (y >= prime || small.has(y)) return false;
  const square = (y * y) % prime;
  const x = ((square + prime - 1n) * power(d * square + 1n, prime - 2n)) % prime;
  return power(x, (prime - 1n) / 2n) === 1n;
}
