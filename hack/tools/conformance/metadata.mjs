/** The members of discovery that the suite's configuration of a plan calls the same. */
const members = [
  'issuer',
  'authorization_endpoint',
  'token_endpoint',
  'jwks_uri',
  'userinfo_endpoint',
  'pushed_authorization_request_endpoint',
  'introspection_endpoint',
  'revocation_endpoint',
  'end_session_endpoint',
];

/** Returns the variant of a plan without discovery; the same if the plan cannot do without. */
export const staticVariant = (variant) =>
  variant.server_metadata === 'discovery' ? { ...variant, server_metadata: 'static' } : variant;

/** Returns what the suite is configured with instead of the address of discovery. */
export const staticServer = (document) =>
  Object.fromEntries(
    members.filter((name) => document[name] !== undefined).map((name) => [name, document[name]]),
  );
