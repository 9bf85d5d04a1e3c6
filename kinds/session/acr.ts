import type { Method } from './session.js';

/** An emailed proof: one weak factor, claimed as nothing more. */
export const emailAcr = 'urn:vestibule:acr:email';

/** OpenID EAP ACR values: a phishing-resistant authentication. */
export const phishingResistant = 'phr';

/** What Clients are told of a sign-in (RFC 8176, OpenID Connect Core 2). */
export interface AuthenticationClaims {
  readonly acr: string;
  readonly amr: readonly string[];
}

const emailClaims: AuthenticationClaims = { acr: emailAcr, amr: ['otp'] };
const passkeyClaims: AuthenticationClaims = { acr: phishingResistant, amr: ['pop', 'user', 'mfa'] };

/**
 * What is claimed of a sign-in: never more than the weakest step that led to the credential. A
 * passkey that does not count in full was added behind an emailed proof, and is as strong as that.
 */
export const authenticationClaims = (
  method: Method,
  isFullStrength = true,
): AuthenticationClaims => (method === 'Passkey' && isFullStrength ? passkeyClaims : emailClaims);
