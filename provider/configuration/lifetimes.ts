import type { KoaContext, Client, OIDCContext, Session, Token } from 'oidc-provider';
import { parseDuration } from '../../registry/units.js';
import type { Limits } from '../../registry/limit-settings.js';

const hour = 3_600;
const now = (): number => Math.floor(Date.now() / 1000);
const atLeastOne = (value: number): number => Math.max(1, Math.floor(value));

type Exchanging = (KoaContext & { oidc: OIDCContext }) | undefined;

/**
 * Returns how long something lives for a Client, in seconds: as it says itself, else as the
 * settings say for all.
 */
function lifetimeFor(
  client: Client | undefined,
  of: 'accessToken' | 'idToken' | 'refreshToken',
  general: number,
): number {
  const own = client?.lifetimes?.[of];
  return (own === undefined ? general : parseDuration(own)) / 1000;
}

/**
 * How long what the library issues lives, in seconds. Plain functions, since the library refuses
 * async ones.
 */
export function lifetimes(limits: Limits) {
  const seconds = (name: keyof Limits): number => limits[name] / 1000;
  return {
    AccessToken: (_ctx: unknown, _token: Token, client: Client) =>
      lifetimeFor(client, 'accessToken', limits.accessTokenLifetime),
    /** Of FAPI 2.0 a minute at most (Security Profile 5.3.2.1). */
    AuthorizationCode: (_ctx: unknown, _token: Token, client: Client) =>
      Math.min(seconds('authorizationCodeLifetime'), client.profile === 'FAPI2' ? 60 : Infinity),
    DeviceCode: seconds('deviceCodeLifetime'),
    IdToken: (_ctx: unknown, _token: Token, client: Client) =>
      lifetimeFor(client, 'idToken', limits.idTokenLifetime),
    Interaction: 2 * seconds('interactionLifetime'),
    ClientCredentials: 600,
    BackchannelAuthenticationRequest: 600,
    PreAuthorizedCode: 600,

    /**
     * From the last authorization, and from the sign-in at most; as long as a sign-in for a session
     * of no one.
     */
    Session(_ctx: unknown, session: Session): number {
      if (!session.accountId) return seconds('interactionLifetime');
      return atLeastOne(
        Math.min(
          seconds('sessionIdleLifetime'),
          (session.loginTs ?? 0) + seconds('sessionLifetime') - now(),
        ),
      );
    },

    /**
     * At each rotation, and from the first at most; where a browser alone holds it unbound, it
     * keeps its first end.
     */
    RefreshToken(ctx: Exchanging, token: Token, client: Client): number {
      const rotated = ctx?.oidc.entities.RotatedRefreshToken;
      const exposed =
        client.applicationType === 'web' &&
        client.clientAuthMethod === 'none' &&
        !token.isSenderConstrained();
      const life =
        rotated && exposed
          ? rotated.remainingTTL
          : lifetimeFor(client, 'refreshToken', limits.refreshTokenLifetime);
      return atLeastOne(
        Math.min(life, (token.iiat ?? now()) + seconds('refreshTokenTotalLifetime') - now()),
      );
    },

    /** A copy of a remembered decision: as long as its tokens can live. */
    Grant(_ctx: unknown, grant: { getOIDCScope(): string }): number {
      const isOffline = grant.getOIDCScope().split(' ').includes('offline_access');
      return isOffline
        ? seconds('refreshTokenTotalLifetime')
        : seconds('sessionLifetime') + 24 * hour;
    },
  };
}
