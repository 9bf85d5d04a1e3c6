const found = { server_metadata: 'discovery', client_registration: 'static_client' };
const logout = { response_type: 'code', client_registration: 'static_client' };
const fapi = {
  client_auth_type: 'private_key_jwt',
  sender_constrain: 'dpop',
  openid: 'openid_connect',
  fapi_profile: 'plain_fapi',
  authorization_request_type: 'simple',
};

/**
 * The plans that are run, by the name given to hack/conformance: the suite's plan, its variant, and
 * which Clients it gets.
 */
export const plans = {
  config: {
    title: 'Config',
    plan: 'oidcc-config-certification-test-plan',
    variant: {},
    clients: 'basic',
  },
  basic: {
    title: 'Basic',
    plan: 'oidcc-basic-certification-test-plan',
    variant: found,
    clients: 'basic',
  },
  'form-post': {
    title: 'Form post',
    plan: 'oidcc-formpost-basic-certification-test-plan',
    variant: found,
    clients: 'basic',
  },
  'rp-logout': {
    title: 'RP-initiated logout',
    plan: 'oidcc-rp-initiated-logout-certification-test-plan',
    variant: logout,
    clients: 'basic',
  },
  'backchannel-logout': {
    title: 'Back-channel logout',
    plan: 'oidcc-backchannel-rp-initiated-logout-certification-test-plan',
    variant: logout,
    clients: 'backchannel',
  },
  fapi2: {
    title: 'FAPI 2.0 final',
    plan: 'fapi2-security-profile-final-test-plan',
    variant: fapi,
    clients: 'fapi2',
  },
};
