import { parseJSON } from '../../../registry/strict-json.js';
import { fromBase64url } from './base64url.js';
import { assert, readable } from './assert.js';

/** What an answer must be to. */
export interface Expected {
  /** The exact challenge, base64url. */
  readonly challenge: string;
  /** Our own origin. */
  readonly origin: string;
  readonly rpID: string;
}

/**
 * Throws a WebAuthnError where client data is ambiguous, or of a page inside another's (WebAuthn 3,
 * 7.1 steps 9 and 10); type, challenge and origin are compared by the library.
 */
export function checkClientData(encoded: string): void {
  const bytes = fromBase64url(encoded, 4096);
  assert(bytes !== undefined, 'client data: not base64url');
  const data = readable(() => parseJSON(bytes), 'client data: not JSON, or a member twice');
  assert(typeof data === 'object' && data !== null, 'client data: not an object');
  const { crossOrigin, topOrigin } = data as Record<string, unknown>;
  assert(
    (crossOrigin === undefined || crossOrigin === false) && topOrigin === undefined,
    'client data: inside another page',
  );
}
