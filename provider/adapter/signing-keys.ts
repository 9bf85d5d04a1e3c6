import { type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { ExternalSigningKey } from 'oidc-provider';
import type { Keys, SigningKey } from '../../security/keyring.js';

const signInThreadPool = promisify(sign);

/** Returns the signature of a JWS with ES256 (RFC 7518 §3.4). */
const signES256 = (data: Buffer, key: KeyObject): Buffer =>
  sign('sha256', data, { key, dsaEncoding: 'ieee-p1363' });

/**
 * A key that signs ID tokens. ES256 signs synchronously, at half the cost of a thread pool round
 * trip; RS256 takes a millisecond and signs in the thread pool.
 */
class TokenSigningKey extends ExternalSigningKey {
  readonly #key: SigningKey;

  constructor(key: SigningKey) {
    super();
    this.#key = key;
    this.alg = key.alg;
    this.kid = key.kid;
  }

  override keyObject(): KeyObject {
    return this.#key.publicKey;
  }

  /** Returns the signature of a JWS (RFC 7518 §3.3, §3.4). */
  override sign(data: Buffer): Buffer | Promise<Buffer> {
    const { privateKey } = this.#key;
    return this.alg === 'ES256'
      ? signES256(data, privateKey)
      : signInThreadPool('sha256', data, privateKey);
  }
}

/** Returns the signing keys for oidc-provider, each with its own kid. */
export const signingKeys = (keys: Keys): { keys: TokenSigningKey[] } => ({
  keys: keys.signing.map((key) => new TokenSigningKey(key)),
});

const encodePart = (value: unknown): string =>
  Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns a JWT signed with the first ES256 key; adds `iat`. */
export function signJwt(keys: Keys, claims: Record<string, unknown>, typ = 'JWT'): string {
  const key = keys.signing.find(({ alg }) => alg === 'ES256');
  if (!key) throw new Error('the keys have no signing key for ES256');
  const header = encodePart({ alg: key.alg, typ, kid: key.kid });
  const data = `${header}.${encodePart({ iat: Math.floor(Date.now() / 1000), ...claims })}`;
  return `${data}.${signES256(Buffer.from(data), key.privateKey).toString('base64url')}`;
}
