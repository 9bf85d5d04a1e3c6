import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { ExternalSigningKey } from 'oidc-provider';
import { type Keys, thumbprint } from '../../security/keyring.js';

type Jwk = Keys['signing'][number];

const signInThreadPool = promisify(sign);

/**
 * A key that signs ID tokens. ES256 signs synchronously, at half the cost of a thread pool round
 * trip; RS256 takes a millisecond and signs in the thread pool.
 */
class SigningKey extends ExternalSigningKey {
  readonly #private: KeyObject;
  readonly #public: KeyObject;

  constructor(jwk: Jwk) {
    super();
    this.#private = createPrivateKey({ key: jwk as never, format: 'jwk' });
    this.#public = createPublicKey(this.#private);
    this.alg = jwk.alg as string;
    this.kid = thumbprint(jwk);
  }

  override keyObject(): KeyObject {
    return this.#public;
  }

  /** Returns the signature of a JWS (RFC 7518 §3.3, §3.4). */
  override sign(data: Buffer): Buffer | Promise<Buffer> {
    return this.alg === 'ES256'
      ? sign('sha256', data, { key: this.#private, dsaEncoding: 'ieee-p1363' })
      : signInThreadPool('sha256', data, this.#private);
  }
}

/** Returns the signing keys for oidc-provider, each with its own kid. */
export const signingKeys = (keys: Keys): { keys: SigningKey[] } => ({
  keys: keys.signing.map((jwk) => new SigningKey(jwk)),
});

const encodePart = (value: unknown): string =>
  Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns a JWT signed with the first ES256 key; adds `iat`. */
export function signJwt(keys: Keys, claims: Record<string, unknown>, typ = 'JWT'): string {
  const jwk = keys.signing.find((candidate) => candidate.alg === 'ES256')!;
  const data = `${encodePart({ alg: 'ES256', typ, kid: thumbprint(jwk) })}.${encodePart({ iat: Math.floor(Date.now() / 1000), ...claims })}`;
  const key = createPrivateKey({ key: jwk as never, format: 'jwk' });
  return `${data}.${sign('sha256', Buffer.from(data), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}
