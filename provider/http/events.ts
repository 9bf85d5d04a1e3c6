import type { IncomingMessage } from 'node:http';
import type { KoaContext, OIDCContext, Provider, ProviderContext } from 'oidc-provider';
import { recordSignIn, type SignInEvent } from '../../registry/sign-in-event.js';
import { deviceGrant } from '../adapter/built-in-clients.js';
import { repeatedAnswer } from '../adapter/refresh-answer.js';
import { isDeviceRequest, noteUserCode, presented } from '../adapter/user-code-events.js';
import { isRouted, type ProviderServices } from '../context/context.js';
import { noteReuse } from '../interaction/policy.js';

const countedEvents = [
  'interaction.started',
  'interaction.ended',
  'authorization.success',
  'authorization.error',
  'grant.success',
  'grant.error',
  'grant.revoked',
  'session.saved',
  'session.destroyed',
  'authorization_code.consumed',
  'refresh_token.consumed',
  'device_code.consumed',
  'pushed_authorization_request.consumed',
  'end_session.success',
  'end_session.error',
  'introspection.error',
  'revocation.error',
  'userinfo.error',
  'device_authorization.success',
] as const;

interface GrantContext {
  readonly req: IncomingMessage;
  readonly oidc: {
    readonly params?: { readonly grant_type?: unknown };
    readonly entities: OIDCContext['entities'];
  };
}

/**
 * The library's error detail for a code or token that was consumed before. A reuse that is detected
 * by a commit conflict is counted there instead.
 */
const consumedDetail = /already (used|consumed)$/;
/** The same, or the error detail of a commit conflict (`revocation.ts`). */
const reusedDetail = /already (used|consumed)$|^used before$/;
const models: Readonly<Record<string, string>> = {
  authorization_code: 'AuthorizationCode',
  refresh_token: 'RefreshToken',
  device_code: 'DeviceCode',
};

/** Counts oidc-provider's events and logs its faults. */
export function registerEventListeners(services: ProviderServices, provider: Provider): void {
  for (const event of countedEvents) provider.on(event, () => services.runtime.count(event));
  provider.on('grant.success', (ctx: GrantContext) => {
    services.runtime.metrics?.tokens.inc({ grant_type: grantType(ctx.oidc.params?.grant_type) });
    noteTokens(ctx, { outcome: 'Issued' });
  });
  provider.on(
    'grant.error',
    (ctx: GrantContext, error: { error?: string; error_detail?: string } | undefined) => {
      if (repeatedAnswer()) return noteTokens(ctx, { outcome: 'Issued' });
      const detail = error?.error_detail ?? '';
      const isReused = reusedDetail.test(detail);
      noteTokens(ctx, { outcome: isReused ? 'Reused' : 'Refused', reason: error?.error });
      const account = accountIn(ctx);
      const client = ctx.oidc.entities.Client?.clientId;
      if (isReused && account && client) noteReuse(services, { account, client });
      if (!consumedDetail.test(detail)) return;
      const kind = models[grantType(ctx.oidc.params?.grant_type)] ?? 'Other';
      services.runtime.metrics?.singleUseRefused.inc({ kind });
    },
  );
  provider.on('interaction.started', (ctx: ProviderContext) => {
    if (ctx.oidc.route === 'code_verification') noteUserCode(ctx, { outcome: 'Confirmed' });
  });
  provider.on('authorization.success', (ctx: ProviderContext) => {
    if (isDeviceRequest(ctx)) noteUserCode(ctx, { outcome: 'Connected' });
  });
  provider.on(
    'authorization.error',
    (ctx: ProviderContext, error: { error?: string } | undefined) => {
      if (isDeviceRequest(ctx)) noteUserCode(ctx, { outcome: 'Failed', reason: error?.error });
    },
  );
  const reportFault = (error: unknown, auditID: string): void => {
    services.runtime.count('server_error');
    services.runtime.metrics?.providerFaults.inc();
    services.runtime.log.error({ err: error, auditID }, 'the provider failed');
  };
  provider.on('server_error', (ctx: KoaContext, error: unknown) => {
    reportFault(error, ctx.response.get('Audit-ID'));
    if (isRouted(ctx) && ctx.oidc.route === 'token') {
      noteTokens(ctx, { outcome: 'Failed', reason: 'server_error' });
    }
    if (isDeviceRequest(ctx) && presented()) {
      noteUserCode(ctx, { outcome: 'Failed', reason: 'server_error' });
    }
  });
  provider.on('error', (error: unknown) => reportFault(error, ''));
}

/**
 * Writes the outcome of a token request to the audit log and the log; the account if the presented
 * code or token identifies it.
 */
function noteTokens(ctx: GrantContext, result: Pick<SignInEvent, 'outcome' | 'reason'>): void {
  const { params, entities } = ctx.oidc;
  const account = accountIn(ctx);
  const method = grantType(params?.grant_type).replace(/^.*:/, '');
  const client = entities.Client?.clientId;
  recordSignIn(ctx.req, { account, client, method, reason: undefined, ...result });
}

/** Returns the account that the presented code or token belongs to. */
function accountIn({ oidc: { entities } }: GrantContext): string | undefined {
  const { AccessToken, RefreshToken, AuthorizationCode, DeviceCode } = entities;
  return (AccessToken ?? RefreshToken ?? AuthorizationCode ?? DeviceCode ?? presented())?.accountId;
}

/**
 * The supported grant types. Others are counted as "other", so that a Client cannot create metric
 * labels.
 */
const grantTypes: ReadonlyMap<unknown, string> = new Map([
  ['authorization_code', 'authorization_code'],
  ['refresh_token', 'refresh_token'],
  [deviceGrant, 'device_code'],
]);
const grantType = (sent: unknown): string => grantTypes.get(sent) ?? 'other';
