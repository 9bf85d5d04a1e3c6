const reading = ['GET', 'HEAD'];
const shared = ['GET', 'HEAD', 'OPTIONS'];
const posting = ['POST', 'OPTIONS'];

/**
 * The provider's endpoints with their methods; OPTIONS is for scripts of Clients
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

/** Returns the methods of a provider endpoint; undefined for any other path. */
export const endpointMethods = (path: string): readonly string[] | undefined =>
  endpoints.get(path) ?? (resumed.test(path) ? reading : undefined);

/**
 * Returns the endpoint of a path for the logs. The rest of a path that resumes a sign-in is secret.
 */
export const endpointName = (path: string): string =>
  endpoints.has(path) ? path : `/oauth2/${path.split('/')[2]}/resume`;
