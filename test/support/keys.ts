import { randomBytes } from 'node:crypto';
import { type KeysFile, newKeys } from '../../security/keyring.js';

const secret = (): string => randomBytes(32).toString('base64url');
let signing: KeysFile['signing'] | undefined;

/**
 * Keys with secrets of their own, and the signing keys of this run (measure-machine.mjs): to make
 * an RSA key takes longer than a start.
 */
export function testKeys(): KeysFile {
  signing ??= process.env.VESTIBULE_TEST_SIGNING_KEYS
    ? JSON.parse(process.env.VESTIBULE_TEST_SIGNING_KEYS)
    : newKeys().signing;
  return {
    cookies: [secret()],
    sealing: [secret()],
    hmac: [secret()],
    pairwise: secret(),
    dpopNonce: secret(),
    signing: signing!,
  };
}
