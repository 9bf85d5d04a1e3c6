import { generateKeyPairSync, type KeyObject } from 'node:crypto';

/** A key with which a Client signs assertions (private_key_jwt). */
export interface AssertionKey {
  readonly privateKey: KeyObject;
  readonly jwk: Record<string, string>;
  /** What the spec of its Client says of how it authenticates. */
  readonly authentication: {
    readonly type: 'Confidential';
    readonly tokenEndpointAuthMethod: 'private_key_jwt';
    readonly jwks: { keys: Record<string, string>[] };
    readonly secretHashes: [];
  };
}

/** Returns a new P-256 key, `one` among those of its Client. */
export function newAssertionKey(): AssertionKey {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = publicKey.export({ format: 'jwk' }) as Record<string, string>;
  return {
    privateKey,
    jwk,
    authentication: {
      type: 'Confidential',
      tokenEndpointAuthMethod: 'private_key_jwt',
      jwks: { keys: [{ ...jwk, alg: 'ES256', kid: 'one' }] },
      secretHashes: [],
    },
  };
}
