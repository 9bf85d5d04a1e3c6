import { z } from 'zod';
import { fromBase64url } from './base64url.js';
import { assert } from './assert.js';

const encoded = (what: string) => z.string().max(16_384).describe(`${what}, base64url.`);
const common = {
  id: encoded('The credential id'),
  rawId: encoded('The same').optional(),
  type: z.string().max(64).optional().describe('public-key.'),
};

/**
 * A passkey's answer at a sign-in (WebAuthn's AuthenticationResponseJSON); members that browsers
 * add are ignored, never believed.
 */
export const Assertion = z
  .object({
    ...common,
    response: z
      .object({
        clientDataJSON: encoded('Client data'),
        authenticatorData: encoded('Authenticator data'),
        signature: encoded('Signature'),
        userHandle: encoded('Whose it is').nullable().optional(),
      })
      .passthrough()
      .describe('The answer itself.'),
  })
  .passthrough();
export type Assertion = z.infer<typeof Assertion>;

/**
 * A passkey's answer at its registration (WebAuthn's RegistrationResponseJSON); members that
 * browsers add are ignored, never believed.
 */
export const NewCredential = z
  .object({
    ...common,
    response: z
      .object({
        clientDataJSON: encoded('Client data'),
        attestationObject: encoded('Attestation object'),
        transports: z
          .array(z.string().max(64))
          .max(32)
          .optional()
          .describe('How the authenticator can be reached.'),
      })
      .passthrough()
      .describe('The answer itself.'),
  })
  .passthrough();
export type NewCredential = z.infer<typeof NewCredential>;

/** What is sent to register a passkey. */
export const NewPasskey = (displayName: z.ZodTypeAny) =>
  z.object({
    displayName: displayName.optional().describe('The name to give it.'),
    credential: NewCredential.describe('The registration answer of the browser.'),
  });

/**
 * The bytes of a credential id: canonical, 16 to 1,023 of them; what else names the credential
 * agrees with it (docs/design/security.md#passkeys).
 */
export function credentialID({
  id,
  rawId,
  type,
}: Pick<Assertion, 'id' | 'rawId' | 'type'>): Buffer {
  const bytes = fromBase64url(id, 1023);
  assert(bytes !== undefined && bytes.length >= 16, 'credential: an id that cannot be one');
  assert(rawId === undefined || rawId === id, 'credential: two ids');
  assert(type === undefined || type === 'public-key', 'credential: of another type');
  return bytes;
}
