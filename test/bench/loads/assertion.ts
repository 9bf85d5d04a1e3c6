import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  verify,
} from 'node:crypto';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { MakeLoad } from '../load.js';

/** How many assertions are one operation: a single one is too short to be timed alone. */
export const together = 16;

const [origin, rpID] = ['https://id.example.org', 'id.example.org'];
const sha256 = (bytes: Buffer | string): Buffer => createHash('sha256').update(bytes).digest();

/** Someone's answer, and what the service knows of it. */
function makeProof() {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = publicKey.export({ format: 'jwk' });
  const [x, y] = [jwk.x!, jwk.y!];
  const cose = Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    Buffer.from(x, 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(y, 'base64url'),
  ]);
  const [challenge, id, userHandle] = [32, 32, 64].map((length) =>
    randomBytes(length).toString('base64url'),
  ) as [string, string, string];
  const clientData = Buffer.from(
    JSON.stringify({ type: 'webauthn.get', challenge, origin, crossOrigin: false }),
  );
  const data = Buffer.concat([sha256(rpID), Buffer.from([0x1d, 0, 0, 0, 0])]);
  const signature = sign('sha256', Buffer.concat([data, sha256(clientData)]), privateKey);
  const assertion = (proof: Buffer) => ({
    id,
    response: {
      clientDataJSON: clientData.toString('base64url'),
      authenticatorData: data.toString('base64url'),
      signature: proof.toString('base64url'),
      userHandle,
    },
  });
  return {
    good: assertion(signature),
    forged: assertion(sign('sha256', Buffer.from('something else'), privateKey)),
    expected: { challenge, origin, rpID },
    known: {
      publicKey: cose.toString('base64url'),
      counter: 0,
      deviceType: 'multiDevice',
      userHandle,
    },
    key: createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' }),
  };
}

type Proof = ReturnType<typeof makeProof>;

/**
 * The least there is to do: the client data read, and one signature verified with a key that is
 * ready.
 */
function floor({ good: { response }, expected, key }: Proof): boolean {
  const clientData = Buffer.from(response.clientDataJSON, 'base64url');
  const { type, challenge } = JSON.parse(clientData.toString()) as {
    type: string;
    challenge: string;
  };
  const signed = Buffer.concat([
    Buffer.from(response.authenticatorData, 'base64url'),
    sha256(clientData),
  ]);
  return (
    type === 'webauthn.get' &&
    challenge === expected.challenge &&
    verify('sha256', signed, key, Buffer.from(response.signature, 'base64url'))
  );
}

/** Assertions verified as a login does, or by the least that could do. */
const make: MakeLoad<{ root: string; by: 'service' | 'floor' }> = async ({ root, by }) => {
  const { verifyAssertion } = await import(
    pathToFileURL(join(root, 'dist/kinds/people/passkey/webauthn/verify-assertion.js')).href
  );
  const proofs = Array.from({ length: 256 }, makeProof);
  const service = async ({ good, expected, known }: Proof): Promise<boolean> =>
    (await verifyAssertion(good, expected, known)).verified;
  for (const proof of proofs.slice(0, 16)) {
    if (
      !floor(proof) ||
      !(await service(proof)) ||
      (await verifyAssertion(proof.forged, proof.expected, proof.known)).verified
    ) {
      throw new Error('a true assertion was refused, or a false one was not');
    }
  }
  let at = 0;
  return {
    inFlight: 1,
    async operation() {
      for (let i = 0; i < together; i += 1) {
        const proof = proofs[(at = (at + 1) % proofs.length)]!;
        if (!(by === 'floor' ? floor(proof) : await service(proof))) {
          throw new Error('a true assertion was refused');
        }
      }
      await new Promise(setImmediate);
    },
    close() {},
  };
};
export default make;
