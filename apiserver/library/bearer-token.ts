import { timingSafeEqual } from 'node:crypto';
import type { Authenticator } from '../../registry/authenticator.js';
import { unauthorized } from '../../registry/status/status.js';
import { digest } from '../../security/keyring.js';

/** A user that a token stands for, as Kubernetes names users. */
export interface TokenUser {
  readonly user: string;
  readonly groups?: readonly string[] | undefined;
}

/**
 * Returns an authenticator of one static bearer token (RFC 6750 §2.1). Throws an Error for a token
 * of fewer than 16 characters.
 */
export function bearerToken(token: string, { user, groups = [] }: TokenUser): Authenticator {
  if (token.length < 16) throw new Error('a token must have at least 16 characters');
  const expected = Buffer.from(digest(token));
  return ({ request }) => {
    const { authorization } = request.headers;
    if (authorization === undefined) return undefined;
    const [, presented] = /^Bearer +([^ ]+)$/i.exec(authorization) ?? [];
    if (presented === undefined || !timingSafeEqual(Buffer.from(digest(presented)), expected)) {
      throw unauthorized();
    }
    return { type: 'ClusterUser', user, groups: [...groups, 'system:authenticated'] };
  };
}
