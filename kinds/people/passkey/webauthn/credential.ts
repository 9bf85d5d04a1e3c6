import { z } from 'zod';

const encoded = (member: string) => z.string().max(16_384).describe(`${member}, base64url.`);
const common = {
  id: encoded('The credential id'),
  rawId: encoded('The same as id').optional(),
  type: z.string().max(64).optional().describe('public-key.'),
};

/**
 * The assertion of a sign-in (WebAuthn 3, AuthenticationResponseJSON). Additional members from
 * browsers are ignored.
 */
export const Assertion = z
  .object({
    ...common,
    response: z
      .object({
        clientDataJSON: encoded('Client data'),
        authenticatorData: encoded('Authenticator data'),
        signature: encoded('Signature'),
        userHandle: encoded('User handle').nullable().optional(),
      })
      .passthrough()
      .describe('The authenticator response.'),
  })
  .passthrough();
export type Assertion = z.infer<typeof Assertion>;

/**
 * The response of a registration (WebAuthn 3, RegistrationResponseJSON). Additional members from
 * browsers are ignored.
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
          .describe('The transports of the authenticator.'),
      })
      .passthrough()
      .describe('The authenticator response.'),
  })
  .passthrough();
export type NewCredential = z.infer<typeof NewCredential>;

/** Returns the schema of a registration request. */
export const NewPasskey = (displayName: z.ZodTypeAny) =>
  z.object({
    displayName: displayName.optional().describe('The name of the passkey.'),
    credential: NewCredential.describe('The WebAuthn registration response from the browser.'),
  });
