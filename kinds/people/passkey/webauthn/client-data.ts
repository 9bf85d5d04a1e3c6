import assert from 'node:assert/strict';
import type { WebAuthnLibrary } from './library.js';

/** The values that a WebAuthn response must match. */
export interface ExpectedResponse {
  /** The exact challenge, base64url. */
  readonly challenge: string;
  /** The origin of this service. */
  readonly origin: string;
  readonly rpID: string;
}

/**
 * Throws if client data comes from a cross-origin frame (WebAuthn 3 §7.1 steps 9 and 10). The library
 * compares type, challenge and origin.
 */
export function checkClientData(
  { decodeClientDataJSON }: WebAuthnLibrary,
  clientDataJSON: string,
): void {
  const data: { crossOrigin?: unknown; topOrigin?: unknown } = decodeClientDataJSON(clientDataJSON);
  const { crossOrigin = false, topOrigin } = data;
  assert(crossOrigin === false && topOrigin === undefined, 'client data: cross-origin');
}
