import type { Method } from './session.js';

/** The acr of a sign-in by an emailed code or link: a single weak factor. */
export const emailAcr = 'urn:vestibule:acr:email';

/** The acr of a phishing-resistant sign-in (OpenID EAP ACR Values). */
export const phishingResistant = 'phr';

/** The acr and amr claims of a sign-in (RFC 8176, OpenID Connect Core §2). */
export interface AuthenticationClaims {
  readonly acr: string;
  readonly amr: readonly string[];
}

const emailClaims: AuthenticationClaims = { acr: emailAcr, amr: ['otp'] };
const passkeyClaims: AuthenticationClaims = { acr: phishingResistant, amr: ['pop', 'user', 'mfa'] };

/**
 * Returns the acr and amr of a sign-in, which never exceed the weakest step that led to the
 * credential. A passkey below full strength was added after an emailed proof and counts as one.
 */
export const authenticationClaims = (
  method: Method,
  isFullStrength = true,
): AuthenticationClaims => (method === 'Passkey' && isFullStrength ? passkeyClaims : emailClaims);
