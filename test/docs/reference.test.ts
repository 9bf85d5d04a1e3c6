import { expect, test } from '@jest/globals';
import { errors } from 'oidc-provider';
import { read } from './pages.js';

/** Errors of what this service does not offer, and those that only the library's host would see. */
const never = [
  'credential_request_denied',
  'expired_login_hint_token',
  'invalid_authorization_details',
  'invalid_binding_message',
  'invalid_client_attestation',
  'invalid_client_metadata',
  'invalid_credential_request',
  'invalid_nonce',
  'invalid_proof',
  'invalid_request_object',
  'invalid_software_statement',
  'invalid_user_code',
  'missing_user_code',
  'registration_not_supported',
  'transaction_failed',
  'unapproved_software_statement',
  'unknown_credential_configuration',
  'unknown_credential_identifier',
  'unknown_user_id',
  'use_attestation_challenge',
  'use_fresh_attestation',
];

test('the page lists every error that the provider can return, and no other', () => {
  const page = read('docs/reference/errors.md');
  const listed = [...page.slice(page.indexOf('## The provider')).matchAll(/^\| `([a-z_]+)` \|/gm)]
    .map(([, name]) => name!)
    .filter((name) => name !== 'error');
  const known = new Set(
    Object.values(errors as unknown as Record<string, new (text: string) => { error: string }>)
      .map((Kind) => new Kind('x').error)
      .filter((name) => name !== 'x'),
  );
  expect(never.filter((name) => !known.has(name))).toEqual([]);
  expect(listed.sort()).toEqual(
    [...known, 'server_error'].filter((name) => !never.includes(name)).sort(),
  );
});
