import type { KoaContext, Client, OIDCContext, Session, Token } from 'oidc-provider';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;
const seconds = (): number => Math.floor(Date.now() / 1000);
const atLeastOne = (value: number): number => Math.max(1, Math.floor(value));

/** Two weeks from the last authorization, three months from the sign-in at most; an hour for a session of nobody. */
function sessionLife(_ctx: unknown, session: Session): number {
  if (!session.accountId) return hour;
  return atLeastOne(Math.min(14 * day, (session.loginTs ?? 0) + 90 * day - seconds()));
}

/** Two weeks at each rotation, a year from the first; where a browser alone holds it unbound, it keeps its first end. */
function refreshLife(ctx: (KoaContext & { oidc: OIDCContext }) | undefined, token: Token, client: Client): number {
  const rotated = ctx?.oidc.entities.RotatedRefreshToken;
  const exposed = client.applicationType === 'web' && client.clientAuthMethod === 'none' && !token.isSenderConstrained();
  const life = rotated && exposed ? rotated.remainingTTL : 14 * day;
  return atLeastOne(Math.min(life, (token.iiat ?? seconds()) + year - seconds()));
}

/** A copy of a remembered decision: as long as its tokens can live. */
function grantLife(_ctx: unknown, grant: { getOIDCScope(): string }): number {
  return grant.getOIDCScope().split(' ').includes('offline_access') ? year : 91 * day;
}

/** How long what the library issues lives, in seconds; plain functions, since it refuses async ones (`provider.md` 10, 12). */
export const lifetimes = {
  AccessToken: hour, AuthorizationCode: minute, DeviceCode: 10 * minute, IdToken: hour,
  Interaction: 2 * hour, RefreshToken: refreshLife, Session: sessionLife, Grant: grantLife,
  ClientCredentials: 10 * minute, BackchannelAuthenticationRequest: 10 * minute, PreAuthorizedCode: 10 * minute,
};
