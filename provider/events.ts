import type { Provider } from 'oidc-provider';
import type { Foundation } from './foundation.js';

const counted = [
  'interaction.started', 'interaction.ended', 'authorization.success', 'authorization.error', 'grant.success', 'grant.error', 'grant.revoked',
  'session.saved', 'session.destroyed', 'authorization_code.consumed', 'refresh_token.consumed', 'device_code.consumed', 'pushed_authorization_request.consumed',
  'end_session.success', 'end_session.error', 'introspection.error', 'revocation.error', 'userinfo.error', 'device_authorization.success',
] as const;

interface GrantContext { readonly oidc: { readonly params?: { readonly grant_type?: unknown } } }

/** What the library says of a code or token that was used up before; one whose use is lost to another at the same moment is counted where that is found. */
const used = /already (used|consumed)$/;
const models: Readonly<Record<string, string>> = { authorization_code: 'AuthorizationCode', refresh_token: 'RefreshToken', device_code: 'DeviceCode' };

/** Counts what the library tells; a fault of its own is logged once, by class and message alone. */
export function listen(on: Foundation, provider: Provider): void {
  for (const event of counted) provider.on(event, () => on.count(event));
  provider.on('grant.success', (ctx: GrantContext) => on.count(`token.${grantType(ctx.oidc.params?.grant_type)}`));
  provider.on('grant.error', (ctx: GrantContext, error: { error_detail?: string } | undefined) => {
    if (used.test(error?.error_detail ?? '')) on.count(`reuse.${models[grantType(ctx.oidc.params?.grant_type)] ?? 'Other'}`);
  });
  const fault = (error: unknown, auditID: string): void => {
    on.count('server_error');
    on.log.error({ err: error, auditID }, 'the provider failed');
  };
  provider.on('server_error', (ctx: { response: { get(field: string): string } }, error: unknown) => fault(error, ctx.response.get('Audit-ID')));
  provider.on('error', (error: unknown) => fault(error, ''));
}

/** The grant types there are: whatever else a Client may send is no name for a count. */
const grantTypes: Readonly<Record<string, string>> = { authorization_code: 'authorization_code', refresh_token: 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code': 'device_code' };
const grantType = (sent: unknown): string => (typeof sent === 'string' && Object.hasOwn(grantTypes, sent) ? grantTypes[sent]! : 'other');
