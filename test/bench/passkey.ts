import { createHash, generateKeyPairSync, randomBytes } from 'node:crypto';
import type { Person } from './people.js';

const base64url = (hex: string): Buffer => Buffer.from(hex, 'hex');
const sha256 = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * What an authenticator answers that makes a synced passkey with user verification and attests
 * nothing (WebAuthn 6.5, format "none").
 */
function credential(challenge: string, origin: string, rpID: string): object {
  const id = randomBytes(32);
  const { x, y } = generateKeyPairSync('ec', { namedCurve: 'P-256' }).publicKey.export({
    format: 'jwk',
  });
  const key = Buffer.concat([
    base64url('a5010203262001215820'),
    Buffer.from(x!, 'base64url'),
    base64url('225820'),
    Buffer.from(y!, 'base64url'),
  ]);
  const data = Buffer.concat([
    sha256(rpID),
    base64url('5d00000000'),
    Buffer.alloc(16),
    base64url('0020'),
    id,
    key,
  ]);
  const attestation = Buffer.concat([
    base64url('a363666d74646e6f6e656761747453746d74a068617574684461746158'),
    Buffer.from([data.length]),
    data,
  ]);
  const clientDataJSON = Buffer.from(
    JSON.stringify({ type: 'webauthn.create', challenge, origin, crossOrigin: false }),
  ).toString('base64url');
  return {
    id: id.toString('base64url'),
    rawId: id.toString('base64url'),
    type: 'public-key',
    clientExtensionResults: {},
    authenticatorAttachment: 'platform',
    response: {
      clientDataJSON,
      attestationObject: attestation.toString('base64url'),
      transports: ['internal', 'hybrid'],
    },
  };
}

/** Registers a passkey of someone who is signed in; answers its path. */
export async function passkeyOf({ browser }: Person, origin: string): Promise<string> {
  const {
    status: { options },
  } = await browser.post(
    '/api/v1beta1/accounts/~/passkeychallenge',
    { spec: { purpose: 'Register' } },
    201,
  );
  const { metadata } = await browser.post(
    '/api/v1beta1/passkeys',
    {
      spec: {
        displayName: 'A passkey',
        credential: credential(options.challenge, origin, options.rp.id),
      },
    },
    201,
  );
  return `/api/v1beta1/passkeys/${String(metadata.name)}`;
}
