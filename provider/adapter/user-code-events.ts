import type { AdapterPayload, KoaContext, ProviderContext } from 'oidc-provider';
import { recordSignIn, type SignInEvent } from '../../registry/sign-in-event.js';
import { requestState } from '../context/current-request.js';
import { StateKey } from '../context/request-state.js';

/**
 * The code or token that the request presented. The logs need it, because a refusal does not say whose
 * it was.
 */
export const presentedValue = new StateKey<AdapterPayload | undefined>();

/** Returns the stored code or token that the current request presented, or undefined. */
export const presented = (): AdapterPayload | undefined => requestState().get(presentedValue);

const deviceRoutes: ReadonlySet<string> = new Set(['code_verification', 'device_resume']);

/** Returns true for requests of the device flow's pages (RFC 8628 §3.3). */
export const isDeviceRequest = (ctx: KoaContext): ctx is ProviderContext =>
  deviceRoutes.has(ctx.oidc?.route ?? '');

/**
 * The outcome for each of the library's errors about a user code; a form without a code is not an
 * attempt.
 */
const outcomes: Readonly<Record<string, string | undefined>> = {
  NotFoundError: 'Wrong',
  ExpiredError: 'Expired',
  AlreadyUsedError: 'Expired',
  AbortedError: 'Denied',
};

/**
 * Writes the outcome of a user code to the audit log and the log, with the account that is signed
 * in in the browser; never the code.
 */
export function noteUserCode(
  { req, oidc }: Pick<ProviderContext, 'req' | 'oidc'>,
  { outcome, reason }: Pick<SignInEvent, 'outcome' | 'reason'>,
): void {
  const client = oidc.entities.DeviceCode?.clientId ?? presented()?.clientId;
  recordSignIn(req, {
    account: oidc.session?.accountId,
    client,
    method: 'UserCode',
    outcome,
    reason,
  });
}

/**
 * Writes the outcome of a user code that was refused. A request that failed before its code was
 * looked up is not an attempt.
 */
export function noteRefusedUserCode(
  ctx: ProviderContext,
  error: Error & { error?: string; statusCode?: number },
): void {
  if (Object.hasOwn(outcomes, error.name)) {
    return noteUserCode(ctx, { outcome: outcomes[error.name] });
  }
  if (error.statusCode === 429) {
    return noteUserCode(ctx, { outcome: 'Limited', reason: error.error });
  }
  if (!presented()) return;
  const outcome = error.error === undefined ? 'Failed' : 'Refused';
  noteUserCode(ctx, { outcome, reason: error.error ?? 'server_error' });
}
