import type { Client, Provider, Token } from 'oidc-provider';
import { grantedScopesOf } from '../../kinds/audience/grant-audiences.js';
import { accountObject } from '../adapter/accounts.js';
import { audienceOf } from '../adapter/audiences.js';
import type { ProviderServices } from '../context/context.js';
import { currentGrant } from '../interaction/load-grant.js';

/**
 * Returns whether a Confidential Client may introspect a token (RFC 7662): one that was issued to
 * it, or one for an Audience that it introspects. Tokens of accounts that cannot sign in, tokens of
 * Clients that cannot be used any more, and tokens for an Audience that the Client or the person has
 * given up, are inactive for everyone.
 */
export async function mayIntrospect(
  services: ProviderServices,
  provider: Provider,
  client: Client,
  token: Token,
): Promise<boolean> {
  const isOwn = token.clientId === client.clientId;
  if (client.clientAuthMethod === 'none' || !token.accountId) return false;
  if (!(await accountObject(services, token.accountId))) return false;
  if (token.aud === undefined) return isOwn;
  const audience = await audienceOf(services, token.clientId, token.aud);
  if (!audience || !(isOwn || audience.spec.introspectors?.includes(client.clientId))) return false;
  if (!(await provider.Client.find(token.clientId))) return false;
  const grant = await currentGrant(services, token.accountId, token.clientId);
  const agreed = new Set(grant && grantedScopesOf(grant, audience));
  return token.scope?.split(' ').every((scope) => agreed.has(scope)) ?? false;
}
