import { createPrivateKey, sign } from 'node:crypto';
import { thumbprint, type Keys } from '../registry/keys.js';

type Jwk = Record<string, unknown>;

/** The private keys of ID tokens as the library takes them, each with a kid of its own. */
export const signingKeys = (keys: Keys): { keys: Jwk[] } => ({ keys: keys.signing.map((jwk): Jwk => ({ ...jwk, use: 'sig', kid: thumbprint(jwk) })) });

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A JWT by the first ES256 key; `iat` is added, the rest is the caller's. */
export function signJwt(keys: Keys, claims: Record<string, unknown>, typ = 'JWT'): string {
  const jwk = signingKeys(keys).keys.find((candidate) => candidate.alg === 'ES256')!;
  const data = `${part({ alg: 'ES256', typ, kid: jwk.kid })}.${part({ iat: Math.floor(Date.now() / 1000), ...claims })}`;
  const key = createPrivateKey({ key: jwk as never, format: 'jwk' });
  return `${data}.${sign('sha256', Buffer.from(data), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`;
}
