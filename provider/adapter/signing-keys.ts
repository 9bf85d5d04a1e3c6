import { createPrivateKey, createPublicKey, sign, type KeyObject } from 'node:crypto';
import { promisify } from 'node:util';
import { ExternalSigningKey } from 'oidc-provider';
import { thumbprint, type Keys } from '../../security/keyring.js';

type Jwk = Keys['signing'][number];

const signBeside = promisify(sign);

/**
 * A key of ID tokens that signs by itself: ES256 at once and at half of what the library's own way
 * to a thread and back costs, RS256, which takes a millisecond, in such a thread.
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

  /** The signature of a JWS (RFC 7518 3.3, 3.4). */
  override sign(data: Buffer): Buffer | Promise<Buffer> {
    return this.alg === 'ES256'
      ? sign('sha256', data, { key: this.#private, dsaEncoding: 'ieee-p1363' })
      : signBeside('sha256', data, this.#private);
  }
}

/** The private keys of ID tokens as the library takes them, each with a kid of its own. */
export const signingKeys = (keys: Keys): { keys: SigningKey[] } => ({
  keys: keys.signing.map((jwk) => new SigningKey(jwk)),
});

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A JWT by the first ES256 key; `iat` is added, the rest is the caller's. */
export function signJwt(keys: Keys, claims: Record<string, unknown>, typ = 'JWT'): string {
  const jwk = keys.signing.find((candidate) => candidate.alg === 'ES256')!;
  const data = `${part({ alg: 'ES256', typ, kid: thumbprint(jwk) })}.${part({ iat: Math.floor(Date.now() / 1000), ...claims })}`;
  const key = createPrivateKey({ key: jwk as never, format: 'jwk' });
  return `${data}.${sign('sha256', Buffer.from(data), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}
