const reading = ['GET', 'HEAD'];
const shared = ['GET', 'HEAD', 'OPTIONS'];
const posting = ['POST', 'OPTIONS'];

/**
 * The provider's endpoints and the methods each takes; OPTIONS is there for scripts of Clients
 * (docs/design/provider.md#endpoints).
 */
const endpoints = new Map<string, readonly string[]>([
  ['/.well-known/openid-configuration', shared],
  ['/.well-known/oauth-authorization-server', shared],
  ['/oauth2/auth', ['GET', 'HEAD', 'POST']],
  ['/oauth2/token', posting],
  ['/oauth2/userinfo', ['GET', 'HEAD', 'POST', 'OPTIONS']],
  ['/oauth2/jwks', shared],
  ['/oauth2/revoke', posting],
  ['/oauth2/introspect', posting],
  ['/oauth2/par', posting],
  ['/oauth2/device/auth', posting],
  ['/oauth2/device', ['GET', 'HEAD', 'POST']],
  ['/oauth2/logout', ['GET', 'HEAD', 'POST']],
  ['/oauth2/logout/confirm', ['POST']],
  ['/oauth2/logout/success', reading],
]);

const resumed = /^\/oauth2\/(auth|device)\/[\w-]+$/;

/** The methods that an endpoint of the provider takes; undefined for any other path. */
export const endpointMethods = (path: string): readonly string[] | undefined =>
  endpoints.get(path) ?? (resumed.test(path) ? reading : undefined);

/**
 * What an endpoint is called where the rest of its address must not be told: that of a sign-in to
 * go on with is a secret.
 */
export const endpointName = (path: string): string =>
  endpoints.has(path) ? path : `/oauth2/${path.split('/')[2]}/resume`;
