import { isIP } from 'node:net';

/**
 * Returns true if the host can be a relying party ID: a domain, not an IP address (WebAuthn 3
 * §5.1.3).
 */
export const canBeRelyingPartyId = (host: string): boolean =>
  isIP(host.replace(/^\[|\]$/g, '')) === 0;
