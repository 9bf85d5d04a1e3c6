import type { Provider } from 'oidc-provider';
import type { Foundation } from './foundation.js';

const counted = [
  'interaction.started', 'interaction.ended', 'authorization.success', 'authorization.error', 'grant.success', 'grant.error', 'grant.revoked',
  'session.saved', 'session.destroyed', 'authorization_code.consumed', 'refresh_token.consumed', 'device_code.consumed', 'pushed_authorization_request.consumed',
  'end_session.success', 'end_session.error', 'introspection.error', 'revocation.error', 'userinfo.error', 'device_authorization.success',
] as const;

/** Counts what the library tells; a fault of its own is logged once, by class and message alone. */
export function listen(on: Foundation, provider: Provider): void {
  for (const event of counted) provider.on(event, () => on.count(event));
  const fault = (error: unknown, auditID: string): void => {
    on.count('server_error');
    on.log.error({ err: error, auditID }, 'the provider failed');
  };
  provider.on('server_error', (ctx: { response: { get(field: string): string } }, error: unknown) => fault(error, ctx.response.get('Audit-ID')));
  provider.on('error', (error: unknown) => fault(error, ''));
}
