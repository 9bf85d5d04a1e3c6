import type { Client, KoaContext, OIDCContext, Session, Token } from 'oidc-provider';
import type { Limits } from '../../registry/limits/limit-settings.js';
import { parseDuration } from '../../registry/schema/units.js';

const hour = 3_600;
const now = (): number => Math.floor(Date.now() / 1000);
const atLeastOne = (value: number): number => Math.max(1, Math.floor(value));

type TokenContext = (KoaContext & { oidc: OIDCContext }) | undefined;

/** Returns a lifetime for a Client in seconds: the Client's own, else `defaultMs`. */
function lifetimeFor(
  client: Client | undefined,
  kind: 'accessToken' | 'idToken' | 'refreshToken',
  defaultMs: number,
): number {
  const clientLifetime = client?.lifetimes?.[kind];
  return (clientLifetime === undefined ? defaultMs : parseDuration(clientLifetime)) / 1000;
}

/**
 * Returns the lifetime of an access token in seconds: that of its Audience, if it has one. A
 * Client's own may only be shorter.
 */
function accessTokenLifetime({ resourceServer }: Token, client: Client, limits: Limits): number {
  const ofAudience = resourceServer?.accessTokenTTL;
  if (ofAudience === undefined) {
    return lifetimeFor(client, 'accessToken', limits.accessTokenLifetime);
  }
  return Math.min(ofAudience, lifetimeFor(client, 'accessToken', ofAudience * 1000));
}

/**
 * Returns the lifetimes of oidc-provider's objects, in seconds. The functions are synchronous,
 * because oidc-provider does not accept async ones.
 */
export function lifetimes(limits: Limits) {
  const seconds = (name: keyof Limits): number => limits[name] / 1000;
  return {
    AccessToken: (_ctx: unknown, token: Token, client: Client) =>
      accessTokenLifetime(token, client, limits),
    /** At most 60 s with FAPI 2.0 (Security Profile §5.3.2.1). */
    AuthorizationCode: (_ctx: unknown, _token: Token, client: Client) =>
      Math.min(seconds('authorizationCodeLifetime'), client.profile === 'FAPI2' ? 60 : Infinity),
    DeviceCode: () => seconds('deviceCodeLifetime'),
    IdToken: (_ctx: unknown, _token: Token, client: Client) =>
      lifetimeFor(client, 'idToken', limits.idTokenLifetime),
    Interaction: () => 2 * seconds('interactionLifetime'),
    ClientCredentials: 600,
    BackchannelAuthenticationRequest: 600,
    PreAuthorizedCode: 600,

    /**
     * The idle lifetime from the last authorization, limited by the total lifetime from the
     * sign-in. A session without an account lives as long as an interaction.
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
     * The lifetime from each rotation, limited by the total lifetime from the first token. An
     * unbound token in a browser keeps its first expiry.
     */
    RefreshToken(ctx: TokenContext, token: Token, client: Client): number {
      const rotated = ctx?.oidc.entities.RotatedRefreshToken;
      const isExposed =
        client.applicationType === 'web' &&
        client.clientAuthMethod === 'none' &&
        !token.isSenderConstrained();
      const lifetime =
        rotated && isExposed
          ? rotated.remainingTTL
          : lifetimeFor(client, 'refreshToken', limits.refreshTokenLifetime);
      return atLeastOne(
        Math.min(lifetime, (token.iiat ?? now()) + seconds('refreshTokenTotalLifetime') - now()),
      );
    },

    /** The longest that a session or a token can need a copy; the store keeps it while one does. */
    Grant(_ctx: unknown, grant: { getOIDCScope(): string }): number {
      const isOffline = grant.getOIDCScope().split(' ').includes('offline_access');
      return isOffline
        ? seconds('refreshTokenTotalLifetime')
        : seconds('sessionLifetime') + 24 * hour;
    },
  };
}
