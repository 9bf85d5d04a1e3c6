import type { Call } from '../registry/kind.js';
import { forbidden, type Named } from '../registry/status.js';

/** How long ago somebody may have signed in who changes how they sign in, in seconds (`api.md` 10). */
const freshFor = 600;

/** 403 with cause ReauthenticationRequired unless the person who asks signed in within ten minutes; a token is no sign-in, and Machines and this service itself have none to renew (`security.md` 1.3, E8). */
export function requireFreshSignIn({ caller, now }: Pick<Call, 'caller' | 'now'>, of: Named, name?: string): void {
  if (caller.type !== 'Account') return;
  if (caller.session !== undefined && caller.authenticated !== undefined && Math.floor(now / 1000) - caller.authenticated <= freshFor) return;
  throw forbidden('sign in again, this may only follow a sign-in of the last ten minutes', of, name, { causes: [{ reason: 'ReauthenticationRequired', message: 'the last sign-in is too old for this change' }] });
}
