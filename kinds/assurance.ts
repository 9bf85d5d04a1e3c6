import type { Method } from './session.js';

/** An emailed proof: one weak factor, claimed as nothing more. */
export const emailed = 'urn:vestibule:acr:email';

/** OpenID EAP ACR values: a phishing-resistant authentication. */
export const phishingResistant = 'phr';

/** How a sign-in is told to Clients (RFC 8176; `provider.md` 13). */
export const claimsOf: Readonly<Record<Method, { readonly acr: string; readonly amr: readonly string[] }>> = {
  EmailCode: { acr: emailed, amr: ['otp'] },
  EmailLink: { acr: emailed, amr: ['otp'] },
  Passkey: { acr: phishingResistant, amr: ['pop', 'user', 'mfa'] },
};
