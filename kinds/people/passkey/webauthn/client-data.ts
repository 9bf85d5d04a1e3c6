import { parseJSON } from '../../../../registry/schema/strict-json.js';
import { assert, readable } from './assert.js';
import { fromBase64url } from './base64url.js';

/** The values that a WebAuthn response must match. */
export interface ExpectedResponse {
  /** The exact challenge, base64url. */
  readonly challenge: string;
  /** The origin of this service. */
  readonly origin: string;
  readonly rpID: string;
}

/**
 * Throws a WebAuthnError if client data is ambiguous or comes from a cross-origin frame (WebAuthn 3
 * §7.1 steps 9 and 10). The library compares type, challenge and origin.
 */
export function checkClientData(encoded: string): void {
  const bytes = fromBase64url(encoded, 4096);
  assert(bytes !== undefined, 'client data: not base64url');
  const data = readable(() => parseJSON(bytes), 'client data: not JSON, or a duplicate member');
  assert(typeof data === 'object' && data !== null, 'client data: not an object');
  const { crossOrigin, topOrigin } = data as Record<string, unknown>;
  assert(
    (crossOrigin === undefined || crossOrigin === false) && topOrigin === undefined,
    'client data: cross-origin',
  );
}
