import type { IncomingMessage } from 'node:http';

/** The provider's endpoints (docs/design/provider.md#endpoints). */
export const routes = {
  authorization: '/oauth2/auth',
  token: '/oauth2/token',
  userinfo: '/oauth2/userinfo',
  jwks: '/oauth2/jwks',
  revocation: '/oauth2/revoke',
  introspection: '/oauth2/introspect',
  pushed_authorization_request: '/oauth2/par',
  device_authorization: '/oauth2/device/auth',
  code_verification: '/oauth2/device',
  end_session: '/oauth2/logout',
};

/** Returns the path of a request, without its query. */
export function pathOf({ url = '' }: Pick<IncomingMessage, 'url'>): string {
  const end = url.indexOf('?');
  return end < 0 ? url : url.slice(0, end);
}

/** Returns the query of an address, without its question mark. */
export const queryOf = (url = ''): string => url.slice(pathOf({ url }).length + 1);
