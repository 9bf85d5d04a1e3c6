const known =
  'A person must look at the error page: it says that the address is not known, and does not redirect.';
const again =
  'A person must look at the page that asks to sign in a second time. The suite checks that there was a second sign-in.';
const noScope = 'The service has no scopes `address` and `phone`, and does not list them.';
const emailInToken =
  'ID tokens have the email by default, because many programs read it only there. With `idTokenClaims: []` in the ' +
  'Client, the module passes.';
const notSignedOut =
  'A person must look at the error page: it says what is wrong, and that there was no sign-out.';
const signedOut =
  'A person must look at the page after the sign-out: it confirms the sign-out, and does not redirect.';

/** Why a module does not pass, in plain words, by its name. */
export const reasons = {
  'oidcc-scope-email': emailInToken,
  'oidcc-alternate-happy-flow': emailInToken,
  'oidcc-scope-address': noScope,
  'oidcc-scope-phone': noScope,
  'oidcc-scope-all': noScope,
  'oidcc-prompt-login': again,
  'oidcc-max-age-1': again,
  'oidcc-ensure-registered-redirect-uri': known,
  'oidcc-ensure-request-object-with-redirect-uri':
    'Request objects are not supported, so the `redirect_uri` outside it applies, which is not registered. ' +
    known,
  'oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported':
    'Request objects are not supported. The service says so with `request_not_supported`, which is allowed.',
  'oidcc-claims-essential':
    'People consent to scopes, so scopes alone decide which claims an app gets. The `claims` parameter can only ask for ' +
    'an `acr`, and discovery says `claims_parameter_supported: false`.',
  'oidcc-rp-initiated-logout-bad-post-logout-redirect-uri': notSignedOut,
  'oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri': notSignedOut,
  'oidcc-rp-initiated-logout-modified-id-token-hint': notSignedOut,
  'oidcc-rp-initiated-logout-bad-id-token-hint': notSignedOut,
  'oidcc-rp-initiated-logout-no-id-token-hint':
    'A person must look at the page: it asks whether to sign out, and does not redirect to the app.',
  'oidcc-rp-initiated-logout-no-params': signedOut,
  'oidcc-rp-initiated-logout-no-post-logout-redirect-uri': signedOut,
  'oidcc-rp-initiated-logout-only-state': signedOut,
  'fapi2-security-profile-final-test-claims-parameter-identity-claims':
    'Discovery says `claims_parameter_supported: false`: scopes alone decide which claims an app gets.',
};
