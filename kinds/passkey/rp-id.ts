import { isIP } from 'node:net';

/**
 * Whether passkeys can belong to a host: browsers take domains alone, never an address of numbers
 * (WebAuthn 3, 5.1.3).
 */
export const takesPasskeys = (host: string): boolean => isIP(host.replace(/^\[|\]$/g, '')) === 0;
